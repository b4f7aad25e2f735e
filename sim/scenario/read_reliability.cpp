#include "sim/scenario/read_reliability.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/files/json_objects.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/scenario/read_checkpoint.h"

namespace headway {
namespace {

constexpr double kMostRuns = 100'000;
constexpr double kMostLostNodes = 1'000'000;
constexpr int kDefaultRuns = 200;

constexpr std::array<std::pair<std::string_view, FailureUnit>, 6> kUnits{{
    {"gpu", FailureUnit::gpu},
    {"node", FailureUnit::node},
    {"nic", FailureUnit::nic},
    {"switch", FailureUnit::network_switch},
    {"rack", FailureUnit::rack},
    {"software", FailureUnit::software},
}};
constexpr std::array<std::pair<std::string_view, LifetimeKind>, 3> kLifetimes{{
    {"exponential", LifetimeKind::exponential},
    {"weibull", LifetimeKind::weibull},
    {"empirical", LifetimeKind::empirical},
}};

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
    const auto text =
        element.value().is_string() ? element.value().get<std::string>() : std::string();
    const auto parsed = parse_quantity<Seconds>(text);
    if (const auto* problem = std::get_if<QuantityProblem>(&parsed)) {
      reader.diagnostics().add(element.problem(problem->problem, "", problem->help));
    } else if (std::get<Seconds>(parsed) <= Seconds(0.0)) {
      reader.diagnostics().add(element.problem("a time between failures is more than 0"));
    } else {
      observed.push_back(std::get<Seconds>(parsed));
    }
  }
  reader.resolve("times", resolved);
  return observed;
}

Lifetime read_lifetime(ObjectReader& reader) {
  Lifetime lifetime;
  lifetime.kind = reader.choice<LifetimeKind>("distribution", kLifetimes, lifetime.kind);
  if (lifetime.kind == LifetimeKind::empirical) {
    lifetime.observed = read_observed(reader);
    if (lifetime.observed.empty() && !reader.diagnostics().has_errors()) {
      reader.report("times", "an empirical distribution needs observed times", "",
                    R"(write "times": ["20 h", "31 h"])");
    }
    for (const Seconds time : lifetime.observed) lifetime.mean += time;
    const double count = static_cast<double>(std::max<std::size_t>(1, lifetime.observed.size()));
    lifetime.mean = lifetime.mean / count;
  } else {
    lifetime.mean = reader.quantity<Seconds>("mean_time", positive());
  }
  if (lifetime.kind == LifetimeKind::weibull) {
    lifetime.shape = reader.number("shape", {.least = 0.1, .most = 100.0});
  }
  return lifetime;
}

FailureCause read_cause(ObjectReader& reader, const UnitCounts& counts) {
  FailureCause cause;
  cause.name = reader.text("cause");
  cause.unit = reader.choice<FailureUnit>("of", kUnits);
  cause.lifetime = read_lifetime(reader);
  cause.units = counts.of(cause.unit);
  cause.nodes_lost = static_cast<int>(
      reader.integer("nodes_lost", between(0.0, kMostLostNodes), counts.nodes_of(cause.unit)));
  if (cause.nodes_lost > 0) {
    cause.repair = reader.quantity<Seconds>("repair_time", at_least(0.0));
  } else if (reader.has("repair_time")) {
    reader.report("repair_time", "nothing is repaired where no node is lost", "nodes_lost is 0");
    static_cast<void>(reader.part("repair_time"));
  }
  cause.notice = reader.quantity<Seconds>("notice", at_least(0.0), Seconds(0.0));
  return cause;
}

void read_goal(ObjectReader& reader, ReliabilitySettings& settings) {
  if (reader.has("train_tokens")) settings.train_tokens = reader.number("train_tokens", positive());
  if (reader.has("duration")) settings.duration = reader.quantity<Seconds>("duration", positive());
  if (settings.train_tokens.has_value() != settings.duration.has_value()) {
    static_cast<void>(reader.part(settings.duration ? "train_tokens" : "duration"));
    return;
  }
  static_cast<void>(reader.part("train_tokens"));
  static_cast<void>(reader.part("duration"));
  reader.report(settings.duration ? "duration" : "train_tokens",
                settings.duration ? "train_tokens and duration both say when the run ends"
                                  : "nothing says when the run ends",
                "", "give train_tokens, or duration");
}

/// Whole copies of what is trained, experts and optimizer states included, that a job keeps.
int copies_of_state(const Strategy& strategy) {
  const int sharing =
      strategy.sharding == Sharding::none ? 1 : strategy.replicas() / strategy.shard_ranks();
  const int copies = strategy.sharding == Sharding::none ? strategy.data_parallel : sharing;
  return std::max(1, std::min({copies, strategy.data_parallel, strategy.expert_replicas()}));
}

void read_recovery(ObjectReader& reader, const Strategy& strategy, int accelerators,
                   ReliabilitySettings& settings) {
  static const std::vector<Word<const Recovery*>> kMethods = [] {
    std::vector<Word<const Recovery*>> words;
    for (const Recovery& recovery : recoveries()) words.emplace_back(recovery.name, &recovery);
    return words;
  }();
  const auto part = reader.part("recovery");
  const auto empty = JsonDocument::parse("recovery", "{}", reader.diagnostics());
  ObjectReader entry(part ? *part : JsonCursor(empty), reader.diagnostics());
  const auto named = [](std::string_view name) {
    return &*std::ranges::find(recoveries(), name, &Recovery::name);
  };
  // An older word for one of them.
  const bool is_elastic = reader.flag("elastic", false);
  settings.recovery = entry.choice<const Recovery*>(
      "method", kMethods, is_elastic ? named("shrink") : settings.recovery);
  if (is_elastic && settings.recovery != named("shrink")) {
    reader.report("elastic", "an elastic job shrinks, and recovery.method says otherwise",
                  fmt::format("it is \"{}\"", settings.recovery->name), "leave elastic out");
  }
  const Recovery& recovery = *settings.recovery;
  settings.replicas = recovery.in_place ? copies_of_state(strategy) : strategy.data_parallel;
  settings.nodes_per_replica =
      static_cast<double>(strategy.ranks()) / settings.replicas / accelerators;
  settings.pipelines = strategy.data_parallel;
  settings.stages = strategy.pipeline_parallel;
  settings.micro_batches = static_cast<double>(strategy.micro_batches());
  const std::string_view obstacle = recovery.obstacle ? recovery.obstacle(settings) : "";
  if (!obstacle.empty()) {
    entry.report("method", fmt::format("this job cannot recover so: {}", obstacle), "",
                 "take \"restart\", or another strategy");
  }
  for (const char* of_places : {"reconfigure", "state_bandwidth"}) {
    if (recovery.in_place) continue;
    if (entry.has(of_places)) {
      entry.report(of_places, "only a job that goes on in place has this",
                   fmt::format("the method is {}", recovery.name));
    }
    static_cast<void>(entry.part(of_places));
  }
  if (recovery.in_place) {
    settings.reconfigure = entry.quantity<Seconds>("reconfigure", at_least(0.0));
    settings.state_bandwidth = entry.quantity<BytesPerSecond>("state_bandwidth", positive());
  }
  const double overhead = recovery.overhead ? recovery.overhead(settings) : 0.0;
  settings.step_overhead = entry.number("step_overhead", between(0.0, 100.0), overhead);
  reader.resolve("recovery", entry.finish());
}

void read_spot_nodes(ObjectReader& reader, InputFiles& files, ReliabilitySettings& settings) {
  const bool has_record = reader.has("availability");
  auto record = read_availability(reader, files);
  if (!has_record) {
    for (const char* of_spot : {"spot_nodes", "spot_notice"}) {
      if (reader.has(of_spot)) {
        reader.report(of_spot, "nothing is recorded of when spot nodes are there", "",
                      R"(name the record: "availability": "trace.csv")");
      }
      static_cast<void>(reader.part(of_spot));
    }
    return;
  }
  SpotNodes spot;
  spot.nodes = static_cast<int>(
      reader.integer("spot_nodes", between(1, settings.nodes), settings.nodes));
  spot.notice = reader.quantity<Seconds>("spot_notice", at_least(0.0), Seconds(0.0));
  if (!record) return;
  spot.record = std::move(*record);
  int most = 0;
  for (const auto& step : spot.record.steps) most = std::max(most, std::min(step.nodes, spot.nodes));
  if (settings.recovery->speed(settings, spot.nodes - most) <= 0.0) {
    reader.report("availability", "the job never has the nodes that it needs",
                  fmt::format("{} at most of the {} spot nodes", most, spot.nodes),
                  "take fewer spot_nodes, or a recovery that does with fewer nodes");
  }
  settings.spot = std::move(spot);
}

}  // namespace

Bytes checkpoint_bytes(const Model& model, const Strategy& strategy) {
  constexpr double kParameter = 2.0;
  constexpr double kOptimizer = 12.0;
  double bytes = 0.0;
  for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
    const StageParameters of_rank = stage_parameters(model, strategy, stage);
    const double all =
        of_rank.shared() * strategy.tensor_parallel + of_rank.experts * strategy.expert_group();
    const double trained = trained_parameters(of_rank, strategy) / of_rank.total();
    bytes += all * (kParameter + kOptimizer * trained);
  }
  return Bytes(bytes);
}

std::optional<ReliabilitySettings> read_reliability(ObjectReader& scenario,
                                                    const ReliableJob& job, InputFiles& files) {
  const std::optional<JsonCursor> part = scenario.part("reliability");
  if (!part) return std::nullopt;
  Diagnostics& diagnostics = scenario.diagnostics();
  const std::size_t problems = diagnostics.all().size();
  ObjectReader reader(*part, diagnostics);
  ReliabilitySettings settings;
  const int accelerators = job.cluster.node_type.accelerators;
  settings.nodes = (job.strategy.ranks() + accelerators - 1) / accelerators;
  read_goal(reader, settings);
  settings.runs = static_cast<int>(reader.integer("runs", between(1, kMostRuns), kDefaultRuns));
  settings.detection = reader.quantity<Seconds>("detection", at_least(0.0));
  settings.restart = reader.quantity<Seconds>("restart", at_least(0.0));
  settings.warm_up = reader.quantity<Seconds>("warm_up", at_least(0.0), Seconds(0.0));
  settings.reprovision = Seconds(std::numeric_limits<double>::infinity());
  if (reader.has("reprovision")) {
    settings.reprovision = reader.quantity<Seconds>("reprovision", at_least(0.0));
  } else {
    static_cast<void>(reader.part("reprovision"));
  }
  settings.spare_nodes =
      static_cast<int>(reader.integer("spare_nodes", between(0.0, kMostLostNodes), 0));
  const int nodes_per_rack =
      static_cast<int>(reader.integer("nodes_per_rack", between(1, kMostLostNodes), 1));
  const UnitCounts counts(job, settings.nodes, nodes_per_rack);
  read_objects(reader, "failures",
               [&](ObjectReader& entry) { settings.causes.push_back(read_cause(entry, counts)); });
  if (const auto checkpoint = reader.required_part("checkpoint")) {
    ObjectReader entry(*checkpoint, diagnostics);
    settings.checkpoint = read_checkpoint(entry, job, settings.nodes);
    reader.resolve("checkpoint", entry.finish());
  }
  read_recovery(reader, job.strategy, accelerators, settings);
  read_spot_nodes(reader, files, settings);
  scenario.resolve("reliability", reader.finish());
  if (diagnostics.all().size() != problems) return std::nullopt;
  return settings;
}

}  // namespace headway
