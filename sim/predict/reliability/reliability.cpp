#include "sim/predict/reliability/reliability.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/predict/reliability/checkpoint_interval.h"
#include "sim/predict/reliability/failure_process.h"
#include "sim/predict/reliability/job_history.h"
#include "sim/predict/reliability/nodes_in_repair.h"

namespace headway {
namespace {

constexpr double kSecondsOfHour = 3600.0;
/// A job that never gets anywhere ends here: this many times what it would take undisturbed.
constexpr double kLongestStretch = 1000.0;
/// A history that draws so many times its share of lifetimes is not unlucky: the others will, too.
/// A job that waits for one of many trials to succeed takes ten times the mean with exp(-10).
constexpr std::int64_t kUnlucky = 10;

/// How often spot nodes are taken back in a round of their record.
int withdrawals(const SpotNodes& spot) {
  const auto& steps = spot.record.steps;
  const std::size_t count = steps.size() - 1;  // the last says when it ends
  int falls = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto there = [&](std::size_t step) { return std::min(steps[step].nodes, spot.nodes); };
    if (there((i + 1) % count) < there(i)) ++falls;
  }
  return falls;
}

Seconds time_between(double per_second) {
  return Seconds(per_second > 0.0 ? 1.0 / per_second : std::numeric_limits<double>::infinity());
}

/// Mean time between failures of the whole job of which there is no warning in time to save what
/// was done; infinite if there are none. Renewal theory: every unit fails once in its mean
/// lifetime. Spot nodes that are taken back count like any.
Seconds sudden_mttf(const ReliabilitySettings& settings) {
  double rate = 0.0;
  for (const FailureCause& cause : settings.causes) {
    if (is_saved_in(cause.notice, settings.checkpoint)) continue;
    rate += cause.units / cause.lifetime.mean.count();
  }
  if (settings.spot && !is_saved_in(settings.spot->notice, settings.checkpoint)) {
    rate += withdrawals(*settings.spot) / settings.spot->record.length().count();
  }
  return time_between(rate);
}

/// What the scenario asks to be done, and how long that may take; seconds.
struct Goal {
  double work = std::numeric_limits<double>::infinity();
  double horizon = std::numeric_limits<double>::infinity();
};

/// Checkpoints that are stored beside steps that read.
struct Storing {
  double time = 0.0;      ///< seconds, of each checkpoint
  double slowdown = 0.0;  ///< what steps take longer meanwhile, as a part of theirs
};

/// One cannot begin before the one before has been stored, and a checkpoint that costs nothing
/// still comes after an iteration at the earliest.
Seconds least_interval(const CheckpointSettings& settings) {
  return max(settings.persisting, Seconds(1.0));
}

class Study {
 public:
  Study(ReliabilitySettings settings, Storing storing, Goal goal, std::uint64_t seed)
      : settings_(std::move(settings)), storing_(storing), goal_(goal), seed_(seed) {}

  /// Throws InputError when all that were asked for together take too long.
  [[nodiscard]] std::vector<JobHistory> histories(Seconds interval) {
    ReliabilitySettings settings = settings_;
    settings.step_overhead += std::min(1.0, storing_.time / interval.count()) * storing_.slowdown;
    const std::int64_t most = kUnlucky * (kMostLifetimes / settings_.runs);
    std::vector<JobHistory> all;
    for (int run = 0; run < settings_.runs; ++run) {
      const HistoryLimits limits{.most_lifetimes = std::min(lifetimes_left_, most),
                                 .record_start = start_of(run)};
      all.push_back(job_history(settings, interval, goal_.work, goal_.horizon,
                                seed_ + static_cast<std::uint64_t>(run), limits));
      lifetimes_left_ -= all.back().lifetimes;
    }
    return all;
  }

  /// Work for each second, with the very same failures for every interval that is tried.
  [[nodiscard]] double pace(Seconds interval) {
    double work = 0.0;
    double wall = 0.0;
    for (const JobHistory& history : histories(interval)) {
      work += history.work();
      wall += history.wall;
    }
    return work / wall;
  }

  /// The interval with the fastest pace: from `around` on to four times it or a quarter, as long as
  /// that is faster, then by ever smaller factors.
  [[nodiscard]] Seconds searched_interval(Seconds around, Seconds least, Seconds most) {
    constexpr double kFirstFactor = 4.0;
    constexpr double kLastFactor = 1.0005;
    Seconds best = std::clamp(around, least, most);
    double best_pace = pace(best);
    double factor = kFirstFactor;
    while (factor > kLastFactor) {
      const Seconds from = best;
      for (const double by : {1.0 / factor, factor}) {
        const Seconds tried = std::clamp(by * from, least, most);
        if (tried == from) continue;
        const double tried_pace = pace(tried);
        if (tried_pace <= best_pace) continue;
        best = tried;
        best_pace = tried_pace;
      }
      if (best == from) factor = std::sqrt(factor);
    }
    return best;
  }

  /// Mean time between setbacks, which take work back; `sudden`: between failures without a
  /// warning. A job that gets over most of them in place is seldom set back: that is counted, on
  /// histories with checkpoints for every failure.
  [[nodiscard]] Seconds time_between_setbacks(Seconds sudden) {
    if (!settings_.recovery->in_place || !std::isfinite(sudden.count())) return sudden;
    const Seconds usual = daly_interval(settings_.checkpoint.blocking, sudden);
    std::int64_t setbacks = 0;
    double wall = 0.0;
    for (const JobHistory& history : histories(max(least_interval(settings_.checkpoint), usual))) {
      setbacks += history.setbacks;
      wall += history.wall;
    }
    return time_between(static_cast<double>(setbacks) / wall);
  }

 private:
  /// Histories begin all over the record of spot nodes, the first with it.
  [[nodiscard]] double start_of(int run) const {
    return settings_.spot ? settings_.spot->record.length().count() * run / settings_.runs : 0.0;
  }

  ReliabilitySettings settings_;
  Storing storing_;
  Goal goal_;
  std::uint64_t seed_;
  std::int64_t lifetimes_left_ = kMostLifetimes;
};

/// Where nothing takes work back nobody would ever checkpoint: the whole run is one interval.
Seconds chosen_interval(const ReliabilityPrediction& prediction, const CheckpointSettings& settings,
                        Seconds setbacks, Study& study, const Goal& goal) {
  if (settings.how == CheckpointSettings::Interval::given) return settings.interval;
  const Seconds whole(std::min(goal.work, goal.horizon));
  const bool is_set_back = std::isfinite(setbacks.count());
  const Seconds least = least_interval(settings);
  switch (settings.how) {
    case CheckpointSettings::Interval::young:
      return is_set_back ? max(least, prediction.young_interval) : whole;
    case CheckpointSettings::Interval::search:
      // A job that nodes are missing from trains longer than its work is.
      return study.searched_interval(is_set_back ? prediction.daly_interval : whole, least,
                                     max(least, Seconds(goal.horizon)));
    default:
      return is_set_back ? max(least, prediction.daly_interval) : whole;
  }
}

void add_totals(ReliabilityPrediction& prediction, const ReliabilitySettings& settings,
                const std::vector<JobHistory>& histories, int accelerators) {
  const double runs = static_cast<double>(histories.size());
  const double hours = accelerators / kSecondsOfHour / runs;
  double wall = 0.0;
  double work = 0.0;
  double interruptions = 0.0;
  double spot_node_seconds = 0.0;
  auto& lost = prediction.lost_gpu_hours;
  std::vector<double> ettr;
  std::vector<double> goodput;
  std::vector<double> counts;
  for (const JobHistory& history : histories) {
    wall += history.wall;
    work += history.work();
    lost["lost_work"] += hours * history.lost_work;
    lost["checkpoints"] += hours * history.checkpoints;
    lost["detection"] += hours * history.detection;
    lost["restart"] += hours * history.restart;
    lost["waiting_for_nodes"] += hours * history.waiting;
    lost["reduced_speed"] += hours * history.reduced_speed;
    spot_node_seconds += history.spot_node_seconds;
    double count = 0.0;
    for (std::size_t i = 0; i < history.interruptions.size(); ++i) {
      const bool is_given = i < settings.causes.size();
      const std::string name = is_given ? settings.causes[i].name : "spot nodes taken back";
      const auto happened = static_cast<double>(history.interruptions[i]);
      count += happened;
      prediction.interruptions_by_cause[name] += happened / runs;
      prediction.lost_gpu_hours_by_cause[name] += hours * history.cost_of_cause[i];
    }
    interruptions += count;
    counts.push_back(count);
    ettr.push_back(history.productive / history.wall);
    goodput.push_back(history.work() / history.wall);
    if (settings.train_tokens) {
      constexpr double kNever = std::numeric_limits<double>::infinity();
      prediction.time_to_train_s.push_back(history.finished ? history.wall : kNever);
    }
  }
  if (settings.spot) {
    prediction.spot = {.nodes = settings.spot->nodes,
                       .of_nodes = settings.nodes,
                       .there = spot_node_seconds / (settings.spot->nodes * wall)};
  }
  std::ranges::sort(prediction.time_to_train_s);
  prediction.ettr = percentiles_of(std::move(ettr));
  prediction.goodput = percentiles_of(std::move(goodput));
  prediction.interruptions = percentiles_of(std::move(counts));
  prediction.job_mttf =
      Seconds(interruptions > 0.0 ? wall / interruptions : std::numeric_limits<double>::infinity());
}

}  // namespace

ReliabilityPrediction reliability(const Scenario& scenario, Seconds iteration_time,
                                  const std::optional<InputUse>& input) {
  ReliabilitySettings settings = *scenario.reliability;
  settings.step = iteration_time;
  Storing storing;
  if (input && input->checkpoint > Seconds(0.0)) {
    settings.checkpoint.persisting = input->checkpoint;
    storing = {.time = input->checkpoint.count(),
               .slowdown = input->checkpoint_step / iteration_time - 1.0};
  }
  const CheckpointSettings& checkpoint = settings.checkpoint;
  const auto tokens_of_step = static_cast<double>(scenario.tokens_of_step());
  Goal goal;
  if (settings.train_tokens) {
    goal.work = std::ceil(*settings.train_tokens / tokens_of_step) * iteration_time.count();
    goal.horizon = kLongestStretch * goal.work;
  } else {
    goal.horizon = settings.duration->count();
  }
  const Seconds least(std::min(goal.work, goal.horizon));
  if (auto problem = too_many_failures(settings.causes, least, settings.runs)) {
    throw InputError(std::move(*problem));
  }
  ReliabilityPrediction prediction;
  prediction.runs = settings.runs;
  prediction.recovery = settings.recovery->name;
  if (const double nodes = mean_nodes_in_repair(settings); nodes > 0.0) {
    prediction.repair = {.spares = settings.spare_nodes,
                         .nodes = nodes,
                         .beyond_spares = share_beyond_spares(settings, settings.spare_nodes)};
  }
  Study study(settings, storing, goal, scenario.perturbation.seed);
  const Seconds setbacks = study.time_between_setbacks(sudden_mttf(settings));
  prediction.young_interval = young_interval(checkpoint.blocking, setbacks);
  prediction.daly_interval = daly_interval(checkpoint.blocking, setbacks);
  prediction.interval_by = word_of(checkpoint.how);
  prediction.checkpoint_interval = chosen_interval(prediction, checkpoint, setbacks, study, goal);
  prediction.step_overhead = settings.step_overhead;
  prediction.checkpoint_size = checkpoint.size;
  prediction.checkpoint_blocking = checkpoint.blocking;
  const std::vector<JobHistory> histories = study.histories(prediction.checkpoint_interval);
  add_totals(prediction, settings, histories, scenario.accelerators());
  prediction.tokens_per_second = tokens_of_step / iteration_time.count() * prediction.goodput.mean;
  return prediction;
}

}  // namespace headway
