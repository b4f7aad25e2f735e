// Jobs of one accelerator, each told as a scenario tells it: what trains, or generates, there.
#include <nlohmann/json.hpp>

#include "sim/jobs/memory.h"
#include "sim/jobs/strategy.h"
#include "sim/predict/simulate.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

constexpr BytesPerSecond kNoNetwork(50e9);  ///< nobody is at its other end
constexpr std::size_t kPeakMemory = 3;      ///< which of the values

/// What the framework's allocator gives out at most, without what it holds beside that.
Bytes peak_memory(const Scenario& scenario) {
  Strategy strategy = *scenario.strategy;
  strategy.memory.allocator_reserve = 0.0;
  return stage_memory(scenario.model, strategy).front().total() - kDeviceContext;
}

SyncOutcome predict_measured_job(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto measured = value_at(row, 0);
  if (!measured || *measured <= 0.0) return refused("the row has no time of a step");
  if (!row.job->is_object()) {
    return refused("the row has no \"job\" of model, profile and strategy");
  }
  if (row.job->contains("cluster")) {
    return refused("its job names a \"cluster\"; it is one accelerator, leave that out");
  }
  nlohmann::json parts = *row.job;
  parts["cluster"] = switched_nodes({.nic_bandwidth = kNoNetwork});
  const Scenario scenario = scenario_from(parts);
  SyncOutcome outcome;
  if (scenario.post_training) {
    const Prediction prediction =
        simulate(scenario, {.scaling = false, .even_if_it_does_not_fit = true}).prediction;
    outcome.values = {{.what = "a token, s",
                       .published = *measured,
                       .predicted = prediction.post_training->token.count()}};
    return outcome;
  }
  outcome.values = {
      {.what = "step, s", .published = *measured, .predicted = iteration_seconds(scenario)}};
  if (const auto peak = value_at(row, kPeakMemory); peak && *peak > 0.0) {
    outcome.values.push_back({.what = "memory, GiB",
                              .published = Bytes(*peak) / 1_GiB,
                              .predicted = peak_memory(scenario) / 1_GiB});
  }
  return outcome;
}

}  // namespace

SyncKind measured_job_rows() {
  return {.name = "measured job",
          .about = "one accelerator, a job told as a scenario tells it; nothing fitted",
          .takes = [](const SyncRow& row) { return row.kind == "measured_job"; },
          .predict = predict_measured_job};
}

}  // namespace headway
