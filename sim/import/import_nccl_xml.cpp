#include "sim/import/import_nccl_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/costs/accelerators.h"
#include "sim/import/nccl_system.h"
#include "sim/import/node_draft.h"

namespace headway {

Importer import_nccl_xml;

namespace {

/// One link, one way. NVIDIA's data sheets: 300 GB/s both ways over 6 links of V100, 600 over 12 of
/// A100, 900 over 18 of H100, 1,800 over 18 of B200.
BytesPerSecond nvlink_bandwidth(int compute_capability) {
  if (compute_capability >= 100) return 50_GBps;
  return compute_capability >= 70 ? 25_GBps : 20_GBps;
}

/// One link, one way. AMD's data sheets: 92 GB/s both ways of MI60 (gfx906), 100 of MI250X
/// (gfx90a), 128 of MI300X (gfx94x).
BytesPerSecond xgmi_bandwidth(std::string_view gcn) {
  if (gcn.starts_with("gfx94")) return 64_GBps;
  return gcn.starts_with("gfx90a") ? 50_GBps : 46_GBps;
}

/// What the GPU with the fewest links sends; 0 if the file tells of none.
BytesPerSecond scale_up_bandwidth(const NcclSystem& system, NodeDraft& draft) {
  const auto of_links = [](const NcclSystem::Gpu& gpu) {
    return gpu.nvlinks * nvlink_bandwidth(gpu.compute_capability) +
           gpu.xgmi_links * xgmi_bandwidth(gpu.gcn);
  };
  const auto [least, most] = std::ranges::minmax_element(system.gpus, {}, of_links);
  if (system.links == 0) {
    const bool is_dump = std::ranges::any_of(system.gpus, [](const NcclSystem::Gpu& gpu) {
      return gpu.compute_capability > 0 || !gpu.gcn.empty();
    });
    if (!is_dump) return BytesPerSecond(0.0);  // written by hand: links are not its subject
    draft.assume("the accelerators have no links of their own: they talk over PCIe");
    return std::ranges::min_element(system.gpus, {}, &NcclSystem::Gpu::pcie)->pcie;
  }
  if (of_links(*least) != of_links(*most)) {
    draft.assume("accelerators have different numbers of links: the fewest are taken for all");
  }
  return of_links(*least) > BytesPerSecond(0.0) ? of_links(*least) : least->pcie;
}

/// As profiles name the device; empty if none knows it, or devices differ.
std::string accelerator_name(const NcclSystem& system) {
  const std::string& device = system.gpus.front().device;
  const auto known = std::ranges::find_if(accelerators(), [&](const Accelerator& accelerator) {
    return std::ranges::find(accelerator.pci_devices, device) != accelerator.pci_devices.end();
  });
  const bool is_one_kind = std::ranges::all_of(
      system.gpus, [&](const NcclSystem::Gpu& gpu) { return gpu.device == device; });
  return known != accelerators().end() && is_one_kind ? known->name : "";
}

/// Cards become the NICs of the node type, because an accelerator sends by one of them: a card with
/// several ports as one NIC of their sum.
void set_nics(const NcclSystem& system, NodeDraft& draft) {
  draft.nics = static_cast<int>(system.nics.size());
  if (system.nics.empty()) return;
  draft.nearest = nearest_nics(system);
  const auto bandwidth_of = [](const NcclSystem::Nic& nic) {
    BytesPerSecond sum;
    for (const NcclSystem::Port& port : nic.ports) sum += port.bandwidth;
    return sum;
  };
  const auto [least, most] = std::ranges::minmax_element(system.nics, {}, bandwidth_of);
  draft.nic_bandwidth = bandwidth_of(*least);
  if (bandwidth_of(*least) != bandwidth_of(*most)) {
    draft.assume("network cards have different rates: the lowest is taken for all");
  }
  if (std::ranges::any_of(system.nics, [](const auto& nic) { return nic.ports.size() > 1; })) {
    draft.assume("a card with several ports is taken as one of their sum");
  }
}

}  // namespace

nlohmann::json nccl_node_type(const NcclSystem& system, const ImportRequest& request,
                              const std::string& path, Diagnostics& diagnostics) {
  NodeDraft draft(request, diagnostics);
  draft.accelerators = static_cast<int>(system.gpus.size());
  draft.accelerator = accelerator_name(system);
  if (system.has_kilobits) {
    draft.assume("speeds of ports are taken to be in kb/s: in Mb/s no port has them");
  }
  draft.scale_up_bandwidth = scale_up_bandwidth(system, draft);
  set_nics(system, draft);
  return draft.node_type("NCCL topology " + path);
}

/// NCCL_TOPO_DUMP_FILE of NCCL, and RCCL's, to a node type.
std::optional<nlohmann::json> import_nccl_xml(const ImportRequest& request,
                                              Diagnostics& diagnostics) {
  Diagnostics problems;
  nlohmann::json type;
  if (request.paths.size() > 1) {
    Diagnostic problem;
    problem.message = "a node type is made from one file";
    problem.help = "import each file by itself; a topology may have nodes of several types";
    problems.add(std::move(problem));
  } else if (const auto system = read_nccl_system(request.paths.front(), problems)) {
    type = nccl_node_type(*system, request, request.paths.front(), problems);
  }
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return type;
}

}  // namespace headway
