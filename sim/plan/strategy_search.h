#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "sim/plan/strategy_space.h"
#include "sim/plan/time_bound.h"
#include "sim/programs/known_jobs.h"

namespace headway {

/// A strategy that fits, with the time of its closed form.
struct RankedStrategy {
  StrategyChoice choice;
  Seconds time;
  Bytes memory;  ///< of the fullest stage
};

/// What became of the strategies that were looked at.
struct SearchCounts {
  std::int64_t considered = 0;        ///< all of the space
  std::int64_t pruned_by_bound = 0;   ///< cannot be among the best, as their bound shows
  std::int64_t pruned_by_memory = 0;  ///< of the others: do not fit
  std::int64_t ranked = 0;            ///< of the others: closed form worked out
};

/// Processor time of one core.
struct SearchEffort {
  double seconds = 0.0;              ///< of everything
  double bounds = 0.0;               ///< of that, bounds and their order
  std::vector<double> closed_forms;  ///< of each one that was worked out
};

struct StrategySearch {
  SearchCounts counts;
  std::vector<RankedStrategy> ranked;  ///< fastest first
  Seconds complete_below;              ///< whoever is faster is among them
  SearchEffort effort;                 ///< of all searches of its searcher so far
  std::vector<RankedStrategy> roomy;   ///< the fastest for each slack, where it is worth its time
  /// Where nothing fits: what comes closest, of those with the smallest micro-batch and 1F1B.
  std::optional<StrategyChoice> smallest;
  Bytes smallest_memory;
};

struct SearchOptions {
  std::size_t best = 10;  ///< how many of the fastest have to be right
  /// Shares of the memory: the fastest that leaves so much of it free is found too, as long as it
  /// takes no more than `slack_costs` of the time of the fastest.
  std::vector<double> slacks = {};
  double slack_costs = 1.5;
  /// Whoever is below this is found, however many that are.
  Seconds all_below = Seconds(0.0);
};

/// The fastest strategies of a space by their closed form, exactly: in the order of their bounds
/// until these are above the times found. Memory is judged before the closed form is. What one
/// search has worked out, a later one with other options need not.
///
/// Most bounds need not be known either: strategies that differ only in how their passes are
/// ordered, how the model is cut and how states are shared out lie together, by a time that none of
/// their bounds is below, until the search gets there.
class StrategySearcher {
 public:
  /// The space outlives this.
  explicit StrategySearcher(const StrategySpace& space);

  [[nodiscard]] StrategySearch search(const SearchOptions& options);

 private:
  /// Those of some splits that recompute the same.
  struct Group {
    Seconds least;  ///< of their bounds, or less
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    Recompute recompute = Recompute::none;
  };
  /// A few bytes, as there are millions.
  struct Candidate {
    Seconds bound;
    std::uint32_t split = 0;
    std::uint8_t sharding = 0;
    std::uint8_t recompute = 0;
  };
  struct Fitting {
    Bytes memory;                 ///< of the fullest stage
    std::optional<Seconds> time;  ///< of the closed form, where it was asked for
  };
  [[nodiscard]] StrategyChoice choice_of(const Candidate& candidate) const;
  /// The candidate that has so many before it by their bounds; nullptr if its bound is `limit` or
  /// more, or there are not so many.
  [[nodiscard]] const Candidate* candidate_at(std::size_t place, Seconds limit);
  /// Puts the next few in order, if there are any whose bounds are below `limit`.
  void order_more(Seconds limit);
  /// Works out the bounds of its strategies.
  void open(const Group& group);
  [[nodiscard]] Seconds closed_form_of(const StrategyChoice& choice);
  [[nodiscard]] Seconds time_of(const Candidate& candidate, Fitting& fitting);

  const StrategySpace& space_;
  TimeBound bound_;
  SearchEffort effort_;
  std::int64_t considered_ = 0;
  // A vector that grows is there twice for a while.
  std::deque<StrategyChoice> splits_;  ///< all of a choice but sharding and recomputation
  std::deque<std::uint32_t> offered_;  ///< by split, a bit for each pair of these
  std::deque<Group> groups_;           ///< by `least`
  std::size_t next_group_ = 0;         ///< the first that was not opened yet
  std::deque<Candidate> opened_;       ///< of the others, candidates that are not in order yet
  std::deque<Candidate> in_order_;     ///< the first so many, by their bounds
  std::vector<bool> fits_;             ///< whether the first so many of them fit in memory
  std::deque<Fitting> fitting_;        ///< those that do
  KnownJobs known_;
};

/// One such search.
[[nodiscard]] StrategySearch search_strategies(const StrategySpace& space,
                                               const SearchOptions& options);

/// Whether a strategy fits, of those that are sparing with memory: the smallest micro-batch, 1F1B.
[[nodiscard]] bool has_fitting_strategy(const StrategySpace& space);

/// What the fullest stage holds, or some stage that holds more than `limit`.
[[nodiscard]] Bytes fullest_or_above(const StrategySpace& space, const StrategyChoice& choice,
                                     Bytes limit);

}  // namespace headway
