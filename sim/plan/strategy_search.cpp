#include "sim/plan/strategy_search.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>

#include "sim/base/diagnostic.h"
#include "sim/jobs/memory_of_stage.h"
#include "sim/plan/strategy_searcher.h"
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

constexpr std::size_t kRecomputes = static_cast<std::size_t>(Recompute::full) + 1;
constexpr std::array kAllShardings = {Sharding::none, Sharding::optimizer, Sharding::gradients,
                                      Sharding::full};
static_assert(kRecomputes * kAllShardings.size() <= 32, "a bit for each pair");

std::uint32_t pair_bit(Sharding sharding, Recompute recompute) {
  return std::uint32_t{1} << (static_cast<std::size_t>(sharding) * kRecomputes +
                              static_cast<std::size_t>(recompute));
}

/// What is left of a choice without what its passes are ordered and its states shared out by.
StrategyChoice whatever_its_pipeline(StrategyChoice choice) {
  static const StrategyChoice any;
  choice.virtual_stages = any.virtual_stages;
  choice.schedule = any.schedule;
  choice.sharding = any.sharding;
  choice.recompute = any.recompute;
  return choice;
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

StrategySearcher::StrategySearcher(const StrategySpace& space) : space_(space), bound_(space) {
  const double before = processor_seconds();
  // A space visits what differs in nothing else one after the other.
  std::array<Group*, kRecomputes> groups{};
  space.for_each([&](const StrategyChoice& choice) {
    ++considered_;
    StrategyChoice split = choice;
    split.sharding = {};
    split.recompute = {};
    if (splits_.empty() || splits_.back() != split) {
      const bool is_apart =
          splits_.empty() || whatever_its_pipeline(split) != whatever_its_pipeline(splits_.back());
      if (is_apart) groups.fill(nullptr);
      splits_.push_back(split);
      offered_.push_back(0);
    }
    offered_.back() |= pair_bit(choice.sharding, choice.recompute);
    const auto end = static_cast<std::uint32_t>(splits_.size());
    Group*& group = groups[static_cast<std::size_t>(choice.recompute)];
    if (group == nullptr) {
      group = &groups_.emplace_back(
          Group{bound_.of_any_pipeline(choice), end - 1, end, choice.recompute});
    }
    group->end = end;
  });
  std::ranges::sort(groups_, {}, &Group::least);
  effort_.bounds = processor_seconds() - before;
  effort_.seconds = effort_.bounds;
}

StrategyChoice StrategySearcher::choice_of(const Candidate& candidate) const {
  StrategyChoice choice = splits_[candidate.split];
  choice.sharding = static_cast<Sharding>(candidate.sharding);
  choice.recompute = static_cast<Recompute>(candidate.recompute);
  return choice;
}

const StrategySearcher::Candidate* StrategySearcher::candidate_at(std::size_t place,
                                                                  Seconds limit) {
  if (place == in_order_.size()) order_more(limit);
  const bool is_below = place < in_order_.size() && in_order_[place].bound < limit;
  return is_below ? &in_order_[place] : nullptr;
}

void StrategySearcher::order_more(Seconds limit) {
  constexpr std::size_t kAtLeast = 4096;
  const double before = processor_seconds();
  const std::size_t ordered = in_order_.size();
  const auto goes_on = [&] {
    return next_group_ < groups_.size() && groups_[next_group_].least < limit;
  };
  while (in_order_.size() == ordered && goes_on()) {
    // The more there are the more at once, so that none is gone through often.
    const std::size_t wanted = opened_.size() + std::max(kAtLeast, ordered / 2);
    while (goes_on() && opened_.size() < wanted) open(groups_[next_group_++]);
    const Seconds of_others = next_group_ < groups_.size() ? groups_[next_group_].least : kNoLimit;
    const auto first =
        std::partition(opened_.begin(), opened_.end(),
                       [&](const Candidate& candidate) { return candidate.bound >= of_others; });
    const auto left = static_cast<std::size_t>(first - opened_.begin());
    std::sort(first, opened_.end(), [&](const Candidate& a, const Candidate& b) {
      return a.bound != b.bound ? a.bound > b.bound : choice_of(a) > choice_of(b);
    });
    while (opened_.size() > left) {
      in_order_.push_back(opened_.back());
      opened_.pop_back();
    }
  }
  effort_.bounds += processor_seconds() - before;
}

void StrategySearcher::open(const Group& group) {
  for (std::uint32_t split = group.first; split < group.end; ++split) {
    for (const Sharding sharding : kAllShardings) {
      if ((offered_[split] & pair_bit(sharding, group.recompute)) == 0) continue;
      Candidate candidate{.split = split,
                          .sharding = static_cast<std::uint8_t>(sharding),
                          .recompute = static_cast<std::uint8_t>(group.recompute)};
      candidate.bound = bound_.of(choice_of(candidate));
      opened_.push_back(candidate);
    }
  }
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
  search.counts.considered = considered_;
  Leaders leaders(options, capacity);
  std::size_t next_fitting = 0;
  for (std::size_t i = 0;; ++i) {
    const Candidate* const found = candidate_at(i, leaders.limit());
    if (found == nullptr) break;
    const Candidate& candidate = *found;
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
