#include <fmt/format.h>

#include <algorithm>

#include "sim/jobs/rules/strategy_rules.h"

namespace headway {
namespace {

bool by_local_steps(const Strategy& job) { return job.synchronisation.by_local_steps(); }

/// Averages may be under way one after the other, each through its steps.
bool fits_period(const Synchronisation& how) {
  return how.fragments * std::max(1.0, how.overlap_steps) <= how.every;
}

}  // namespace

std::vector<StrategyRule> local_step_rules() {
  return {
      {.fields = {"synchronisation"},
       .besides = {"data_parallel"},
       .words = "local steps need two islands at least",
       .why = "a single one has nobody to meet",
       .help = "raise islands or data_parallel, or set synchronisation.scheme to \"all_reduce\"",
       .holds = [](Layout job) { return !by_local_steps(job) || job->islands() > 1; }},
      {.fields = {"synchronisation"},
       .besides = {"data_parallel"},
       .words = "islands must divide data_parallel",
       .holds =
           [](Layout job) {
             const int islands = job->synchronisation.islands;
             return !by_local_steps(job) || islands == 0 || job->data_parallel % islands == 0;
           },
       .broken = [](Layout job) -> BrokenRule {
         const int islands = job->synchronisation.islands;
         return {fmt::format("{} islands of {} replicas", islands, job->data_parallel),
                 nearest_help(islands, job->data_parallel, [&](std::int64_t count) {
                   return divides(count, job->data_parallel);
                 })};
       }},
      {.fields = {"synchronisation"},
       .words = "fragments x overlap_steps must be at most every",
       .why = "an average has to end before the next one of its fragment begins",
       .holds =
           [](Layout job) { return !by_local_steps(job) || fits_period(job->synchronisation); },
       .broken = [](Layout job) -> BrokenRule {
         const Synchronisation& how = job->synchronisation;
         return {fmt::format("{} fragments and {} steps in a period of {}", how.fragments,
                             std::max(1.0, how.overlap_steps), how.every),
                 "raise every, or lower one of them"};
       }},
      {.fields = {"shard_group", "synchronisation"},
       .words = "with local steps, shard_group is all ranks of an island",
       .why = "copies inside an island are not modelled",
       .help = "leave shard_group out, and set synchronisation.islands",
       .holds =
           [](Layout job) {
             return !by_local_steps(job) || job->shard_ranks() == job->replicas();
           }},
      {.fields = {"schedule", "synchronisation"},
       .words = "schedules with two copies of the model do not go with local steps",
       .why = "which copy is averaged with which is not modelled",
       .help = "use another schedule",
       .holds = [](Layout job) { return !by_local_steps(job) || !job->schedule->is_doubled(); }},
      {.fields = {"synchronisation"},
       .words = "mixtures of experts do not go with local steps",
       .why = "experts that islands share are not modelled",
       .help = "set synchronisation.scheme to \"all_reduce\"",
       .holds = [](Layout job) { return !by_local_steps(job) || !job.model.routing(); }},
  };
}

}  // namespace headway
