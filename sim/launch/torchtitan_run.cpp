#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/launch/launch_job.h"
#include "sim/launch/torchtitan_refusals.h"

namespace headway {
namespace {

using nlohmann::json;

TorchtitanSettings torchtitan_settings(const json& strategy) {
  const auto degree = [&](const char* field) { return strategy.value(field, std::int64_t{1}); };
  const std::string precision = strategy.value("precision", "");
  TorchtitanSettings settings{.tensor = degree("tensor_parallel"),
                              .context = degree("context_parallel"),
                              .pipeline = degree("pipeline_parallel"),
                              .data = degree("data_parallel"),
                              .expert = degree("expert_parallel"),
                              .expert_tensor = degree("expert_tensor_parallel"),
                              .is_sharded = strategy.value("zero_stage", 0) == 3,
                              .is_in_few_bits = precision != "fp32" && precision != "tf32"};
  const std::int64_t replicas = settings.data * settings.context;
  settings.shards = strategy.value("shard_group", replicas) / settings.context;
  return settings;
}

bool is_unsaid(const FlagList& flags, std::string_view field) {
  return std::ranges::any_of(flags.unsaid,
                             [&](const UnsaidField& unsaid) { return unsaid.field == field; });
}

}  // namespace

void leave_out_what_torchtitan_refuses(const JsonValue& scenario, FlagList& flags,
                                       std::vector<std::string>& remarks) {
  const json& strategy = scenario->at("strategy");
  leave_out_refused(torchtitan_refusals(), torchtitan_settings(strategy), strategy, flags);
  if (is_unsaid(flags, "zero_stage")) {
    remarks.emplace_back(
        "Not told how many replicas there are it shares out parameters over all of them (the "
        "default of parallelism.data_parallel_shard_degree).");
  }
  // torchtitan 0.2, job_config.py: ActivationCheckpoint.mode.
  if (is_unsaid(flags, "recompute")) {
    remarks.emplace_back(
        "Not told what to recompute it recomputes every second layer (the default of "
        "activation_checkpoint.mode and selective_ac_option).");
  }
}

}  // namespace headway
