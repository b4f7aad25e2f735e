#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.h"
#include "sim/result/prediction.h"

namespace headway {

/// The numbers that one chooses a job by; nothing where the scenario gives nothing for them.
struct DecisionNumbers {
  std::int64_t accelerators = 0;     ///< those that only generate, too
  bool counts_tokens = true;         ///< else `throughput` is in samples
  std::optional<double> throughput;  ///< a second; of a job that was simulated
  std::optional<Seconds> post_training_step;
  std::optional<double> goodput;    ///< share, mean of histories
  std::optional<Seconds> run_time;  ///< until all tokens are trained, median
  std::optional<double> run_usd;    ///< of the whole run, median
  std::optional<Interval> throughput_interval = {};
  std::optional<Interval> goodput_interval = {};
  std::optional<Interval> run_time_interval = {};  ///< seconds
  std::optional<Interval> run_usd_interval = {};
};
[[nodiscard]] DecisionNumbers decision_numbers(const Prediction& prediction);

/// What a question is about, the most telling first: money where the whole run has a price, the
/// time until it is through where it has tokens, what a step takes that generates what it trains
/// on, what is left of the throughput over weeks where something fails, else the throughput.
enum class Objective { run_cost, run_time, post_training, goodput, throughput };
inline constexpr std::array kObjectives = {Objective::run_cost, Objective::run_time,
                                           Objective::post_training, Objective::goodput,
                                           Objective::throughput};

/// "run_cost_usd", "run_time_s", "post_training_step_s", "goodput", "throughput": where documents
/// have the number.
[[nodiscard]] std::string_view objective_name(Objective objective);
/// "cost of the run", "time to train", "step of post-training", "goodput", "throughput".
[[nodiscard]] std::string_view objective_title(Objective objective);
/// What the best one is called, to stand before its name: "The cheapest is", "The best goodput
/// has".
[[nodiscard]] std::string_view superlative(Objective objective);
/// "US$", "days", "s", "%", "tokens/s": of the numbers of `objective_number`.
[[nodiscard]] std::string objective_unit(Objective objective, const DecisionNumbers& of);

/// The first that the job has a number of; throughput if there is none.
[[nodiscard]] Objective objective_of(const DecisionNumbers& of);

/// What is compared, more being better: tokens or samples a second, over the weeks for goodput;
/// minus the time or the price. Nothing if it has none, or if the run never ends.
[[nodiscard]] std::optional<double> merit(Objective objective, const DecisionNumbers& of);

/// The number that people read, in the objective's unit, and its 5th and 95th percentile.
[[nodiscard]] std::optional<double> objective_number(Objective objective,
                                                     const DecisionNumbers& of);
[[nodiscard]] std::optional<Interval> objective_interval(Objective objective,
                                                         const DecisionNumbers& of);
/// With its unit: "US$ 12.2 M", "54.3 days" (of shorter runs "14.1 min"), "92.6 %", "1.28 M
/// tokens/s"; "never" for a run without an end, nothing where there is no number.
[[nodiscard]] std::string objective_text(Objective objective, const DecisionNumbers& of);
/// "50.1 .. 60.2 days"; nothing where there is none.
[[nodiscard]] std::string objective_interval_text(Objective objective, const DecisionNumbers& of);

}  // namespace headway
