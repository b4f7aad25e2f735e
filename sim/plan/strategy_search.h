#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/plan/strategy_space.h"

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

/// One search of a StrategySearcher.
[[nodiscard]] StrategySearch search_strategies(const StrategySpace& space,
                                               const SearchOptions& options);

/// Whether a strategy fits, of those that are sparing with memory: the smallest micro-batch, 1F1B.
[[nodiscard]] bool has_fitting_strategy(const StrategySpace& space);

/// What the fullest stage holds, or some stage that holds more than `limit`.
[[nodiscard]] Bytes fullest_or_above(const StrategySpace& space, const StrategyChoice& choice,
                                     Bytes limit);

}  // namespace headway
