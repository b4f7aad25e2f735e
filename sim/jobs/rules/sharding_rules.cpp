#include <fmt/format.h>

#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/shard_groups.h"

namespace headway {
namespace {

bool is_fully_sharded_pipeline(const Strategy& job) {
  return job.sharding == Sharding::full && job.pipeline_parallel > 1;
}

bool has_groups(const Strategy& job) {
  return job.sharding == Sharding::full ||
         (job.sharding == Sharding::optimizer && job.shard_group > 0);
}

bool is_whole_group(std::int64_t group, const Strategy& job) {
  return divides(group, job.replicas()) && divides(job.context_parallel, group);
}

}  // namespace

std::vector<StrategyRule> sharding_rules() {
  return {
      // DeepSpeed refuses both too: its pipeline takes ZeRO-1 only.
      {.fields = {"zero_stage", "pipeline_parallel"},
       .words = "zero_stage 2 does not go with a pipeline",
       .holds =
           [](Layout job) {
             return job->sharding != Sharding::gradients || job->pipeline_parallel == 1;
           },
       .broken = [](Layout job) -> BrokenRule {
         return {
             fmt::format("a pipeline of {} stages", job->pipeline_parallel),
             "use zero_stage 1: each micro-batch would reduce every layer of its stage anew; or "
             "set pipeline_parallel to 1"};
       }},
      // Under a pipeline each micro-batch would gather or reduce every layer of its stage anew, but
      // where parameters stay gathered for the step: gradients then leave with the last
      // micro-batch, as FSDP2 under a pipeline has it (torchtitan, parallelize_llama.py).
      {.fields = {"zero_stage", "pipeline_parallel"},
       .besides = {"reshard_after_forward"},
       .words = "zero_stage 3 does not go with a pipeline where layers give their parameters up",
       .holds =
           [](Layout job) {
             return !is_fully_sharded_pipeline(job) || !job->reshard_after_forward;
           },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("a pipeline of {} stages", job->pipeline_parallel),
                 "set reshard_after_forward to false: each micro-batch would gather every layer of "
                 "its stage anew; or use zero_stage 1"};
       }},
      {.fields = {"shard_group", "data_parallel", "context_parallel"},
       .besides = {"zero_stage"},
       .words = "shard_group must divide data_parallel x context_parallel and be a multiple of the "
                "latter",
       .holds =
           [](Layout job) { return !has_groups(job) || is_whole_group(job->shard_group, job); },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} of {} x {} = {} ranks", job->shard_group, job->data_parallel,
                             job->context_parallel, job->replicas()),
                 nearest_help(job->shard_group, job->replicas(),
                              [&](std::int64_t wanted) { return is_whole_group(wanted, job); })};
       }},
      // What fully sharded stages of a pipeline do not have: the parameters of the opposite stage,
      {.fields = {"zero_stage", "schedule"},
       .besides = {"pipeline_parallel"},
       .words = "zero_stage 3 does not go with the schedule \"dualpipe\"",
       .why = "its stages share parameters with the opposite ones",
       .help = "use zero_stage 1",
       .holds =
           [](Layout job) {
             return !is_fully_sharded_pipeline(job) || !job->schedule->is_doubled();
           }},
      // and copies of their own.
      {.fields = {"shard_group", "pipeline_parallel"},
       .besides = {"data_parallel", "context_parallel", "zero_stage"},
       .words = "copies of sharded parameters do not go with a pipeline",
       .holds =
           [](Layout job) {
             return !is_fully_sharded_pipeline(job) || job->shard_group == job->replicas();
           },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} of {} ranks", job->shard_group, job->replicas()),
                 "leave shard_group out"};
       }},
      // Both copies of a stage would be members of the same group.
      {.fields = {"shard_group", "schedule"},
       .words = "groups that share out the optimizer do not go with the schedule \"dualpipe\"",
       .why = "its stages share parameters with the opposite ones",
       .help = "leave shard_group out",
       .holds =
           [](Layout job) {
             return !shards_optimizer_in_groups(job) || !job->schedule->is_doubled();
           }},
      {.fields = {"overlap_parameter_gather", "zero_stage"},
       .words = "overlap_parameter_gather needs zero_stage 1, 2 or 3",
       .why = "no parameters are gathered",
       .help = "set zero_stage to 1, or leave overlap_parameter_gather out",
       .holds =
           [](Layout job) {
             return !job->overlap_parameter_gather || job->sharding != Sharding::none;
           }},
  };
}

}  // namespace headway
