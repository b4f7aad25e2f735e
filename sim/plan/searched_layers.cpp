#include "sim/plan/searched_layers.h"

#include <algorithm>
#include <cstdint>

#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

/// Peak of the slowest accelerator of each stage; stages are the last to be laid out.
std::vector<double> speeds_of_stages(const Scenario& scenario, const Strategy& strategy,
                                     std::int64_t accelerators) {
  const Cluster& cluster = *scenario.cluster;
  const KindProfiles profiles = scenario.profiles();
  const int step = cluster.node_type.accelerators;
  const auto of_stage = static_cast<int>(accelerators / strategy.pipeline_parallel);
  std::vector<double> speeds;
  for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
    const int last = (stage + 1) * of_stage - 1;
    double slowest = 0.0;
    for (int at = stage * of_stage;; at = std::min(at + step, last)) {
      const Profile& profile = profiles.of(cluster.kind_of(at));
      const double peak = profile.device.peak_flops.at(strategy.precision).value;
      slowest = slowest > 0.0 ? std::min(slowest, peak) : peak;
      if (at == last) break;
    }
    speeds.push_back(slowest);
  }
  return speeds;
}

std::vector<int> layers_by_speed(const Scenario& scenario, const Strategy& strategy,
                                 std::int64_t accelerators) {
  const Model& model = scenario.model;
  const bool is_plain = model.leading_layers == 0 && model.ahead.layers == 0;
  const bool has_stages = strategy.pipeline_parallel > 1 && !strategy.schedule->is_doubled();
  const bool is_in_row = std::ranges::is_sorted(scenario.placement.order);
  if (!is_plain || !has_stages || !is_in_row) return {};
  if (strategy.chunks() > model.layer_count()) return {};
  const std::vector<double> speeds = speeds_of_stages(scenario, strategy, accelerators);
  if (std::ranges::max(speeds) == std::ranges::min(speeds)) return {};
  const int of_stage = strategy.chunks_of_stage();
  std::vector<int> of_stages(speeds.size(), of_stage);
  for (int left = model.layer_count() - strategy.chunks(); left > 0; --left) {
    std::size_t soonest = 0;
    const auto time_with_one_more = [&](std::size_t stage) {
      return (of_stages[stage] + 1) / speeds[stage];
    };
    for (std::size_t stage = 1; stage < speeds.size(); ++stage) {
      if (time_with_one_more(stage) < time_with_one_more(soonest)) soonest = stage;
    }
    ++of_stages[soonest];
  }
  std::vector<int> of_chunks(static_cast<std::size_t>(strategy.chunks()));
  for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
    const int layers = of_stages[static_cast<std::size_t>(stage)];
    for (int chunk = 0; chunk < of_stage; ++chunk) {
      const int position =
          chunk_position(*strategy.schedule, stage, chunk, strategy.pipeline_parallel);
      const bool has_one_more = chunk < layers % of_stage;
      of_chunks[static_cast<std::size_t>(position)] = layers / of_stage + (has_one_more ? 1 : 0);
    }
  }
  return of_chunks;
}

}  // namespace

std::vector<int> searched_layers(const Scenario& scenario, const Strategy& strategy,
                                 std::int64_t accelerators) {
  const Strategy& given = *scenario.strategy;
  const bool is_cut_as_given = !given.layers_per_stage.empty() &&
                               given.pipeline_parallel == strategy.pipeline_parallel &&
                               given.chunks() == strategy.chunks();
  if (is_cut_as_given) return given.layers_per_stage;
  if (scenario.cluster->kinds() == 1) return {};
  return layers_by_speed(scenario, strategy, accelerators);
}

}  // namespace headway
