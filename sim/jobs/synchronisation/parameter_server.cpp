#include <fmt/format.h>

#include <algorithm>

#include "sim/base/quantity_text.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/synchronisation/scheme_fields.h"

namespace headway {
namespace {

class ParameterServer final : public SynchronisationScheme {
 public:
  ServerPlan settings;

  [[nodiscard]] std::string_view name() const override { return "parameter_server"; }
  [[nodiscard]] std::string_view brief() const override { return "through parameter servers"; }
  [[nodiscard]] std::string_view what() const override {
    return "pushed to servers, which update the parameters, and pulled from them";
  }
  [[nodiscard]] std::string_view see() const override {
    return "parameter_servers; Li et al. 2014 (OSDI)";
  }
  [[nodiscard]] std::vector<Field<Synchronisation>> fields() const override;
  [[nodiscard]] std::vector<StrategyRule> rules() const override;

  [[nodiscard]] int steps_apart() const override { return settings.push_every; }
  [[nodiscard]] const ServerPlan* servers() const override { return &settings; }
  [[nodiscard]] std::string work_text(const Strategy& /*strategy*/) const override {
    const ServerPlan& how = settings;
    std::string text = fmt::format(", {} server{} {}, {}", how.servers, how.servers == 1 ? "" : "s",
                                   how.hosts == ServerHosts::beside ? "beside workers" : "apart",
                                   how.asynchronous ? "asynchronous" : "synchronous");
    if (how.has_local_updates()) text += fmt::format(", every {} local steps", how.push_every);
    return text;
  }
  [[nodiscard]] std::vector<std::string> notes(const Strategy& /*strategy*/) const override {
    std::vector<std::string> notes = {
        "a server works at one push at a time, as fast as its host's memory; what else its host "
        "does costs it nothing"};
    if (settings.has_local_updates()) {
      notes.emplace_back(
          "an iteration is a local step and its share of a push: what so few pushes cost in loss "
          "is not counted, how fast devices are is drawn once for all rounds, slow episodes and "
          "pauses are as if workers pushed at every step, and clients that drop out are among the "
          "backup_workers");
    }
    return notes;
  }
};

constexpr Word<bool> kUpdates[] = {{"synchronous", false}, {"asynchronous", true}};

bool is_in_step(const ServerPlan& by) { return !by.asynchronous; }
bool is_out_of_step(const ServerPlan& by) { return by.asynchronous; }

std::vector<Field<Synchronisation>> ParameterServer::fields() const {
  constexpr Range kWorkers = between(0, 1'000'000);
  constexpr Range kPushedBits = between(0.01, 1'024.0);
  constexpr FieldNeed kStepsNeeded = {"updates", "\"synchronous\"", "it says nothing here"};
  constexpr FieldNeed kNoStepsNeeded = {"updates", "\"asynchronous\"", "it says nothing here"};
  return fields_of<ParameterServer>(FieldTable<ServerPlan>(
      {{"servers", whole(&ServerPlan::servers, between(1, 4096)),
        R"(Servers. Each holds an equal part of every bucket of gradients.
see: parameter_servers.hottest_server)"},
       {"hosts", word(&ServerPlan::hosts),
        R"(Where servers stand: spread evenly over the nodes of the job, whose NICs they share; or one a node
on those behind it.
limits: apart needs as many nodes behind cluster.job_nodes
see: cluster.job_nodes)"},
       {"updates", word(&ServerPlan::asynchronous, kUpdates),
        R"(Whether the parameters are updated once all workers' gradients of a step are added up, or with each
worker's by themselves.
see: parameter_servers.staleness)"},
       {"backup_workers",
        whole(&ServerPlan::backup_workers, kWorkers).where(is_in_step, kStepsNeeded),
        R"(Workers whose gradients a synchronous step does not wait for; what comes late is dropped. Of
federated rounds: clients that are sampled beyond those it takes, for the slow and for drop-outs.
limits: fewer than workers
see: Chen et al. 2016 (arXiv:1604.00981); Bonawitz et al. 2019 (arXiv:1902.01046): 0.3 of those it takes)"},
       {"staleness_bound",
        whole(&ServerPlan::staleness_bound, kWorkers).where(is_out_of_step, kNoStepsNeeded),
        R"(By how many steps an asynchronous worker may be ahead of the slowest; 0 lets none be ahead.
see: Ho et al. 2013 (NIPS, stale synchronous parallel))"},
       {"push_every", whole(&ServerPlan::push_every, between(1, 1'000'000)),
        R"(Steps of its own, with an optimizer of its own, that a worker takes between two pushes of what it
learned in them: synchronous, rounds of federated averaging; asynchronous, DiLoCo without waiting. What so few
updates, and stale ones, cost in loss is not modelled.
see: McMahan et al. 2017 (arXiv:1602.05629); Liu et al. 2024 (arXiv:2401.09135))"},
       {"push_bits", number(&ServerPlan::push_bits, kPushedBits),
        R"(Of a parameter on its way to servers, secure aggregation's masks and shares included. Left out: of
strategy.gradient_precision.
see: Bonawitz et al. 2017 (CCS, secure aggregation): 1.73 x 16 of 2^10 clients)"},
       {"pull_bits", number(&ServerPlan::pull_bits, kPushedBits),
        R"(Of a parameter on its way back to workers. Left out: of strategy.precision.)"},
       {"uplink", quantity(&ServerPlan::uplink, positive()),
        R"(What the connection of an accelerator to all servers together carries, as of clients at home. Left
out: what the fabric does.
see: cluster.topology)"},
       {"downlink", quantity(&ServerPlan::downlink, positive()),
        R"(The same of the connection back.)"},
       {"local_reduction", flag(&ServerPlan::local_reduction),
        R"(Whether the accelerators of a scale-up domain add up their gradients first and are one worker, each
pushing its part.
see: Jiang et al. 2020 (OSDI, BytePS))"}}));
}

constexpr std::int64_t kMostConnections = 262'144;
constexpr std::string_view kWholeModel = "a worker of parameter servers holds the whole model";

/// The servers of a job by this scheme; nullptr of any other.
const ServerPlan* servers_of(const Strategy& job) {
  const auto* scheme = dynamic_cast<const ParameterServer*>(job.synchronisation.scheme.get());
  return scheme == nullptr ? nullptr : &scheme->settings;
}
bool has_none(const Strategy& job) { return servers_of(job) == nullptr; }

/// What does not go with parameter servers, and why.
StrategyRule not_served(std::string_view field, std::string_view words, std::string_view why,
                        std::string_view help, bool (*holds)(Layout)) {
  return {.fields = {field, "synchronisation"},
          .words = words,
          .why = why,
          .help = help,
          .holds = holds};
}

std::vector<StrategyRule> ParameterServer::rules() const {
  return {
      not_served("tensor_parallel", "tensor_parallel does not go with parameter servers",
                 kWholeModel,
                 "set tensor_parallel to 1, or synchronisation.scheme to \"all_reduce\"",
                 [](Layout job) { return has_none(job) || job->tensor_parallel == 1; }),
      not_served("context_parallel", "context_parallel does not go with parameter servers",
                 kWholeModel,
                 "set context_parallel to 1, or synchronisation.scheme to \"all_reduce\"",
                 [](Layout job) { return has_none(job) || job->context_parallel == 1; }),
      not_served("pipeline_parallel", "pipeline_parallel does not go with parameter servers",
                 kWholeModel,
                 "set pipeline_parallel to 1, or synchronisation.scheme to \"all_reduce\"",
                 [](Layout job) { return has_none(job) || job->pipeline_parallel == 1; }),
      not_served("expert_parallel", "expert_parallel does not go with parameter servers",
                 kWholeModel,
                 "set expert_parallel and expert_tensor_parallel to 1, or synchronisation.scheme "
                 "to \"all_reduce\"",
                 [](Layout job) { return has_none(job) || job->expert_group() == 1; }),
      not_served("zero_stage", "zero_stage does not go with parameter servers",
                 "servers hold the states already",
                 "set zero_stage to 0, or synchronisation.scheme to \"all_reduce\"",
                 [](Layout job) { return has_none(job) || job->sharding == Sharding::none; }),
      not_served("optimizer_offload", "optimizer_offload does not go with parameter servers",
                 "servers update the parameters",
                 "leave optimizer_offload out, or synchronisation.scheme to \"all_reduce\"",
                 [](Layout job) { return has_none(job) || job->optimizer_offload == 0.0; }),
      not_served("task", "task does not go with parameter servers",
                 "only adapters would travel, which is not modelled",
                 "use task \"pretrain\" or \"sft\", or synchronisation.scheme to \"all_reduce\"",
                 [](Layout job) { return has_none(job) || !trains_adapters(job); }),
      {.fields = {"synchronisation"},
       .besides = {"data_parallel"},
       .words = "workers x servers must be at most 262,144",
       .why = "each pair has a connection, whose messages are simulated one by one",
       .holds =
           [](Layout job) {
             const ServerPlan* by = servers_of(job);
             return by == nullptr ||
                    std::int64_t{by->servers} * job->data_parallel <= kMostConnections;
           },
       .broken = [](Layout job) -> BrokenRule {
         return {
             fmt::format("{} and {}", counted(servers_of(job)->servers, "server"),
                         counted(job->data_parallel, "data-parallel rank")),
             fmt::format("use {} at most",
                         counted(std::max<std::int64_t>(1, kMostConnections / job->data_parallel),
                                 "server"))};
       }},
      {.fields = {"synchronisation"},
       .besides = {"data_parallel"},
       .words = "backup_workers have to leave a worker to wait for",
       .holds =
           [](Layout job) {
             const ServerPlan* by = servers_of(job);
             return by == nullptr || by->backup_workers < job->data_parallel;
           },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} of {}", servers_of(job)->backup_workers, job->data_parallel),
                 fmt::format("use {} at most", job->data_parallel - 1)};
       }},
  };
}

}  // namespace

/// Replicas push to servers and pull from them (Li et al. 2014, OSDI).
SynchronisationPointer parameter_server() { return std::make_shared<ParameterServer>(); }

}  // namespace headway
