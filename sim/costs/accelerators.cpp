#include "sim/costs/accelerators.h"

#include <algorithm>
#include <set>

#include "sim/base/file_text.h"
#include "sim/costs/read_estimate.h"
#include "sim/files/input_files.h"
#include "sim/files/json_reader.h"

namespace headway {
namespace {

std::vector<std::string> read_texts(ObjectReader& reader, std::string_view key) {
  std::vector<std::string> texts;
  for (const JsonCursor& element : reader.elements(key)) {
    if (const auto text = element.text()) texts.push_back(*text);
  }
  return texts;
}

NcclNodeCosts read_nccl(const JsonCursor& part, BytesPerSecond scale_up, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  static_cast<void>(read_source(reader));
  const auto seconds = [&](const char* key) { return Seconds(reader.number(key, at_least(0.0))); };
  const auto share = [&](const char* key) {
    return reader.number(key, between(0.0, scale_up.count())) / scale_up.count();
  };
  NcclNodeCosts costs{.overhead = seconds("overhead_s"),
                      .step = seconds("step_s"),
                      .simple_overhead = seconds("simple_overhead_s"),
                      .efficiency = share("ring_bytes_per_s")};
  if (reader.has("switch_bytes_per_s")) {
    costs.switch_overhead = seconds("switch_overhead_s");
    costs.switch_efficiency = share("switch_bytes_per_s");
  }
  const auto large = [&](const char* key, double otherwise) {
    return reader.has(key) ? share(key) : otherwise;
  };
  costs.large_efficiency = large("large_ring_bytes_per_s", costs.efficiency);
  costs.large_switch_efficiency = large("large_switch_bytes_per_s", costs.switch_efficiency);
  costs.ring_plateau = reader.number("ring_plateau", at_least(1.0), costs.ring_plateau);
  reader.report_unknown();
  return costs;
}

/// Nothing if the file does not say what the hardware is.
std::optional<Accelerator> read_accelerator(const JsonCursor& root, Diagnostics& diagnostics) {
  const auto hardware = root.member("hardware");
  if (!hardware) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto member = root.member(key);
    return member ? member->text().value_or("") : "";
  };
  ObjectReader reader(*hardware, diagnostics);
  Accelerator accelerator{
      .profile = text("name"),
      .name = text("accelerator"),
      .published_as = read_texts(reader, "published_as"),
      .pci_devices = read_texts(reader, "pci_devices"),
      .scale_up_bandwidth = reader.quantity<BytesPerSecond>("scale_up_bandwidth", positive())};
  reader.report_unknown();
  if (const auto nccl = root.member("nccl")) {
    accelerator.nccl = read_nccl(*nccl, accelerator.scale_up_bandwidth, diagnostics);
  }
  return accelerator;
}

std::vector<Accelerator> read_all() {
  Diagnostics diagnostics;
  std::vector<Accelerator> all;
  std::set<std::string> names;
  for (const std::filesystem::path& data : data_folders()) {
    for (const std::string& folder : profile_folders()) {
      for (const std::string& name : json_files_below(data / folder)) {
        // Deeper ones are another folder's, and a name hides those that come after it.
        if (name.find('/') != std::string::npos || !names.insert(name).second) continue;
        const std::string path = (data / folder / (name + ".json")).lexically_normal().string();
        const auto document = JsonDocument::read(path, diagnostics);
        if (document == nullptr || !JsonCursor(document).is_object()) continue;
        auto accelerator = read_accelerator(JsonCursor(document), diagnostics);
        if (accelerator) all.push_back(std::move(*accelerator));
      }
    }
  }
  diagnostics.throw_if_errors();
  std::ranges::sort(all, {}, &Accelerator::profile);
  return all;
}

}  // namespace

const std::vector<Accelerator>& accelerators() {
  static const std::vector<Accelerator> kAccelerators = read_all();
  return kAccelerators;
}

const std::vector<std::string>& profile_folders() {
  static const std::vector<std::string> kFolders = {"calibrate/profiles",
                                                    "calibrate/profiles/accelerators",
                                                    "calibrate/profiles/measured"};
  return kFolders;
}

}  // namespace headway
