#include "sim/validate/validation_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/costs/read_profile.h"
#include "sim/files/json_reader.h"
#include "sim/files/json_text.h"
#include "sim/jobs/read_strategy.h"
#include "sim/models/read_model.h"
#include "sim/network/read_topology.h"
#include "sim/validate/row_fields.h"
#include "sim/validate/row_parts.h"

namespace headway {
namespace {

/// What of the row we do not cover; empty if all is covered.
std::string uncovered(const PublishedRow& row) {
  for (const auto& reason : {uncovered_model(row), uncovered_strategy(row)}) {
    if (!reason.empty()) return reason;
  }
  if (accelerator_of(row) == nullptr) return "there is no profile of " + row.head.accelerator;
  if (framework_of(row) == nullptr) {
    return "no kernel family stands for framework \"" + row.head.framework + "\"";
  }
  return "";
}

/// Reads what we wrote ourselves; what it still refuses is the row's reason.
template <class Read>
auto read_own(const char* name, const nlohmann::json& json, std::string& reason, Read read) {
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  const nlohmann::json whole = {{name, json}};
  const JsonCursor root(JsonDocument::parse("row", compact_json(whole), diagnostics));
  auto result = read(*root.member(name), files);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::error || !reason.empty()) continue;
    reason = diagnostic.message + (diagnostic.label.empty() ? "" : ": " + diagnostic.label);
  }
  return result;
}

/// The first of `given` that is of the accelerator, else the one that ships; nullptr for a reason.
std::shared_ptr<const Profile> profile_of(const Accelerator& accelerator,
                                          const std::vector<std::shared_ptr<const Profile>>& given,
                                          std::string& reason) {
  for (const auto& profile : given) {
    if (profile->accelerator == accelerator.name) return profile;
  }
  const auto shipped =
      read_own("profile", accelerator.profile, reason,
               [](const JsonCursor& part, InputFiles& files) { return read_profile(part, files); });
  return shipped && reason.empty() ? shipped->profile : nullptr;
}

}  // namespace

std::variant<Scenario, Refusal> scenario_of_row(
    const PublishedRow& row, const std::vector<std::shared_ptr<const Profile>>& profiles,
    std::vector<std::string>& assumed, RowDetail detail) {
  std::string reason = uncovered(row);
  if (!reason.empty()) return Refusal{reason};
  const Accelerator& accelerator = *accelerator_of(row);
  const Framework& framework = *framework_of(row);

  const auto profile = profile_of(accelerator, profiles, reason);
  if (profile == nullptr) return Refusal{reason};
  const auto model =
      read_own("model", row_model(row, assumed), reason,
               [](const JsonCursor& part, InputFiles& files) { return read_model(part, files); });
  if (!model || !reason.empty()) return Refusal{reason};
  assumed.emplace_back("a non-blocking rail-optimised fabric");
  const auto topology = read_own(
      "topology", row_topology(row, accelerator), reason,
      [](const JsonCursor& part, InputFiles& files) { return read_topology(part, files); });
  if (!topology || !reason.empty()) return Refusal{reason};
  const int accelerators = topology->cluster->accelerators();
  const nlohmann::json said = detail == RowDetail::all
                                  ? row_strategy(row, framework, assumed)
                                  : row_strategy_without_choices(row, framework);
  auto strategy =
      read_own("strategy", said, reason, [&](const JsonCursor& part, InputFiles& files) {
        return read_strategy(part, *model, accelerators, files);
      });
  if (!strategy || !reason.empty()) return Refusal{reason};

  const DeviceCosts& device = profile->device;
  if (!supports(device, strategy->strategy.precision) ||
      cast_bytes(device, strategy->strategy.scaling) == nullptr) {
    return Refusal{
        fmt::format("{} has no costs of {}", profile->name, word(row.train, "precision"))};
  }

  // A release nobody fitted is one like any other.
  const auto family = profile->kernel_families.find(strategy->strategy.kernel_family);
  if (family == profile->kernel_families.end()) {
    return Refusal{
        fmt::format("{} has no kernel family {}", profile->name, strategy->strategy.kernel_family)};
  }
  if (!family->second.releases.contains(strategy->strategy.software_release)) {
    strategy->strategy.software_release.clear();
  }

  Scenario scenario;
  scenario.name = row.head.id;
  scenario.model = model->model;
  scenario.cluster = topology->cluster;
  scenario.profile = profile;
  scenario.strategy = std::make_shared<const Strategy>(std::move(strategy->strategy));
  scenario.leaves_experts_open =
      detail == RowDetail::no_choices && scenario.model.routing() != nullptr;
  scenario.placement = placement_of(*scenario.strategy, Placement{}.order);
  scenario.perturbation.device_spread = scenario.profile->variation.device_speed.value;
  scenario.perturbation.jitter.spread = scenario.profile->variation.operation_time.value;
  return scenario;
}

}  // namespace headway
