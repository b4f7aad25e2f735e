#include "sim/scenario/read_reliability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/quantity_text.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/jobs/step_flops.h"
#include "sim/scenario/read_failures.h"
#include "sim/scenario/recovery/failure_count.h"
#include "sim/scenario/recovery/read_checkpoint.h"

namespace headway {
namespace {

constexpr Range kTrainedTokens{.least = 0.0, .most = 1e18, .open = true};
constexpr double kMostRuns = 100'000;
constexpr double kMostSpareNodes = 1'000'000;

void check_end(ObjectReader& reader, const ReliabilitySettings& settings) {
  if (settings.train_tokens.has_value() != settings.duration.has_value()) return;
  reader.report(settings.duration ? "duration" : "train_tokens",
                settings.duration ? "train_tokens and duration both say when the run ends"
                                  : "nothing says when the run ends",
                "", "give train_tokens, or duration; `headway plan` takes those of its goal");
}

bool is_in_place(const ReliabilitySettings& settings) { return settings.recovery->in_place; }
bool orders_nodes(const ReliabilitySettings& settings) {
  return std::isfinite(settings.reprovision.count());
}

const FieldTable<ReliabilitySettings>& recovery_fields() {
  static const std::vector<Word<const Recovery*>> kMethods = [] {
    std::vector<Word<const Recovery*>> words;
    for (const Recovery& recovery : recoveries()) words.emplace_back(recovery.name, &recovery);
    return words;
  }();
  constexpr FieldNeed kInPlace{"a method", "in place", "only a job that goes on in place has this"};
  static const FieldTable<ReliabilitySettings> kFields(
      {{"method", word(&ReliabilitySettings::recovery, kMethods),
        R"(A restart from the last checkpoint with as many nodes as before; one with fewer replicas
where no spare is left, and again when nodes are back; in place, from the last step: replicas that
break drop out and join again, nodes of a pipeline do the work of the next one too, or what lost
nodes held moves to spare ones.
limits: in place fewer nodes work with whole copies of the state only: none is sharded over all
replicas
see: PyTorch's torchrun; TorchFT; Bamboo (Thorpe et al. 2023, NSDI))"},
       {"reconfigure",
        quantity(&ReliabilitySettings::reconfigure, at_least(0.0))
            .required_as(R"("1 min")")
            .only_where(is_in_place, kInPlace),
        R"(What everybody stands still for to go on in another formation, once a failure is detected,
and again when nodes join.
default: required in place)"},
       {"state_bandwidth",
        quantity(&ReliabilitySettings::state_bandwidth, positive())
            .required()
            .only_where(is_in_place, kInPlace),
        R"(At which a node gets its part of a copy of the state: the checkpoint's size over the nodes
of a copy.
see: reliability.checkpoint.size
default: required in place)"},
       {"step_overhead", number(&ReliabilitySettings::step_overhead, between(0.0, 100.0)),
        R"(What every step takes more, as a share: exchanges that go another way so that a part may
drop out, or the forward pass of the next node as far as bubbles do not hide it.
default: 0; for a redundant pipeline by closed form)"}});
  return kFields;
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
  const auto part = reader.part("recovery");
  const auto empty = JsonDocument::parse("recovery", "{}", reader.diagnostics());
  ObjectReader entry(part ? *part : JsonCursor(empty), reader.diagnostics());
  const Recovery* const shrink = &*std::ranges::find(recoveries(), "shrink", &Recovery::name);
  // An older word for one of them.
  const bool is_elastic = reader.flag("elastic", false);
  if (is_elastic) settings.recovery = shrink;
  recovery_fields().read(entry, settings, [&](std::string_view field, const auto&) {
    if (field != "reconfigure") return true;
    const std::string_view obstacle = recovery_obstacle(strategy, accelerators, settings);
    if (!obstacle.empty()) {
      entry.report("method", fmt::format("this job cannot recover so: {}", obstacle), "",
                   "take \"restart\", or another strategy");
    }
    const auto overhead = settings.recovery->overhead;
    settings.step_overhead = overhead != nullptr ? overhead(settings) : 0.0;
    return true;
  });
  if (is_elastic && settings.recovery != shrink) {
    reader.report("elastic", "an elastic job shrinks, and recovery.method says otherwise",
                  fmt::format("it is \"{}\"", settings.recovery->name), "leave elastic out");
  }
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
  spot.nodes =
      static_cast<int>(reader.integer("spot_nodes", between(1, settings.nodes), settings.nodes));
  spot.notice = reader.quantity<Seconds>("spot_notice", at_least(0.0), Seconds(0.0));
  if (!record) return;
  spot.record = std::move(*record);
  int most = 0;
  for (const auto& step : spot.record.steps)
    most = std::max(most, std::min(step.nodes, spot.nodes));
  if (settings.recovery->speed(settings, spot.nodes - most) <= 0.0) {
    reader.report("availability", "the job never has the nodes that it needs",
                  fmt::format("{} at most of the {} spot nodes", most, spot.nodes),
                  "take fewer spot_nodes, or a recovery that does with fewer nodes");
  }
  settings.spot = std::move(spot);
}

/// The run takes so long at least: all of its operations at the peak.
Seconds least_length(const ReliabilitySettings& settings, const ReliableJob& job) {
  if (settings.duration) return *settings.duration;
  if (job.peak <= FlopsPerSecond(0.0)) return Seconds(0.0);
  const Strategy& strategy = job.strategy;
  const double tokens_of_step =
      static_cast<double>(strategy.global_batch) * static_cast<double>(strategy.sequence_length);
  const Flops work =
      (*settings.train_tokens / tokens_of_step) * step_flops(job.model, strategy).model;
  return work / (strategy.ranks() * job.peak);
}

/// Before anything is searched or simulated.
void check_failure_count(ObjectReader& reader, const ReliabilitySettings& settings,
                         const ReliableJob& job) {
  auto problem = too_many_failures(settings.causes, least_length(settings, job), settings.runs);
  if (!problem) return;
  problem->location = reader.cursor().document().value_location(problem->pointer);
  reader.diagnostics().add(std::move(*problem));
}

}  // namespace

const FieldTable<ReliabilitySettings>& reliability_fields() {
  using Settings = ReliabilitySettings;
  static const FieldTable<Settings> kFields(
      {{"train_tokens", number(&Settings::train_tokens, kTrainedTokens),
        R"(The run ends when so many tokens are trained (of a model without tokens samples: images,
rows), and the result says how long that takes.
limits: either this or duration)"},
       {"duration", quantity(&Settings::duration, positive()),
        R"(The run ends after this time, and the result says what was reached.
limits: either this or train_tokens)"},
       {"runs", whole(&Settings::runs, between(1, kMostRuns)), "Histories that are drawn."},
       {"detection", quantity(&Settings::detection, at_least(0.0)).required_as(R"("5 min")"),
        "From a failure until the job is stopped."},
       {"restart", quantity(&Settings::restart, at_least(0.0)).required_as(R"("10 min")"),
        "To schedule the job and start its processes; loading a checkpoint comes on top."},
       {"warm_up", quantity(&Settings::warm_up, at_least(0.0)),
        "What the first iterations after a restart take beyond their normal time."},
       {"reprovision", quantity(&Settings::reprovision, at_least(0.0)).where(orders_nodes),
        R"(Until a new node is there where no spare is left. It takes the place of a broken one, which does
not come back. Without it the job waits for a repair.
default: never)"},
       {"spare_nodes", whole(&Settings::spare_nodes, between(0.0, kMostSpareNodes)),
        R"(Nodes that stand by. A failed node becomes one when it is repaired.
see: long_run.repair)"},
       {"elastic", elsewhere<Settings>(flag_type()),
        R"(Another word for a recovery.method of "shrink".
see: reliability.recovery.method
default: false)"},
       {"recovery", elsewhere<Settings>(object_type()).made_of(recovery_fields().described()),
        R"(How the job gets over what breaks.
see: long_run.recovery
default: a restart)"},
       {"availability",
        elsewhere<Settings>(
            either(text_type(), array_type(array_type(either(text_type(), whole_type(at_least(0))),
                                                      "a time and a number"),
                                           "steps, each a time and a number of nodes"))),
        R"(How many spot nodes there were to be had, as recorded: a line for each step with a time in
seconds and a number of nodes ("21529,4"), from time 0 on; of several at one time the last counts,
and the last line ends the record. It then begins anew; histories begin all over it.
see: long_run.spot)"},
       {"spot_nodes", elsewhere<Settings>(whole_type(at_least(1))),
        R"(Nodes of the job that are there only while the record has that many; the others are there
until they break.
limits: with availability only
default: all)"},
       {"spot_notice", elsewhere<Settings>(quantity_type<Seconds>({})),
        R"(Warning before a spot node is taken back. If a checkpoint can be taken and stored in it,
or in place the step ended, no work is lost.
limits: with availability only
default: "0 s")"},
       {"nodes_per_rack", whole(&Settings::nodes_per_rack, between(1, kMostSpareNodes)),
        "How many nodes go with a rack that fails."},
       {"failures",
        elsewhere<Settings>(array_type(object_type(), "objects"))
            .made_of(failure_field_descriptions()),
        R"(What interrupts the job, each a cause.
see: long_run.interruptions_by_cause
default: [])"},
       {"checkpoint",
        elsewhere<Settings>(object_type()).required().made_of(checkpoint_field_descriptions()),
        R"(How the state of training is kept.
see: long_run.checkpoint)"}});
  return kFields;
}

std::string_view recovery_obstacle(const Strategy& strategy, int node_accelerators,
                                   ReliabilitySettings& settings) {
  const Recovery& recovery = *settings.recovery;
  settings.replicas = recovery.in_place ? copies_of_state(strategy) : strategy.data_parallel;
  settings.nodes_per_replica =
      static_cast<double>(strategy.ranks()) / settings.replicas / node_accelerators;
  settings.pipelines = strategy.data_parallel;
  settings.stages = strategy.pipeline_parallel;
  settings.micro_batches = static_cast<double>(strategy.micro_batches());
  return recovery.obstacle ? recovery.obstacle(settings) : "";
}

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

std::optional<ReliabilitySettings> read_reliability(ObjectReader& scenario, const ReliableJob& job,
                                                    InputFiles& files) {
  const std::optional<JsonCursor> part = scenario.part("reliability");
  if (!part) return std::nullopt;
  Diagnostics& diagnostics = scenario.diagnostics();
  const std::size_t problems = diagnostics.errors();
  ObjectReader reader(*part, diagnostics);
  ReliabilitySettings settings;
  const int accelerators = job.cluster.node_type.accelerators;
  settings.nodes = (job.strategy.ranks() + accelerators - 1) / accelerators;
  settings.reprovision = Seconds(std::numeric_limits<double>::infinity());
  reliability_fields().read(reader, settings);
  if (!settings.train_tokens && !settings.duration) settings.train_tokens = job.train_tokens;
  check_end(reader, settings);
  settings.causes = read_failures(reader, job, settings);
  if (const auto checkpoint =
          reader.required_part("checkpoint", R"({"storage_bandwidth": "10 GB/s"})")) {
    ObjectReader entry(*checkpoint, diagnostics);
    settings.checkpoint = read_checkpoint(entry, job, settings.nodes);
    reader.resolve("checkpoint", entry.finish());
  }
  read_recovery(reader, job.strategy, accelerators, settings);
  read_spot_nodes(reader, files, settings);
  if (diagnostics.errors() == problems) check_failure_count(reader, settings, job);
  scenario.resolve("reliability", reader.finish());
  if (diagnostics.errors() != problems) return std::nullopt;
  return settings;
}

}  // namespace headway
