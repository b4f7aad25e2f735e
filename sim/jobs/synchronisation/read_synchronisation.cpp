#include "sim/jobs/synchronisation/read_synchronisation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

constexpr Word<bool> kUpdates[] = {{"synchronous", false}, {"asynchronous", true}};
constexpr Range kServers = between(1, 100'000);
constexpr Range kWorkers = between(0, 1'000'000);

bool has_servers(const Synchronisation& by) { return by.by_servers(); }
bool has_steps(const Synchronisation& by) { return by.by_servers() && !by.asynchronous; }
bool has_no_steps(const Synchronisation& by) { return by.by_servers() && by.asynchronous; }

constexpr FieldNeed kServersNeeded = {"scheme", "\"parameter_server\"", "it says nothing here"};
constexpr FieldNeed kStepsNeeded = {"updates", "\"synchronous\"", "it says nothing here"};
constexpr FieldNeed kNoStepsNeeded = {"updates", "\"asynchronous\"", "it says nothing here"};

FieldMember<Synchronisation> staleness_bound() {
  return {.type = whole_type(kWorkers),
          .read =
              [](ObjectReader& reader, std::string_view key, bool, Synchronisation& by) {
                if (reader.has(key)) {
                  by.staleness_bound = static_cast<int>(reader.integer(key, kWorkers));
                }
              },
          .write =
              [](const Synchronisation& by) {
                return by.staleness_bound ? json_of(static_cast<std::int64_t>(*by.staleness_bound))
                                          : JsonValue();
              }};
}

}  // namespace

const FieldTable<Synchronisation>& synchronisation_fields() {
  static const FieldTable<Synchronisation> kFields(
      {{"scheme", word(&Synchronisation::scheme),
        R"(By collectives between replicas, whatever is sharded; or pushed to servers, which update the
parameters, and pulled from them.
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
        R"(Workers whose gradients a synchronous step does not wait for; what comes late is dropped.
limits: fewer than workers
see: Chen et al. 2016 (arXiv:1604.00981))"},
       {"staleness_bound", staleness_bound().where(has_no_steps, kNoStepsNeeded),
        R"(By how many steps an asynchronous worker may be ahead of the slowest; 0 lets none be ahead.
see: Ho et al. 2013 (NIPS, stale synchronous parallel)
default: none)"},
       {"local_reduction",
        flag(&Synchronisation::local_reduction).where(has_servers, kServersNeeded),
        R"(Whether the accelerators of a scale-up domain add up their gradients first and are one worker, each
pushing its part.
see: Jiang et al. 2020 (OSDI, BytePS))"}});
  return kFields;
}

Synchronisation read_synchronisation(ObjectReader& strategy, const Synchronisation& habits) {
  const std::optional<JsonCursor> given = strategy.part("synchronisation");
  if (!given && !habits.by_servers()) return habits;
  const JsonCursor object =
      given ? *given
            : JsonCursor(JsonDocument::parse("synchronisation", "{}", strategy.diagnostics()));
  ObjectReader reader(object, strategy.diagnostics());
  Synchronisation read = habits;
  synchronisation_fields().read(reader, read);
  for (const auto& [name, member, notes] : synchronisation_fields().fields()) {
    if (!member.is_used || member.is_used(read) || !reader.has(name)) continue;
    reader.report(
        name, fmt::format("{} needs {} {}", name, member.need.field, member.need.value),
        std::string(member.need.why),
        fmt::format("leave it out, or set {} to {}", member.need.field, member.need.value));
  }
  nlohmann::json resolved = reader.finish();
  synchronisation_fields().write(read, resolved);
  strategy.resolve("synchronisation", std::move(resolved));
  return read;
}

}  // namespace headway
