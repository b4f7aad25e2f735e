#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reports/document/document.h"
#include "sim/plan/cluster_size.h"

namespace headway {

// What plans with a goal say, whether of one cluster or of several.

/// The unit that a deadline is best told in: the largest of which it has two or more; days for
/// none.
struct TimeUnit {
  std::string_view name;
  std::string_view suffix;  ///< in a goal
  double seconds;

  /// "84.2", "never".
  [[nodiscard]] std::string number(Seconds time) const;
};
[[nodiscard]] TimeUnit unit_of(Seconds deadline);

/// As a goal has it: "2T", "14.3B", to a tenth.
[[nodiscard]] std::string tokens_text(double tokens, double (*round)(double));
/// "1,024 GPUs"
[[nodiscard]] std::string gpus_text(std::int64_t count);
/// "95 %", "12.5 %".
[[nodiscard]] std::string share_text(double of_one);
/// "US$ 44.1 M"
[[nodiscard]] std::string usd_text(double usd);
/// "US$ 44.1 M (43.5 M .. 45.0 M)"; nothing where there is no price.
[[nodiscard]] std::string usd_text(const std::optional<double>& usd,
                                   const std::optional<Interval>& interval);

/// "15T tokens within 90.0 days with a probability of 95 %, for US$ 50.0 M, on 2 MW". Samples where
/// the model has no tokens.
[[nodiscard]] std::string goal_text(const TrainingGoal& goal, bool counts_tokens);
/// "fewest", "cheapest": what the answer is of those that meet the goal.
[[nodiscard]] std::string_view superlative_of(TrainingGoal::Minimize minimize);
/// "12.3 days late, US$ 45.2 M over the budget, 0.9 MW over"; empty for none.
[[nodiscard]] std::string shortfall_text(const Shortfall& missing, const TimeUnit& unit);

/// Energy of weeks: "2,519 MWh"; less of it as elsewhere.
[[nodiscard]] std::string energy_text(Joules energy);

/// What a cluster is made of that was simulated, a row a part, spare nodes among them.
[[nodiscard]] TextTable bill_table(const ClusterSize& size);
/// The name of its nodes.
[[nodiscard]] std::string node_of(const ClusterSize& size);
/// What the figures of money and power are of, where something is bought, and draws power that is
/// known.
[[nodiscard]] std::string money_note(bool buys, bool draws_power);

}  // namespace headway
