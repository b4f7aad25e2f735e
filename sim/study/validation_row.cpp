#include "sim/study/validation_row.h"

#include <fmt/format.h>

#include <utility>

#include "sim/base/json_reader.h"
#include "sim/cluster/read_topology.h"
#include "sim/model/read_model.h"
#include "sim/profile/read_profile.h"
#include "sim/strategy/read_strategy.h"
#include "sim/study/row_fields.h"
#include "sim/study/row_parts.h"

namespace headway {
namespace {

/// What of the row we do not cover; empty if all is covered.
std::string uncovered(const PublishedRow& row) {
  for (const auto& reason : {uncovered_model(row), uncovered_strategy(row)}) {
    if (!reason.empty()) return reason;
  }
  if (accelerator_of(row) == nullptr) return "there is no profile of " + row.head.accelerator;
  if (habits_of(row) == nullptr) {
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
  const JsonCursor root(JsonDocument::parse("row", whole.dump(), diagnostics));
  auto result = read(*root.member(name), files);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::error || !reason.empty()) continue;
    reason = diagnostic.message + (diagnostic.label.empty() ? "" : ": " + diagnostic.label);
  }
  return result;
}

}  // namespace

PublishedRow read_published_row(const JsonCursor& cursor, Diagnostics& diagnostics) {
  PublishedRow row;
  const auto object = [&](const char* key) -> std::optional<JsonCursor> {
    const auto member = cursor.value().is_object() ? cursor.member(key) : std::nullopt;
    if (member && member->value().is_object()) return member;
    diagnostics.add(cursor.problem(fmt::format("a row needs \"{}\", an object", key)));
    return std::nullopt;
  };
  const auto number = [&](const JsonCursor& from, const char* key) {
    const auto member = from.member(key);
    if (member && member->value().is_number() && member->value().get<double>() > 0.0) {
      return member->value().get<double>();
    }
    diagnostics.add((member ? *member : from)
                        .problem(fmt::format("a row needs \"{}\", a positive number", key)));
    return 1.0;
  };
  const auto model = object("model");
  const auto train = object("train");
  const auto measured = object("measured");
  if (!model || !train || !measured) return row;
  row.model = model->value();
  row.train = train->value();
  for (const char* key :
       {"layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab", "seq"}) {
    number(*model, key);
  }
  for (const char* key : {"tp", "pp", "dp", "micro_batch", "global_batch"}) number(*train, key);
  for (const char* key : {"recompute", "precision", "task", "fsdp"}) {
    if (word(row.train, key).empty()) {
      diagnostics.add(train->problem(fmt::format("a row needs \"{}\", a text", key)));
    }
  }
  row.head.id = word(cursor.value(), "id");
  row.head.framework = word(cursor.value(), "framework");
  row.head.accelerator = word(cursor.value(), "gpu");
  row.head.precision = word(row.train, "precision");
  row.head.accelerators = static_cast<std::int64_t>(number(cursor, "gpus"));
  row.head.published_s = number(*measured, "iteration_time_s");
  row.nvlink_domain = static_cast<int>(number(cursor, "nvlink_domain"));
  row.nic_gigabytes_per_second = number(cursor, "nic_GBps_per_gpu");
  row.release = word(cursor.value(), "release");
  if (const auto source = cursor.member("source")) {
    row.head.source =
        source->value().is_object() ? word(source->value(), "key") : word(cursor.value(), "source");
  }
  if (row.head.id.empty()) diagnostics.add(cursor.problem("a row needs \"id\", a text"));
  return row;
}

std::variant<Scenario, Refusal> scenario_of_row(const PublishedRow& row,
                                                std::vector<std::string>& assumed) {
  std::string reason = uncovered(row);
  if (!reason.empty()) return Refusal{reason};
  const RowAccelerator& accelerator = *accelerator_of(row);
  const FrameworkHabits& habits = *habits_of(row);

  const auto profile =
      read_own("profile", std::string(accelerator.profile), reason,
               [](const JsonCursor& part, InputFiles& files) { return read_profile(part, files); });
  if (!profile || !reason.empty()) return Refusal{reason};
  const auto model =
      read_own("model", row_model(row, assumed), reason,
               [](const JsonCursor& part, InputFiles& files) { return read_model(part, files); });
  if (!model || !reason.empty()) return Refusal{reason};
  assumed.emplace_back("a non-blocking rail-optimised fabric");
  const auto topology = read_own(
      "topology", row_topology(row, accelerator, profile->profile->accelerator), reason,
      [](const JsonCursor& part, InputFiles& files) { return read_topology(part, files); });
  if (!topology || !reason.empty()) return Refusal{reason};
  const int accelerators = topology->cluster->accelerators();
  const auto strategy = read_own("strategy", row_strategy(row, habits, assumed), reason,
                                 [&](const JsonCursor& part, InputFiles& files) {
                                   return read_strategy(part, *model, accelerators, files);
                                 });
  if (!strategy || !reason.empty()) return Refusal{reason};

  const DeviceCosts& device = profile->profile->device;
  if (!supports(device, strategy->strategy.precision) ||
      cast_bytes(device, strategy->strategy.scaling) == nullptr) {
    return Refusal{
        fmt::format("{} has no costs of {}", accelerator.profile, word(row.train, "precision"))};
  }

  Scenario scenario;
  scenario.name = row.head.id;
  scenario.model = model->model;
  scenario.cluster = topology->cluster;
  scenario.profile = profile->profile;
  scenario.strategy = strategy->strategy;
  scenario.placement = placement_of(scenario.strategy, Placement{}.order);
  scenario.perturbation.device_spread = scenario.profile->variation.device_speed.value;
  scenario.perturbation.operation_spread = scenario.profile->variation.operation_time.value;
  return scenario;
}

}  // namespace headway
