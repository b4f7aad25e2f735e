#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/goal.h"
#include "sim/plan/strategy_plan.h"

namespace headway {

/// A size that was tried.
struct TriedSize {
  std::string name;        ///< of a model of the library; empty for everything else
  std::int64_t value = 0;  ///< parameters, hidden size, layers, tokens of context
  std::int64_t parameters = 0;
  std::string reason;  ///< why it cannot be; empty if it fits
};

/// The most that fits on the scenario's cluster, and how fast it is there.
struct LargestPlan {
  LargestGoal goal;
  bool counts_tokens = true;  ///< as the scenario's model, and the models of the library tried, do
  std::vector<TriedSize> tried;  ///< in the order of trying
  TriedSize largest;             ///< that fits; the smallest tried if nothing does
  std::optional<StrategyPlan> plan;
};

/// Finds it.
///
/// - model: of the library, from the one with the most parameters down, with the scenario's
///   sequence length;
/// - width, that is hidden and feed-forward sizes and heads together, the size of a head as it is,
///   the number of layers, and context, with as many learned positions as it takes: in steps of a
///   quarter of the scenario's where that divides. Twice as much until it does not fit, then
///   halving the distance, until the answer is right to a step or to a sixteenth. That takes for
///   granted that what is larger than what does not fit does not fit.
///
/// The global batch stays, in sequences. Whether something fits is judged as a search judges it:
/// with any strategy that leaves out nothing but what it never varies.
///
/// Requires checked options (check_plan). Throws InputError for a scenario with problems.
[[nodiscard]] LargestPlan plan_largest(const PlanOptions& options, const LargestGoal& goal,
                                       Diagnostics& diagnostics);

}  // namespace headway
