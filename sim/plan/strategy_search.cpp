#include "sim/plan/strategy_search.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include "sim/base/diagnostic.h"
#include "sim/jobs/memory_of_stage.h"
#include "sim/plan/time_bound.h"
#include "sim/programs/closed_form.h"

namespace headway {
namespace {

constexpr Seconds kNoLimit(std::numeric_limits<double>::infinity());
constexpr Bytes kBoundless(std::numeric_limits<double>::infinity());

/// Those found so far, and what another one has to be faster than to matter.
class Leaders {
 public:
  Leaders(const SearchOptions& options, Bytes capacity)
      : options_(options),
        capacity_(capacity),
        fastest_with_slack_(options.slacks.size(), kNoLimit) {}

  /// A strategy of this time or more changes nothing, whatever it holds.
  [[nodiscard]] Seconds limit() const {
    Seconds limit = best_limit();
    if (best_.empty()) return limit;
    for (const Seconds fastest : fastest_with_slack_) {
      limit = max(limit, min(fastest, options_.slack_costs * best_.front()));
    }
    return limit;
  }

  /// Whether one of this time at least, that holds so much, may matter.
  [[nodiscard]] bool may_matter(Seconds bound, Bytes memory) const {
    if (bound < best_limit()) return true;
    for (std::size_t i = 0; i < fastest_with_slack_.size(); ++i) {
      if (leaves(i, memory) && bound < fastest_with_slack_[i]) return true;
    }
    return false;
  }

  /// Whoever is below this has been looked at when no bound is below `limit` any more.
  [[nodiscard]] Seconds best_limit() const {
    return best_.size() < options_.best ? kNoLimit : max(best_.back(), options_.all_below);
  }

  void add(Seconds time, Bytes memory) {
    best_.insert(std::ranges::upper_bound(best_, time), time);
    if (best_.size() > options_.best) best_.pop_back();
    for (std::size_t i = 0; i < fastest_with_slack_.size(); ++i) {
      if (leaves(i, memory)) fastest_with_slack_[i] = min(fastest_with_slack_[i], time);
    }
  }

 private:
  [[nodiscard]] bool leaves(std::size_t slack, Bytes memory) const {
    return memory <= (1.0 - options_.slacks[slack]) * capacity_;
  }

  const SearchOptions& options_;
  Bytes capacity_;
  std::vector<Seconds> best_;  ///< ascending
  std::vector<Seconds> fastest_with_slack_;
};

Bytes capacity_of(const Scenario& scenario) { return scenario.least_memory(); }

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

Bytes fullest_or_above(const StrategySpace& space, const StrategyChoice& choice, Bytes limit) {
  const Strategy strategy = space.strategy(choice);
  const Model& model = space.scenario().model;
  const int last = strategy.pipeline_parallel - 1;
  // Where states alone are too much, activations need not be followed through the schedule.
  const StageMemory states = states_of_stage(model, strategy, 0);
  if (states.total() > limit) return states.total();
  // The ends hold most, mostly: activations in flight, embedding and head.
  Bytes fullest = memory_of_stage(model, strategy, 0).total();
  if (last > 0 && fullest <= limit) {
    fullest = max(fullest, memory_of_stage(model, strategy, last).total());
  }
  for (int stage = 1; stage < last && fullest <= limit; ++stage) {
    fullest = max(fullest, memory_of_stage(model, strategy, stage).total());
  }
  return fullest;
}

bool has_fitting_strategy(const StrategySpace& space) {
  const Bytes capacity = capacity_of(space.scenario());
  bool fits = false;
  space.for_each_thrifty([&](const StrategyChoice& choice) {
    fits = fits || fullest_or_above(space, choice, capacity) <= capacity;
  });
  return fits;
}

StrategySearcher::StrategySearcher(const StrategySpace& space) : space_(space) {
  const double before = processor_seconds();
  TimeBound bound(space);
  space.for_each([&](const StrategyChoice& choice) {
    StrategyChoice split = choice;
    split.sharding = {};
    split.recompute = {};
    if (splits_.empty() || splits_.back() != split) splits_.push_back(split);
    candidates_.push_back({.bound = bound.of(choice),
                           .split = static_cast<std::uint32_t>(splits_.size() - 1),
                           .sharding = static_cast<std::uint8_t>(choice.sharding),
                           .recompute = static_cast<std::uint8_t>(choice.recompute)});
  });
  effort_.bounds = processor_seconds() - before;
  effort_.seconds = effort_.bounds;
}

/// Of millions few are ever looked at: the next so many are parted from the rest, and sorted.
void StrategySearcher::order_up_to(std::size_t place) {
  constexpr std::size_t kAtFirst = 4096;
  const auto comes_before = [&](const Candidate& a, const Candidate& b) {
    return a.bound != b.bound ? a.bound < b.bound : choice_of(a) < choice_of(b);
  };
  if (place < in_order_) return;
  const double before = processor_seconds();
  const std::size_t wanted = std::max({kAtFirst, 4 * in_order_, place + 1});
  const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(in_order_);
  in_order_ = std::min(wanted, candidates_.size());
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(in_order_);
  if (end != candidates_.end()) std::nth_element(begin, end, candidates_.end(), comes_before);
  std::sort(begin, end, comes_before);
  effort_.bounds += processor_seconds() - before;
}

StrategyChoice StrategySearcher::choice_of(const Candidate& candidate) const {
  StrategyChoice choice = splits_[candidate.split];
  choice.sharding = static_cast<Sharding>(candidate.sharding);
  choice.recompute = static_cast<Recompute>(candidate.recompute);
  return choice;
}

Seconds StrategySearcher::closed_form_of(const StrategyChoice& choice) {
  const double before = processor_seconds();
  const Scenario& scenario = space_.scenario();
  const Strategy strategy = space_.strategy(choice);
  const Seconds time = closed_form_iteration(
      scenario.model, strategy, scenario.profiles(), *scenario.cluster,
      placement_of(strategy, scenario.placement.order), scenario.perturbation, &known_);
  effort_.closed_forms.push_back(processor_seconds() - before);
  return time;
}

Seconds StrategySearcher::time_of(const Candidate& candidate, Fitting& fitting) {
  if (!fitting.time) fitting.time = closed_form_of(choice_of(candidate));
  HEADWAY_CHECK(*fitting.time >= candidate.bound, "no closed form is below its bound");
  return *fitting.time;
}

StrategySearch StrategySearcher::search(const SearchOptions& options) {
  const double before = processor_seconds();
  const Bytes capacity = capacity_of(space_.scenario());
  StrategySearch search;
  search.counts.considered = std::ssize(candidates_);
  Leaders leaders(options, capacity);
  std::size_t next_fitting = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    order_up_to(i);
    const Candidate& candidate = candidates_[i];
    if (candidate.bound >= leaders.limit()) break;
    if (i == fits_.size()) {
      const Bytes memory = fullest_or_above(space_, choice_of(candidate), capacity);
      fits_.push_back(memory <= capacity);
      if (fits_.back()) fitting_.push_back({.memory = memory, .time = std::nullopt});
    }
    if (!fits_[i]) {
      ++search.counts.pruned_by_memory;
      continue;
    }
    Fitting& fitting = fitting_[next_fitting++];
    if (!leaders.may_matter(candidate.bound, fitting.memory)) continue;
    const Seconds time = time_of(candidate, fitting);
    leaders.add(time, fitting.memory);
    search.ranked.push_back({choice_of(candidate), time, fitting.memory});
  }
  search.complete_below = leaders.best_limit();
  search.counts.ranked = std::ssize(search.ranked);
  search.counts.pruned_by_bound =
      search.counts.considered - search.counts.pruned_by_memory - search.counts.ranked;
  std::ranges::stable_sort(search.ranked, {}, &RankedStrategy::time);
  for (const double slack : options.slacks) {
    const auto found = std::ranges::find_if(search.ranked, [&](const RankedStrategy& ranked) {
      return ranked.memory <= (1.0 - slack) * capacity;
    });
    if (found == search.ranked.end()) continue;
    if (found->time <= options.slack_costs * search.ranked.front().time) {
      search.roomy.push_back(*found);
    }
  }
  effort_.seconds += processor_seconds() - before;
  search.effort = effort_;
  if (!search.ranked.empty()) return search;
  space_.for_each_thrifty([&](const StrategyChoice& choice) {
    const Bytes memory = fullest_or_above(space_, choice, kBoundless);
    if (search.smallest && memory >= search.smallest_memory) return;
    search.smallest = choice;
    search.smallest_memory = memory;
  });
  return search;
}

StrategySearch search_strategies(const StrategySpace& space, const SearchOptions& options) {
  return StrategySearcher(space).search(options);
}

}  // namespace headway
