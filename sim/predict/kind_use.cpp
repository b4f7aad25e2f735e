#include "sim/predict/kind_use.h"

#include <algorithm>
#include <map>

#include "sim/jobs/strategy.h"
#include "sim/result/breakdown.h"

namespace headway {
namespace {

struct Shares {
  double busy = 0.0;
  double waiting = 0.0;
  std::int64_t micro_batches = 0;
};

/// Forward passes that a group runs begin with a chunk each.
std::int64_t micro_batches_of(const Program& program, const Strategy& strategy) {
  return program.message_slots / (2 * strategy.chunks_of_stage());
}

Shares shares_of(const JobRun& run, const Strategy& strategy, std::int32_t group) {
  const TimeByCause time = group_breakdown(run.workload, run.timeline, group);
  const auto of = [&](std::initializer_list<Cause> causes) {
    Seconds sum;
    for (const Cause cause : causes) sum += time[cause];
    return sum / time.total();
  };
  const auto program =
      static_cast<std::size_t>(run.workload.groups[static_cast<std::size_t>(group)].program);
  return {.busy = of({Cause::compute, Cause::recompute, Cause::optimizer, Cause::other}),
          .waiting = of({Cause::pipeline_bubble, Cause::straggler_wait}),
          .micro_batches = micro_batches_of(run.workload.programs[program], strategy)};
}

}  // namespace

KindsUse kind_use(const Scenario& scenario, const JobRun& run, const MemoryPrediction& memory) {
  const Cluster& cluster = *scenario.cluster;
  KindsUse use;
  for (int kind = 0; kind < cluster.kinds(); ++kind) {
    const Profile& profile = scenario.profiles().of(kind);
    use.kinds.push_back({.accelerator = cluster.type_of_kind(kind).accelerator,
                         .profile = profile.name,
                         .capacity = Bytes(profile.device.memory_bytes.value)});
  }
  std::map<std::int32_t, Shares> by_program;
  for (std::size_t i = 0; i < run.workload.groups.size(); ++i) {
    const RankGroup& group = run.workload.groups[i];
    const auto [known, is_new] = by_program.try_emplace(group.program);
    if (is_new) known->second = shares_of(run, *scenario.strategy, static_cast<std::int32_t>(i));
    const Shares& shares = known->second;
    for (const std::int32_t accelerator : group.accelerators) {
      KindsUse::Kind& of = use.kinds[static_cast<std::size_t>(cluster.kind_of(accelerator))];
      const bool is_first = of.accelerators++ == 0;
      of.busy_share += shares.busy;
      of.waiting_share += shares.waiting;
      of.least_micro_batches =
          is_first ? shares.micro_batches : std::min(of.least_micro_batches, shares.micro_batches);
      of.most_micro_batches = std::max(of.most_micro_batches, shares.micro_batches);
      of.needed = max(of.needed, memory.stages[static_cast<std::size_t>(group.stage)].total());
    }
  }
  // A cluster may have more kinds than the job uses.
  std::erase_if(use.kinds, [](const KindsUse::Kind& kind) { return kind.accelerators == 0; });
  for (KindsUse::Kind& kind : use.kinds) {
    kind.busy_share /= static_cast<double>(kind.accelerators);
    kind.waiting_share /= static_cast<double>(kind.accelerators);
  }
  return use;
}

}  // namespace headway
