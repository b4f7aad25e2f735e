#include "sim/import/nccl_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/base/parse_number.h"
#include "sim/base/utf8.h"
#include "sim/import/xml_file.h"

namespace headway {
namespace {

/// What an attribute may be of a device that exists.
constexpr int kMostLinksOfGpu = 1024;
constexpr std::size_t kMostDevicesOfKind = 1024;  ///< of a node, of each kind
constexpr double kMostMegabits = 1e8;             // 100 Tb/s
/// No port has 10 Tb/s: what says so is in kb/s, as libfabric's plugin writes ports of Slingshot.
constexpr double kLeastKilobits = 1e7;

/// "0x030200" or "030200"; nothing if it is no number.
std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return parse_number<std::uint64_t>(text, 16);
}

/// What a slot carries one way: NCCL counts lanes times the rate of a lane, of which 12 GB/s are
/// left of 16 lanes of 8 GT/s (src/graph/topo.cc); a slot that tells nothing counts as that.
BytesPerSecond slot_bandwidth(const pugi::xml_node& pci) {
  double gigatransfers = pci.attribute("link_speed").as_double(0.0);
  int lanes = pci.attribute("link_width").as_int(0);
  if (!(gigatransfers > 0.0 && gigatransfers <= 1024.0)) gigatransfers = 8.0;
  if (lanes < 1 || lanes > 64) lanes = 16;
  return gigatransfers / 8.0 * lanes / 16.0 * 12_GBps;
}

/// Base class of a PCI device: 0x02 network, 0x03 display, 0x12 accelerator (PCI Code and ID
/// Assignment Specification).
enum class DeviceKind { other, gpu, nic };

DeviceKind kind_of(const pugi::xml_node& pci) {
  // An accelerator within a processor's package (MI300A) need not be of a class of its own.
  if (pci.child("gpu")) return DeviceKind::gpu;
  const auto code = hexadecimal(pci.attribute("class").as_string());
  const std::uint64_t base = code.value_or(0) >> 16;
  if (base == 0x03 || base == 0x12) return DeviceKind::gpu;
  return base == 0x02 ? DeviceKind::nic : DeviceKind::other;
}

class SystemReader {
 public:
  SystemReader(const XmlFile& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  NcclSystem read() {
    read_children(file_.root(), {});
    std::ranges::stable_sort(ordered_, {}, &Numbered::number);
    for (Numbered& gpu : ordered_) system_.gpus.push_back(std::move(gpu.gpu));
    return std::move(system_);
  }

 private:
  struct Numbered {
    int number = 0;  ///< NCCL's
    NcclSystem::Gpu gpu;
  };

  // The depth is bounded by XmlFile.
  void read_children(const pugi::xml_node& parent, const NcclSystem::Place& place) {
    for (const pugi::xml_node& child : parent.children()) {
      const std::string_view name = child.name();
      NcclSystem::Place below = place;
      below.push_back(next_place_++);
      if (name == "cpu") {
        read_children(child, below);
      } else if (name == "nic") {
        read_nic(child, place);
      } else if (name == "pci") {
        read_pci(child, below);
      }
    }
  }

  void read_pci(const pugi::xml_node& pci, const NcclSystem::Place& place) {
    switch (kind_of(pci)) {
      case DeviceKind::gpu:
        return read_gpu(pci, place);
      case DeviceKind::nic:
        return read_nic(pci.child("nic"), place);
      case DeviceKind::other:
        return read_children(pci, place);
    }
  }

  void read_gpu(const pugi::xml_node& pci, const NcclSystem::Place& place) {
    const pugi::xml_node gpu = pci.child("gpu");
    Numbered found{.number = gpu.attribute("dev").as_int(static_cast<int>(ordered_.size()))};
    found.gpu.bus_id = printable(pci.attribute("busid").as_string());
    found.gpu.device = printable(pci.attribute("device").as_string());
    found.gpu.compute_capability = gpu.attribute("sm").as_int(0);
    found.gpu.gcn = printable(gpu.attribute("gcn").as_string());
    found.gpu.nvlinks = links_of(gpu, "nvlink");
    found.gpu.xgmi_links = links_of(gpu, "xgmi");
    found.gpu.pcie = slot_bandwidth(pci);
    found.gpu.place = place;
    ordered_.push_back(std::move(found));
  }

  int links_of(const pugi::xml_node& gpu, const char* element) {
    int links = 0;
    for (const pugi::xml_node& link : gpu.children(element)) {
      const int count = link.attribute("count").as_int(-1);
      if (count < 0 || count > kMostLinksOfGpu) {
        diagnostics_.add(file_.problem(link, fmt::format("a {} has a count of links", element),
                                       R"(as in count="4")"));
        continue;
      }
      links += count;
    }
    system_.links += links;
    return links;
  }

  void read_nic(const pugi::xml_node& nic, const NcclSystem::Place& place) {
    NcclSystem::Nic found{.place = place};
    for (const pugi::xml_node& net : nic.children("net")) {
      double megabits = net.attribute("speed").as_double(0.0);
      if (megabits >= kLeastKilobits) {
        megabits /= 1000.0;
        system_.has_kilobits = true;
      }
      if (!(megabits > 0.0 && megabits <= kMostMegabits)) {
        diagnostics_.add(
            file_.problem(net, "a port has a \"speed\" in Mb/s", R"(as in speed="400000")"));
        continue;
      }
      found.ports.push_back({.name = printable(net.attribute("name").as_string()),
                             .bandwidth = megabits / 1000.0 * 1_Gbps,
                             .guid = hexadecimal(net.attribute("guid").as_string()).value_or(0)});
    }
    system_.nics.push_back(std::move(found));
  }

  const XmlFile& file_;
  Diagnostics& diagnostics_;
  NcclSystem system_;
  std::vector<Numbered> ordered_;
  int next_place_ = 0;
};

std::size_t shared(const NcclSystem::Place& a, const NcclSystem::Place& b) {
  const auto [end_a, end_b] = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(end_a - a.begin());
}

}  // namespace

std::optional<NcclSystem> read_nccl_system(const std::string& path, Diagnostics& diagnostics) {
  Diagnostics problems;
  const auto file = XmlFile::read(path, problems);
  std::optional<NcclSystem> system;
  if (file && std::string_view(file->root().name()) != "system") {
    problems.add(file->problem(file->root(), "the file is no topology of NCCL or RCCL",
                               "its outermost element is <system>"));
  } else if (file) {
    system = SystemReader(*file, problems).read();
    for (const auto& [count, what] : {std::pair{system->gpus.size(), "GPUs"},
                                      std::pair{system->nics.size(), "network cards"}}) {
      if (count <= kMostDevicesOfKind) continue;
      problems.add(
          file->problem(file->root(), fmt::format("the file has {} {}, and a node has at most {}",
                                                  count, what, kMostDevicesOfKind)));
    }
    if (system->gpus.empty()) {
      problems.add(file->problem(file->root(), "nothing in the file says that it is a GPU",
                                 "a GPU is a <pci> of class 0x03 or 0x12"));
    }
  }
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return system;
}

std::vector<int> nearest_nics(const NcclSystem& system) {
  std::vector<int> taken(system.nics.size(), 0);
  std::vector<int> nearest;
  for (const NcclSystem::Gpu& gpu : system.gpus) {
    std::size_t best = 0;
    for (std::size_t nic = 1; nic < system.nics.size(); ++nic) {
      const std::size_t here = shared(gpu.place, system.nics[nic].place);
      const std::size_t there = shared(gpu.place, system.nics[best].place);
      if (here > there || (here == there && taken[nic] < taken[best])) best = nic;
    }
    if (!taken.empty()) ++taken[best];
    nearest.push_back(static_cast<int>(best));
  }
  return nearest;
}

}  // namespace headway
