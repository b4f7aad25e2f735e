#pragma once

#include <optional>

#include "sim/result/power.h"
#include "sim/result/prediction.h"

namespace headway {

/// Energy by what accelerators do meanwhile.
struct EnergyByActivity {
  Joules computing;
  Joules exchanging;
  Joules waiting;

  [[nodiscard]] Joules total() const { return computing + exchanging + waiting; }
};
[[nodiscard]] constexpr EnergyByActivity operator*(double factor, const EnergyByActivity& energy) {
  return {factor * energy.computing, factor * energy.exchanging, factor * energy.waiting};
}

/// What one iteration costs, as far as the scenario's "cost" gives the inputs.
struct RunCost {
  /// The whole run.
  struct Run {
    Seconds time;            ///< until it is through, median (run_time.h)
    Interval time_interval;  ///< seconds
    std::optional<double> gpus_usd;
    std::optional<double> storage_usd;
    std::optional<double> egress_usd;
    std::optional<Joules> energy;
    std::optional<EnergyByActivity> energy_by_activity;  ///< adds up to `energy`
    std::optional<double> carbon_kg;

    /// All that has a price.
    [[nodiscard]] std::optional<double> usd() const;
    /// Of the price, as the time lies in its interval.
    [[nodiscard]] std::optional<Interval> usd_interval() const;
  };
  std::optional<double> usd;     ///< of the accelerators that train
  std::optional<Joules> energy;  ///< at the meter: the cluster's, times the PUE
  std::optional<EnergyByActivity> energy_by_activity;  ///< adds up to `energy`
  std::optional<double> carbon_kg;
  double tokens = 0.0;     ///< of an iteration; 0 for a model without any
  std::optional<Run> run;  ///< where the scenario says how many tokens it trains on
};

/// Price: accelerators x time x price of an accelerator-hour. Energy: every accelerator's time goes
/// to causes as the critical rank's does; computing (compute, recompute, optimizer), exchanging
/// (tensor, context, expert, pipeline and data parallel) and waiting (bubbles, stragglers, data,
/// other) each draw their power; the building multiplies it by its power usage effectiveness
/// (ISO/IEC 30134-2). Carbon: energy in kWh times the intensity of the grid. What hosts and
/// switches draw is not counted, unless the powers given are shares of a node's.
///
/// A run has tokens / tokens of an iteration iterations, not rounded, and takes what `run_time`
/// says: the error of the prediction and, where the scenario has a "reliability", its histories.
/// Spare nodes are paid for too, work that is done again draws what the iteration does, and
/// everything else that is lost draws the power of waiting. Storage is paid for as long as the run
/// takes, in months of 30 days; egress once.
///
/// Nothing for a prediction without "cost" in its scenario, or without a time.
[[nodiscard]] std::optional<RunCost> run_cost(const Prediction& prediction);

}  // namespace headway
