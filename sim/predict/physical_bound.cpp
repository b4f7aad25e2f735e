#include "sim/predict/physical_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/jobs/step_flops.h"
#include "sim/layers/flops.h"
#include "sim/result/link_use.h"

namespace headway {
namespace {

/// Forward operations of the busiest stage's layers and head, for one token. Where the model stands
/// twice each copy does half.
Flops busiest_stage(const Model& model, const Strategy& strategy) {
  const std::int64_t reach = strategy.attention_length();
  std::vector<Flops> kinds;
  for (const Layer& layer : model.kinds) kinds.push_back(forward_flops(layer, reach).total());
  Flops ahead;
  if (model.ahead.layers > 0) {
    ahead = kinds[static_cast<std::size_t>(model.ahead.kind)] +
            forward_flops(model.ahead.join, reach).total();
  }
  const Flops head = forward_flops(model.last, reach).total();
  const double copies = strategy.schedule->is_doubled() ? 2.0 : 1.0;
  Flops busiest;
  for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
    Flops flops;
    int chunk = 0;
    for (const LayerRange& range : stage_layers(model, strategy, stage)) {
      const std::vector<int> counts = kinds_of_layers(model, range);
      for (std::size_t kind = 0; kind < counts.size(); ++kind) flops += counts[kind] * kinds[kind];
      if (is_last_chunk(strategy, stage, chunk)) {
        flops += head + model.ahead.layers * (ahead + head);
      }
      ++chunk;
    }
    busiest = max(busiest, flops * (1.0 / copies));
  }
  return busiest;
}

/// By how much fewer multiplications do than are counted, where products are on plain cores.
double most_filtering(const Model& model, Precision precision) {
  double most = 1.0;
  if (precision != Precision::fp32) return most;
  for (const Layer& layer : model.kinds) {
    for (const Product& product : layer.products) most = std::max(most, product.filtering);
  }
  return most;
}

Seconds compute_bound(const Model& model, const Strategy& strategy, const KindProfiles& profiles) {
  const Flops step = step_flops(model, strategy).model;
  const Flops forward = forward_flops(model, strategy.attention_length()).total();
  if (forward == Flops(0.0)) return Seconds(0.0);  // tables and passes alone
  const double ranks_of_stage = static_cast<double>(strategy.ranks()) / strategy.pipeline_parallel;
  const FlopsPerSecond peak(profiles.largest([&](const Profile& profile) {
    return profile.device.peak_flops.at(strategy.precision).value;
  }));
  return (busiest_stage(model, strategy) / forward) * step /
         (most_filtering(model, strategy.precision) * ranks_of_stage * peak);
}

Seconds memory_bound(const Model& model, const Strategy& strategy, const KindProfiles& profiles) {
  Bytes most;
  for (const StageMemory& stage : stage_memory(model, strategy)) {
    most = max(most, stage.parameters - stage.table_weights +
                         2.0 * (stage.optimizer - stage.table_states));
  }
  return most / BytesPerSecond(profiles.largest(
                    [](const Profile& profile) { return profile.device.memory_bandwidth.value; }));
}

Seconds network_bound(const Workload& workload, const Timeline& timeline,
                      const Topology& topology) {
  const std::vector<double> carried = bytes_by_link(workload, timeline, topology);
  Seconds longest;
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    const Bytes bytes(carried[static_cast<std::size_t>(id)]);
    if (bytes > Bytes(0.0)) longest = max(longest, bytes / topology.link(id).capacity);
  }
  return longest;
}

/// The least that random draws and listed factors make of a nominal time.
double least_factor(const Perturbation& perturbation) {
  constexpr double kSigmas = 6.0;
  double listed = 1.0;
  for (const auto& [unused, factor] : perturbation.slow_accelerators) {
    listed = std::min(listed, factor);
  }
  return listed * perturbation.jitter.least() * perturbation.micro_batches.least() *
         std::exp(-kSigmas * perturbation.device_spread);
}

}  // namespace

PhysicalBound physical_bound(const Model& model, const Strategy& strategy,
                             const KindProfiles& profiles, const Workload& workload,
                             const Timeline& timeline, const Topology& topology) {
  return {.compute = compute_bound(model, strategy, profiles),
          .memory = memory_bound(model, strategy, profiles),
          .network = network_bound(workload, timeline, topology)};
}

void check_physical(const PhysicalBound& bound, Seconds iteration,
                    const Perturbation& perturbation) {
  constexpr double kRounding = 1.0 - 1e-9;
  const double least = least_factor(perturbation);
  const auto check = [&](const char* what, Seconds time) {
    HEADWAY_CHECK(iteration >= kRounding * time,
                  fmt::format("an iteration of {} beats the bound of {}, {}", short_text(iteration),
                              what, short_text(time)));
  };
  check("peak FLOP/s", least * bound.compute);
  check("memory bandwidth", least * bound.memory);
  check("link bandwidth", bound.network);
}

}  // namespace headway
