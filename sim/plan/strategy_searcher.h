#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/plan/strategy_search.h"
#include "sim/plan/time_bound.h"
#include "sim/programs/known_jobs.h"

namespace headway {

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

}  // namespace headway
