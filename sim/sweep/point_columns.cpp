#include "sim/sweep/point_columns.h"

#include <array>
#include <cmath>

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

constexpr std::array kColumns = {
    PointColumn{"gpus",
                [](const Prediction& of) -> Known {
                  return static_cast<double>(of.question.accelerators);
                }},
    PointColumn{"iteration_time_s",
                [](const Prediction& of) { return simulated(of, of.iteration_time.count()); }},
    PointColumn{"iteration_time_low_s",
                [](const Prediction& of) { return simulated(of, of.iteration_interval.low); }},
    PointColumn{"iteration_time_high_s",
                [](const Prediction& of) { return simulated(of, of.iteration_interval.high); }},
    PointColumn{"samples_per_s",
                [](const Prediction& of) { return simulated(of, of.samples_per_second); }},
    PointColumn{"tokens_per_s",
                [](const Prediction& of) { return of_tokens(of, of.tokens_per_second); }},
    PointColumn{
        "tokens_per_s_per_gpu",
        [](const Prediction& of) { return of_tokens(of, of.tokens_per_second_per_accelerator); }},
    PointColumn{"model_tflops_per_gpu",
                [](const Prediction& of) {
                  return simulated(of, of.model_flops_per_second_per_accelerator / 1e12);
                }},
    PointColumn{"mfu", [](const Prediction& of) { return simulated(of, of.mfu); }},
    PointColumn{"hfu", [](const Prediction& of) { return simulated(of, of.hfu); }},
    PointColumn{"scaling_efficiency",
                [](const Prediction& of) {
                  return of.scaling ? simulated(of, of.scaling->efficiency) : std::nullopt;
                }},
    PointColumn{
        "memory_bytes",
        [](const Prediction& of) -> Known { return fullest_memory(of.memory).total().count(); }},
    PointColumn{"memory_capacity_bytes",
                [](const Prediction& of) -> Known { return of.memory.capacity.count(); }},
    PointColumn{"cost_usd",
                [](const Prediction& of) {
                  return of_cost(of, [](const RunCost& cost) { return cost.usd; });
                }},
    PointColumn{"energy_J",
                [](const Prediction& of) {
                  return of_cost(of, [](const RunCost& cost) {
                    return cost.energy ? Known(cost.energy->count()) : std::nullopt;
                  });
                }},
    PointColumn{"run_time_s",
                [](const Prediction& of) {
                  return of_cost(of, [](const RunCost& cost) {
                    return cost.run ? Known(cost.run->time.count()) : std::nullopt;
                  });
                }},
    PointColumn{"run_cost_usd",
                [](const Prediction& of) {
                  return of_cost(of, [](const RunCost& cost) {
                    return cost.run ? cost.run->usd() : std::nullopt;
                  });
                }},
};

}  // namespace

std::span<const PointColumn> point_columns() { return kColumns; }

std::vector<std::optional<double>> column_values(const Prediction& prediction) {
  std::vector<std::optional<double>> values;
  for (const PointColumn& column : kColumns) {
    values.push_back(column.of(prediction));
    if (values.back() && !std::isfinite(*values.back())) values.back().reset();
  }
  return values;
}

}  // namespace headway
