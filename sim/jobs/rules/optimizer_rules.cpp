#include <fmt/format.h>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/rules/strategy_rules.h"

namespace headway {
namespace {

bool is_adam(const Strategy& job) { return job.optimizer == optimizers().data(); }

bool is_updated_by_servers(const Strategy& job) {
  const ServerPlan* servers = job.synchronisation->servers();
  return servers != nullptr && !servers->has_local_updates();
}

BrokenRule it_is_another(Layout job) {
  return {fmt::format("{} updates them here", job->optimizer->name),
          "set optimizer to \"adam\", or leave it out"};
}

}  // namespace

std::vector<StrategyRule> optimizer_rules() {
  return {
      {.fields = {"optimizer", "optimizer_offload"},
       .words = "what the host updates needs optimizer \"adam\"",
       .holds = [](Layout job) { return is_adam(job) || job->optimizer_offload == 0.0; },
       .broken = it_is_another},
      {.fields = {"optimizer", "synchronisation"},
       .words = "what servers update needs optimizer \"adam\"",
       .holds = [](Layout job) { return is_adam(job) || !is_updated_by_servers(job); },
       .broken = it_is_another},
      {.fields = {"optimizer", "task"},
       .words = "optimizer \"muon\" does not go with adapters",
       .why = "it updates the matrices of layers, which stay as they are",
       .help = "set optimizer to \"adam\", or leave it out",
       .holds =
           [](Layout job) { return !job->optimizer->orthogonalises || !trains_adapters(job); }},
  };
}

}  // namespace headway
