#include "sim/scenario/read_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/quantity_text.h"
#include "sim/files/json_objects.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

constexpr double kMostLostNodes = 1'000'000;

constexpr Word<FailureUnit> kUnits[] = {
    {"gpu", FailureUnit::gpu},   {"node", FailureUnit::node},
    {"nic", FailureUnit::nic},   {"switch", FailureUnit::network_switch},
    {"rack", FailureUnit::rack}, {"software", FailureUnit::software}};
constexpr Word<LifetimeKind> kLifetimes[] = {{"exponential", LifetimeKind::exponential},
                                             {"weibull", LifetimeKind::weibull},
                                             {"empirical", LifetimeKind::empirical}};

/// How many there are of each unit.
class UnitCounts {
 public:
  UnitCounts(const ReliableJob& job, int nodes, int nodes_per_rack)
      : job_(job), nodes_(nodes), nodes_per_rack_(nodes_per_rack) {}

  [[nodiscard]] int of(FailureUnit unit) const {
    switch (unit) {
      case FailureUnit::gpu:
        return job_.strategy.ranks();
      case FailureUnit::node:
        return nodes_;
      case FailureUnit::nic:
        return nodes_ * job_.cluster.node_type.nics;
      case FailureUnit::network_switch:
        return job_.cluster.topology.switch_count();
      case FailureUnit::rack:
        return (nodes_ + nodes_per_rack_ - 1) / nodes_per_rack_;
      case FailureUnit::software:
        return 1;
    }
    HEADWAY_CHECK(false, "unknown unit");
  }
  /// Nodes that are gone with one.
  [[nodiscard]] int nodes_of(FailureUnit unit) const {
    if (unit == FailureUnit::rack) return nodes_per_rack_;
    return unit == FailureUnit::software || unit == FailureUnit::network_switch ? 0 : 1;
  }

 private:
  const ReliableJob& job_;
  int nodes_;
  int nodes_per_rack_;
};

std::vector<Seconds> read_observed(ObjectReader& reader) {
  std::vector<Seconds> observed;
  nlohmann::json resolved = nlohmann::json::array();
  for (const JsonCursor& element : reader.elements("times")) {
    resolved.push_back(element.value());
    const auto text = element.text().value_or("");
    const auto parsed = parse_quantity<Seconds>(text);
    if (const auto* problem = std::get_if<QuantityProblem>(&parsed)) {
      reader.diagnostics().add(element.problem(problem->problem, "", problem->help));
    } else if (std::get<Seconds>(parsed) <= Seconds(0.0)) {
      reader.diagnostics().add(
          element.problem("a time between failures is more than 0", "", "leave it out"));
    } else {
      observed.push_back(std::get<Seconds>(parsed));
    }
  }
  reader.resolve("times", resolved);
  if (observed.empty() && !reader.diagnostics().has_errors()) {
    reader.report("times", "an empirical distribution needs observed times", "",
                  R"(write "times": ["20 h", "31 h"])");
  }
  return observed;
}

FieldMember<Lifetime> observed_times() {
  return {.type = array_type(quantity_type<Seconds>({}), "texts with a unit: time"),
          .read =
              [](ObjectReader& reader, std::string_view, bool, Lifetime& lifetime) {
                lifetime.observed = read_observed(reader);
                for (const Seconds time : lifetime.observed) lifetime.mean += time;
                const auto count = std::max<std::size_t>(1, lifetime.observed.size());
                lifetime.mean = lifetime.mean / static_cast<double>(count);
              },
          .write = [](const Lifetime&) { return JsonValue(); }};  // resolved as it is read
}

bool is_observed(const FailureCause& cause) {
  return cause.lifetime.kind == LifetimeKind::empirical;
}
bool is_drawn(const FailureCause& cause) { return !is_observed(cause); }
bool is_weibull(const FailureCause& cause) { return cause.lifetime.kind == LifetimeKind::weibull; }
bool takes_nodes(const FailureCause& cause) { return cause.nodes_lost > 0; }

const FieldTable<FailureCause>& failure_fields() {
  const auto of_lifetime = [](const FieldMember<Lifetime>& member) {
    return within(&FailureCause::lifetime, member);
  };
  static const FieldTable<FailureCause> kFields(
      {{"cause", text(&FailureCause::name).required(), "Its name in the result."},
       {"of", word(&FailureCause::unit, kUnits).required(),
        R"(What breaks. There are as many as the job's nodes bring along, all switches of the fabric,
and one software.)"},
       {"distribution", of_lifetime(word(&Lifetime::kind, kLifetimes)),
        R"(How the time until one of them breaks is distributed. All are new at the start, and a
replacement is new.)"},
       {"mean_time",
        of_lifetime(quantity(&Lifetime::mean, positive()))
            .required_as(R"("3000 d")")
            .only_where(is_drawn, {"another distribution than", "\"empirical\""}),
        R"(Mean time until one unit breaks (MTBF). Of 419 interruptions in 54 days on 16,384 accelerators it
is 54 d x 16,384 / 419.
default: required, but for empirical)"},
       {"shape",
        of_lifetime(number(&Lifetime::shape, between(0.1, 100.0)))
            .required()
            .only_where(is_weibull, {"distribution", "\"weibull\""}),
        R"(Less than 1 for early failures, more than 1 for wear.
default: required for weibull)"},
       {"times",
        of_lifetime(observed_times())
            .required()
            .only_where(is_observed, {"distribution", "\"empirical\""}),
        R"(Observed times, each as likely.
default: required for empirical)"},
       {"nodes_lost", whole(&FailureCause::nodes_lost, between(0.0, kMostLostNodes)),
        R"(Nodes that have to be replaced before the job goes on.
default: 1 for gpu, node and nic, the rack's nodes, else 0)"},
       {"repair_time",
        quantity(&FailureCause::repair, at_least(0.0))
            .required_as(R"("1 d")")
            .only_where(takes_nodes,
                        {"nodes_lost", "above 0", "nothing is repaired where no node is lost"}),
        R"(Until a lost node is back.
default: required where nodes are lost)"},
       {"notice", quantity(&FailureCause::notice, at_least(0.0)),
        R"(Warning before the end, as spot instances get. If a checkpoint can be taken and stored in
it, no work is lost.)"}});
  return kFields;
}

FailureCause read_cause(ObjectReader& reader, const UnitCounts& counts) {
  FailureCause cause;
  failure_fields().read(reader, cause, [&](std::string_view field, const auto&) {
    if (field == "nodes_lost") cause.nodes_lost = counts.nodes_of(cause.unit);
    return true;
  });
  cause.units = counts.of(cause.unit);
  return cause;
}

}  // namespace

std::vector<FieldDescription> failure_field_descriptions() { return failure_fields().described(); }

std::vector<FailureCause> read_failures(ObjectReader& reader, const ReliableJob& job,
                                        const ReliabilitySettings& settings) {
  const UnitCounts counts(job, settings.nodes, settings.nodes_per_rack);
  std::vector<FailureCause> causes;
  read_objects(reader, "failures",
               [&](ObjectReader& entry) { causes.push_back(read_cause(entry, counts)); });
  return causes;
}

}  // namespace headway
