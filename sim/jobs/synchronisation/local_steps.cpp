#include <fmt/format.h>

#include <algorithm>

#include "sim/base/quantity_text.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/synchronisation/scheme_fields.h"

namespace headway {
namespace {

/// Islands are groups of replicas that work as one, each by itself; every so many steps they
/// average what they learned and an outer optimizer takes a step of it (DiLoCo: Douillard et al.
/// 2023, arXiv:2311.08105).
struct LocalStepSettings {
  int every = 500;     ///< steps from one average of a parameter to the next
  int islands = 0;     ///< 0: each replica is one
  double bits = 32.0;  ///< of a parameter, between islands
  /// Parts of the model that are averaged in turn, spread over the steps (Streaming DiLoCo:
  /// Douillard et al. 2025, arXiv:2501.18512).
  int fragments = 1;
  double overlap_steps = 0.0;  ///< during which an average is under way while islands go on

  /// Averages a step, of a fragment each.
  [[nodiscard]] double averages() const { return static_cast<double>(fragments) / every; }
  /// Share of the steps in which one may be under way.
  [[nodiscard]] double averaging() const { return averages() * overlap_steps; }
  /// Averages may be under way one after the other, each through its steps.
  [[nodiscard]] bool fits_period() const {
    return fragments * std::max(1.0, overlap_steps) <= every;
  }
};

class LocalSteps final : public SynchronisationScheme {
 public:
  LocalStepSettings settings;

  [[nodiscard]] std::string_view name() const override { return "local_steps"; }
  [[nodiscard]] std::string_view brief() const override {
    return "by averages every so many steps";
  }
  [[nodiscard]] std::string_view what() const override {
    return "in islands of replicas that average what they learned every so many steps";
  }
  [[nodiscard]] std::vector<Field<Synchronisation>> fields() const override;
  [[nodiscard]] std::vector<StrategyRule> rules() const override;

  /// A job of fewer replicas than islands, as a smaller one to compare with is, has one of each.
  [[nodiscard]] int islands(int data_parallel) const override {
    return settings.islands > 0 ? std::min(settings.islands, data_parallel) : data_parallel;
  }
  /// Each average, of whichever fragment, is waited for.
  [[nodiscard]] int steps_apart() const override {
    return std::max(1, settings.every / settings.fragments);
  }
  [[nodiscard]] std::vector<ReplicaExchange> exchanges(const Strategy& strategy) const override;
  /// The last average and the momentum of the outer steps, in fp32.
  [[nodiscard]] double kept_bytes() const override { return 8.0; }
  [[nodiscard]] std::string work_text(const Strategy& strategy) const override {
    if (strategy.islands() == 1) return {};
    return fmt::format(", {} of {}", counted(strategy.islands(), "island"),
                       counted(settings.every, "local step"));
  }
  [[nodiscard]] std::vector<std::string> notes(const Strategy& strategy) const override {
    if (strategy.islands() == 1) return {};
    return {
        "an iteration is the average one of a period of local steps: what islands lose "
        "in loss by them is not counted, and slow episodes and pauses are as if they met at every "
        "one"};
  }
};

/// In a period of H steps (`every`) islands average P fragments, each X long on its way: an
/// iteration has P/H of an average's bytes and latency. Without overlap it waits for it and takes
/// X P/H longer. With averages under way beside tau steps each, which is f = P tau/H of the steps,
/// it waits for what f of an iteration does not hide:
///
///   max(0, X P/H - f T)      (Douillard et al. 2025, arXiv:2501.18512, sections 2.2 and 2.3)
///
/// So the average begins when 1 - f of the program's compute is done. Each rank of an island
/// exchanges its part of what the stage trains, takes the outer step of it, and where every rank
/// needs all of it, they are put together in the island.
std::vector<ReplicaExchange> LocalSteps::exchanges(const Strategy& strategy) const {
  if (strategy.islands() == 1) return {};
  std::vector<ReplicaExchange> all = {{.name = "average of islands",
                                       .among = ExchangeAmong::islands,
                                       .kind = CollectiveKind::all_reduce,
                                       .bits = settings.bits,
                                       .pieces = settings.fragments,
                                       .times = settings.averages(),
                                       .begin = 1.0 - settings.averaging(),
                                       .updated_every = settings.every}};
  if (strategy.replicas() > 1 && strategy.sharding == Sharding::none) {
    all.push_back({.name = "average in an island",
                   .among = ExchangeAmong::island,
                   .kind = CollectiveKind::all_gather,
                   .bits = 8.0 * working_bytes_per_element(strategy.precision),
                   .pieces = settings.fragments,
                   .times = settings.averages()});
  }
  return all;
}

std::vector<Field<Synchronisation>> LocalSteps::fields() const {
  constexpr Range kSteps = between(1, 1'000'000);
  return fields_of<LocalSteps>(FieldTable<LocalStepSettings>(
      {{"every", whole(&LocalStepSettings::every, kSteps),
        R"(Steps from one average of the islands to the next. What so few averages cost in loss is not
modelled.
see: Douillard et al. 2023 (arXiv:2311.08105, DiLoCo))"},
       {"islands", whole(&LocalStepSettings::islands, between(0, 1'000'000)),
        R"(Groups of data-parallel replicas, next to each other, which exchange gradients at every step. 0: each
replica is an island.
limits: divides data_parallel)"},
       {"bits", number(&LocalStepSettings::bits, between(1, 64)),
        R"(Of a parameter on its way between islands.
see: Jaghouar et al. 2024 (arXiv:2412.01152, INTELLECT-1): 8)"},
       {"fragments", whole(&LocalStepSettings::fragments, kSteps),
        R"(Parts of the model, each averaged by itself at its own step of a period.
limits: at most every
see: Douillard et al. 2025 (arXiv:2501.18512, Streaming DiLoCo))"},
       {"overlap_steps", number(&LocalStepSettings::overlap_steps, between(0.0, 1'000'000.0)),
        R"(Steps that islands take while an average is under way, before they need it. 0: they wait for it;
less than 1: layers are averaged from within the last step before it, as soon as each is updated.
limits: fragments x overlap_steps is at most every)"}}));
}

/// Nothing of a job by another scheme.
const LocalStepSettings* local_steps_of(const Strategy& job) {
  const auto* scheme = dynamic_cast<const LocalSteps*>(job.synchronisation.scheme.get());
  return scheme == nullptr ? nullptr : &scheme->settings;
}

std::vector<StrategyRule> LocalSteps::rules() const {
  return {
      {.fields = {"synchronisation"},
       .besides = {"data_parallel"},
       .words = "local steps need two islands at least",
       .why = "a single one has nobody to meet",
       .help = "raise islands or data_parallel, or set synchronisation.scheme to \"all_reduce\"",
       .holds =
           [](Layout job) {
             const LocalStepSettings* how = local_steps_of(job);
             return how == nullptr || how->islands > 1 || job->islands() > 1;
           }},
      {.fields = {"synchronisation"},
       .besides = {"data_parallel"},
       .words = "islands must divide data_parallel",
       .holds =
           [](Layout job) {
             const LocalStepSettings* how = local_steps_of(job);
             return how == nullptr || how->islands == 0 ||
                    divides(how->islands, job->data_parallel);
           },
       .broken = [](Layout job) -> BrokenRule {
         const int islands = local_steps_of(job)->islands;
         return {fmt::format("{} islands of {} replicas", islands, job->data_parallel),
                 nearest_help(islands, job->data_parallel, [&](std::int64_t count) {
                   return divides(count, job->data_parallel);
                 })};
       }},
      {.fields = {"synchronisation"},
       .words = "fragments x overlap_steps must be at most every",
       .why = "an average has to end before the next one of its fragment begins",
       .holds =
           [](Layout job) {
             const LocalStepSettings* how = local_steps_of(job);
             return how == nullptr || how->fits_period();
           },
       .broken = [](Layout job) -> BrokenRule {
         const LocalStepSettings& how = *local_steps_of(job);
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
             return local_steps_of(job) == nullptr || job->shard_ranks() == job->replicas();
           }},
      {.fields = {"schedule", "synchronisation"},
       .words = "schedules with two copies of the model do not go with local steps",
       .why = "which copy is averaged with which is not modelled",
       .help = "use another schedule",
       .holds =
           [](Layout job) {
             return local_steps_of(job) == nullptr || !job->schedule->is_doubled();
           }},
      {.fields = {"synchronisation"},
       .words = "mixtures of experts do not go with local steps",
       .why = "experts that islands share are not modelled",
       .help = "set synchronisation.scheme to \"all_reduce\"",
       .holds = [](Layout job) { return local_steps_of(job) == nullptr || !job.model.routing(); }},
  };
}

}  // namespace

/// Groups of replicas meet every so many steps only (Stich 2018, arXiv:1805.09767).
SynchronisationPointer local_steps() { return std::make_shared<LocalSteps>(); }

}  // namespace headway
