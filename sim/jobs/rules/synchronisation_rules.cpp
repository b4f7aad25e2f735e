#include <fmt/format.h>

#include <algorithm>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/rules/strategy_rules.h"

namespace headway {
namespace {

constexpr std::int64_t kMostConnections = 262'144;
constexpr std::string_view kWholeModel = "a worker of parameter servers holds the whole model";

bool by_servers(const Strategy& job) { return job.synchronisation.by_servers(); }

/// What does not go with parameter servers, and why.
StrategyRule excluded(std::string_view field, std::string_view words, std::string_view why,
                      std::string_view help, bool (*holds)(Layout)) {
  return {.fields = {field, "synchronisation"},
          .words = words,
          .why = why,
          .help = help,
          .holds = holds};
}

}  // namespace

std::vector<StrategyRule> synchronisation_rules() {
  return {
      excluded("tensor_parallel", "tensor_parallel does not go with parameter servers", kWholeModel,
               "set tensor_parallel to 1, or synchronisation.scheme to \"all_reduce\"",
               [](Layout job) { return !by_servers(job) || job->tensor_parallel == 1; }),
      excluded("context_parallel", "context_parallel does not go with parameter servers",
               kWholeModel,
               "set context_parallel to 1, or synchronisation.scheme to \"all_reduce\"",
               [](Layout job) { return !by_servers(job) || job->context_parallel == 1; }),
      excluded("pipeline_parallel", "pipeline_parallel does not go with parameter servers",
               kWholeModel,
               "set pipeline_parallel to 1, or synchronisation.scheme to \"all_reduce\"",
               [](Layout job) { return !by_servers(job) || job->pipeline_parallel == 1; }),
      excluded("expert_parallel", "expert_parallel does not go with parameter servers", kWholeModel,
               "set expert_parallel and expert_tensor_parallel to 1, or synchronisation.scheme to "
               "\"all_reduce\"",
               [](Layout job) { return !by_servers(job) || job->expert_group() == 1; }),
      excluded("zero_stage", "zero_stage does not go with parameter servers",
               "servers hold the states already",
               "set zero_stage to 0, or synchronisation.scheme to \"all_reduce\"",
               [](Layout job) { return !by_servers(job) || job->sharding == Sharding::none; }),
      excluded("optimizer_offload", "optimizer_offload does not go with parameter servers",
               "servers update the parameters",
               "leave optimizer_offload out, or synchronisation.scheme to \"all_reduce\"",
               [](Layout job) { return !by_servers(job) || job->optimizer_offload == 0.0; }),
      excluded("task", "task does not go with parameter servers",
               "only adapters would travel, which is not modelled",
               "use task \"pretrain\" or \"sft\", or synchronisation.scheme to \"all_reduce\"",
               [](Layout job) { return !by_servers(job) || !trains_adapters(job); }),
      {.fields = {"synchronisation"},
       .besides = {"data_parallel"},
       .words = "workers x servers must be at most 262,144",
       .why = "each pair has a connection, whose messages are simulated one by one",
       .holds =
           [](Layout job) {
             return !by_servers(job) ||
                    std::int64_t{job->synchronisation.servers} * job->data_parallel <=
                        kMostConnections;
           },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} servers and {} data-parallel ranks", job->synchronisation.servers,
                             job->data_parallel),
                 fmt::format("use {} servers at most",
                             std::max<std::int64_t>(1, kMostConnections / job->data_parallel))};
       }},
      {.fields = {"synchronisation"},
       .besides = {"data_parallel"},
       .words = "backup_workers have to leave a worker to wait for",
       .holds =
           [](Layout job) {
             return !by_servers(job) || job->synchronisation.backup_workers < job->data_parallel;
           },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} of {}", job->synchronisation.backup_workers, job->data_parallel),
                 fmt::format("use {} at most", job->data_parallel - 1)};
       }},
  };
}

}  // namespace headway
