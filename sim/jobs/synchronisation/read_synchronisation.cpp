#include "sim/jobs/synchronisation/read_synchronisation.h"

#include "sim/jobs/part_fields.h"

namespace headway {
namespace {

constexpr Word<bool> kUpdates[] = {{"synchronous", false}, {"asynchronous", true}};
constexpr Range kServers = between(1, 4096);
constexpr Range kWorkers = between(0, 1'000'000);
constexpr Range kSteps = between(1, 1'000'000);
constexpr Range kOverlap = between(0.0, 1'000'000.0);
constexpr Range kBits = between(1, 64);
constexpr Range kPushedBits = between(0.01, 1'024.0);

bool has_servers(const Synchronisation& by) { return by.by_servers(); }
bool has_steps(const Synchronisation& by) { return by.by_servers() && !by.asynchronous; }
bool is_local(const Synchronisation& by) { return by.by_local_steps(); }
bool has_no_steps(const Synchronisation& by) { return by.by_servers() && by.asynchronous; }

constexpr FieldNeed kServersNeeded = {"scheme", "\"parameter_server\"", "it says nothing here"};
constexpr FieldNeed kLocalNeeded = {"scheme", "\"local_steps\"", "it says nothing here"};
constexpr FieldNeed kStepsNeeded = {"updates", "\"synchronous\"", "it says nothing here"};
constexpr FieldNeed kNoStepsNeeded = {"updates", "\"asynchronous\"", "it says nothing here"};

}  // namespace

const FieldTable<Synchronisation>& synchronisation_fields() {
  static const FieldTable<Synchronisation> kFields(
      {{"scheme", word(&Synchronisation::scheme),
        R"(By collectives between replicas, whatever is sharded; pushed to servers, which update the
parameters, and pulled from them; or in islands of replicas that average what they learned every so many steps.
see: strategy.zero_stage)"},
       {"servers", whole(&Synchronisation::servers, kServers).where(has_servers, kServersNeeded),
        R"(Servers. Each holds an equal part of every bucket of gradients.
see: parameter_servers.hottest_server)"},
       {"hosts", word(&Synchronisation::hosts).where(has_servers, kServersNeeded),
        R"(Where servers stand: spread evenly over the nodes of the job, whose NICs they share; or one a node
on those behind it.
limits: apart needs as many nodes behind cluster.job_nodes
see: cluster.job_nodes)"},
       {"updates",
        word(&Synchronisation::asynchronous, kUpdates).where(has_servers, kServersNeeded),
        R"(Whether the parameters are updated once all workers' gradients of a step are added up, or with each
worker's by themselves.
see: parameter_servers.staleness)"},
       {"backup_workers",
        whole(&Synchronisation::backup_workers, kWorkers).where(has_steps, kStepsNeeded),
        R"(Workers whose gradients a synchronous step does not wait for; what comes late is dropped. Of
federated rounds: clients that are sampled beyond those it takes, for the slow and for drop-outs.
limits: fewer than workers
see: Chen et al. 2016 (arXiv:1604.00981); Bonawitz et al. 2019 (arXiv:1902.01046): 0.3 of those it takes)"},
       {"staleness_bound",
        whole(&Synchronisation::staleness_bound, kWorkers).where(has_no_steps, kNoStepsNeeded),
        R"(By how many steps an asynchronous worker may be ahead of the slowest; 0 lets none be ahead.
see: Ho et al. 2013 (NIPS, stale synchronous parallel))"},
       {"push_every",
        whole(&Synchronisation::push_every, kSteps).where(has_servers, kServersNeeded),
        R"(Steps of its own, with an optimizer of its own, that a worker takes between two pushes of what it
learned in them: synchronous, rounds of federated averaging; asynchronous, DiLoCo without waiting. What so few
updates, and stale ones, cost in loss is not modelled.
see: McMahan et al. 2017 (arXiv:1602.05629); Liu et al. 2024 (arXiv:2401.09135))"},
       {"push_bits",
        number(&Synchronisation::push_bits, kPushedBits).where(has_servers, kServersNeeded),
        R"(Of a parameter on its way to servers, secure aggregation's masks and shares included. Left out: of
strategy.gradient_precision.
see: Bonawitz et al. 2017 (CCS, secure aggregation): 1.73 x 16 of 2^10 clients)"},
       {"pull_bits",
        number(&Synchronisation::pull_bits, kPushedBits).where(has_servers, kServersNeeded),
        R"(Of a parameter on its way back to workers. Left out: of strategy.precision.)"},
       {"uplink", quantity(&Synchronisation::uplink, positive()).where(has_servers, kServersNeeded),
        R"(What the connection of an accelerator to all servers together carries, as of clients at home. Left
out: what the fabric does.
see: cluster.topology)"},
       {"downlink",
        quantity(&Synchronisation::downlink, positive()).where(has_servers, kServersNeeded),
        R"(The same of the connection back.)"},
       {"local_reduction",
        flag(&Synchronisation::local_reduction).where(has_servers, kServersNeeded),
        R"(Whether the accelerators of a scale-up domain add up their gradients first and are one worker, each
pushing its part.
see: Jiang et al. 2020 (OSDI, BytePS))"},
       {"every", whole(&Synchronisation::every, kSteps).where(is_local, kLocalNeeded),
        R"(Steps from one average of the islands to the next. What so few averages cost in loss is not
modelled.
see: Douillard et al. 2023 (arXiv:2311.08105, DiLoCo))"},
       {"islands", whole(&Synchronisation::islands, kWorkers).where(is_local, kLocalNeeded),
        R"(Groups of data-parallel replicas, next to each other, which exchange gradients at every step. 0: each
replica is an island.
limits: divides data_parallel)"},
       {"bits", number(&Synchronisation::bits, kBits).where(is_local, kLocalNeeded),
        R"(Of a parameter on its way between islands.
see: Jaghouar et al. 2024 (arXiv:2412.01152, INTELLECT-1): 8)"},
       {"fragments", whole(&Synchronisation::fragments, kSteps).where(is_local, kLocalNeeded),
        R"(Parts of the model, each averaged by itself at its own step of a period.
limits: at most every
see: Douillard et al. 2025 (arXiv:2501.18512, Streaming DiLoCo))"},
       {"overlap_steps",
        number(&Synchronisation::overlap_steps, kOverlap).where(is_local, kLocalNeeded),
        R"(Steps that islands take while an average is under way, before they need it. 0: they wait for it;
less than 1: layers are averaged from within the last step before it, as soon as each is updated.
limits: fragments x overlap_steps is at most every)"}});
  return kFields;
}

Synchronisation read_synchronisation(ObjectReader& strategy, const Synchronisation& habits) {
  return read_part(strategy, "synchronisation", synchronisation_fields(), habits,
                   habits.scheme == SynchronisationScheme::all_reduce);
}

}  // namespace headway
