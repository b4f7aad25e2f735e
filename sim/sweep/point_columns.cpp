#include "sim/sweep/point_columns.h"

#include <array>
#include <cmath>

#include "sim/result/decision/objective.h"
#include "sim/result/run_cost.h"
#include "sim/result/words/advice.h"

namespace headway {
namespace {

using Known = std::optional<double>;

/// A number that only a job that was simulated has.
Known simulated(const Prediction& of, double value) {
  return was_simulated(of) ? Known(value) : std::nullopt;
}

/// Samples that are no sequences have no tokens.
Known of_tokens(const Prediction& of, double value) {
  return value > 0.0 ? simulated(of, value) : std::nullopt;
}

/// A part of what it costs; the scenario need not give the prices.
template <class Part>
Known of_cost(const Prediction& prediction, Part part) {
  const std::optional<RunCost> cost = run_cost(prediction);
  return cost ? part(*cost) : std::nullopt;
}

Known low(const std::optional<Interval>& of) { return of ? Known(of->low) : std::nullopt; }
Known high(const std::optional<Interval>& of) { return of ? Known(of->high) : std::nullopt; }

constexpr std::array kColumns = {
    PointColumn{"gpus",
                [](const Prediction&, const DecisionNumbers& of) -> Known {
                  return static_cast<double>(of.accelerators);
                }},
    PointColumn{"iteration_time_s",
                [](const Prediction& of, const DecisionNumbers&) {
                  return simulated(of, of.iteration_time.count());
                }},
    PointColumn{"iteration_time_low_s",
                [](const Prediction& of, const DecisionNumbers&) {
                  return simulated(of, of.iteration_interval.low);
                }},
    PointColumn{"iteration_time_high_s",
                [](const Prediction& of, const DecisionNumbers&) {
                  return simulated(of, of.iteration_interval.high);
                }},
    PointColumn{"samples_per_s",
                [](const Prediction& of, const DecisionNumbers&) {
                  return simulated(of, of.samples_per_second);
                }},
    PointColumn{"tokens_per_s",
                [](const Prediction& of, const DecisionNumbers&) {
                  return of_tokens(of, of.tokens_per_second);
                }},
    PointColumn{"tokens_per_s_per_gpu",
                [](const Prediction& of, const DecisionNumbers&) {
                  return of_tokens(of, of.tokens_per_second_per_accelerator);
                }},
    PointColumn{"model_tflops_per_gpu",
                [](const Prediction& of, const DecisionNumbers&) {
                  return simulated(of, of.model_flops_per_second_per_accelerator / 1e12);
                }},
    PointColumn{"mfu",
                [](const Prediction& of, const DecisionNumbers&) { return simulated(of, of.mfu); }},
    PointColumn{"hfu",
                [](const Prediction& of, const DecisionNumbers&) { return simulated(of, of.hfu); }},
    PointColumn{"scaling_efficiency",
                [](const Prediction& of, const DecisionNumbers&) {
                  return of.scaling ? simulated(of, of.scaling->efficiency) : std::nullopt;
                }},
    PointColumn{"memory_bytes",
                [](const Prediction& of, const DecisionNumbers&) -> Known {
                  return fullest_memory(of.memory).total().count();
                }},
    PointColumn{"memory_capacity_bytes",
                [](const Prediction& of, const DecisionNumbers&) -> Known {
                  return of.memory.capacity.count();
                }},
    PointColumn{"cost_usd",
                [](const Prediction& of, const DecisionNumbers&) {
                  return of_cost(of, [](const RunCost& cost) { return cost.usd; });
                }},
    PointColumn{"energy_J",
                [](const Prediction& of, const DecisionNumbers&) {
                  return of_cost(of, [](const RunCost& cost) {
                    return cost.energy ? Known(cost.energy->count()) : std::nullopt;
                  });
                }},
    PointColumn{"post_training_step_s",
                [](const Prediction&, const DecisionNumbers& of) -> Known {
                  const auto step = of.post_training_step;
                  return step ? Known(step->count()) : std::nullopt;
                }},
    PointColumn{"goodput", [](const Prediction&, const DecisionNumbers& of) { return of.goodput; }},
    PointColumn{"goodput_low", [](const Prediction&,
                                  const DecisionNumbers& of) { return low(of.goodput_interval); }},
    PointColumn{
        "goodput_high",
        [](const Prediction&, const DecisionNumbers& of) { return high(of.goodput_interval); }},
    PointColumn{"run_time_s",
                [](const Prediction&, const DecisionNumbers& of) -> Known {
                  const auto time = of.run_time;
                  return time ? Known(time->count()) : std::nullopt;
                }},
    PointColumn{
        "run_time_low_s",
        [](const Prediction&, const DecisionNumbers& of) { return low(of.run_time_interval); }},
    PointColumn{
        "run_time_high_s",
        [](const Prediction&, const DecisionNumbers& of) { return high(of.run_time_interval); }},
    PointColumn{"run_cost_usd",
                [](const Prediction&, const DecisionNumbers& of) { return of.run_usd; }},
    PointColumn{
        "run_cost_low_usd",
        [](const Prediction&, const DecisionNumbers& of) { return low(of.run_usd_interval); }},
    PointColumn{
        "run_cost_high_usd",
        [](const Prediction&, const DecisionNumbers& of) { return high(of.run_usd_interval); }},
};

}  // namespace

std::span<const PointColumn> point_columns() { return kColumns; }

std::vector<std::optional<double>> column_values(const Prediction& prediction) {
  const DecisionNumbers decision = decision_numbers(prediction);
  std::vector<std::optional<double>> values;
  for (const PointColumn& column : kColumns) {
    values.push_back(column.of(prediction, decision));
    if (values.back() && !std::isfinite(*values.back())) values.back().reset();
  }
  return values;
}

}  // namespace headway
