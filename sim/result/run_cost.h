#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
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
    Seconds time;                        ///< until it is through, median (run_time.h)
    Interval time_interval;              ///< seconds
    std::optional<double> gpus_usd;      ///< rented
    std::optional<double> purchase_usd;  ///< what the run uses up of what was bought
    std::optional<double> electricity_usd;
    std::optional<double> storage_usd;
    std::optional<double> egress_usd;
    std::optional<double> bought_usd;  ///< the whole price of what was bought
    std::optional<Joules> energy;
    std::optional<EnergyByActivity> energy_by_activity;  ///< adds up to `energy`
    std::optional<double> carbon_kg;

    /// All that has a price.
    [[nodiscard]] std::optional<double> usd() const;
    /// What that may come to, as the time lies in its interval and prices in theirs.
    [[nodiscard]] std::optional<Interval> usd_interval() const;
    /// What has been paid when the run is through: what was bought in full. Nothing without any
    /// price.
    [[nodiscard]] std::optional<double> outlay() const;
    [[nodiscard]] std::optional<Interval> outlay_interval() const;

    double price_spread = 0.0;  ///< standard deviation of the logarithm of prices
    bool wears_out = false;     ///< what was bought counts by the time that it is used
  };
  std::optional<double> usd;        ///< of the accelerators that train, bought or rented, and power
  std::optional<Watts> peak_power;  ///< that the building has to supply
  std::optional<Joules> energy;     ///< at the meter: the cluster's, times the PUE
  std::optional<EnergyByActivity> energy_by_activity;  ///< adds up to `energy`
  std::optional<double> carbon_kg;
  double tokens = 0.0;     ///< of an iteration; 0 for a model without any
  std::optional<Run> run;  ///< where the scenario says how many tokens it trains on, or how long
};

/// Price: accelerators x time x price of an accelerator-hour; of what was bought the part of its
/// years of depreciation that the time takes (straight line), or all of it where it has none; and
/// energy x price of a kilowatt-hour. Energy: every accelerator's time goes
/// to causes as the critical rank's does; computing (compute, recompute, optimizer), exchanging
/// (tensor, context, expert, pipeline and data parallel) and waiting (bubbles, stragglers, data,
/// other) each draw their power; the building multiplies it by its power usage effectiveness
/// (ISO/IEC 30134-2). Switches draw what the scenario says all the time. Carbon: energy in kWh
/// times the intensity of the grid. What hosts draw is counted where the powers are shares of a
/// node's. The peak is that of all nodes, spares among them, and of all switches, times the same.
///
/// A run has tokens / tokens of an iteration iterations, not rounded, and takes what `run_time`
/// says: the error of the prediction and, where the scenario has a "reliability", its histories.
/// Where that gives a duration and nothing gives tokens, the run is that long and has the
/// iterations that the median goodput leaves of it.
/// An iteration has all spot nodes; a run pays for them while they are there. Spare nodes are paid
/// for too and draw the power of waiting all the time; work that is done again draws what the
/// iteration does, and everything else that is lost draws the power of waiting, but for spot nodes
/// that are away. Storage is paid for as long as the run takes, in months of 30 days;
/// egress once. Prices may all be off together, by a lognormal factor that has nothing to do with
/// the time: the logarithms of the two add in squares.
///
/// Nothing for a prediction without "cost" in its scenario, or without a time.
[[nodiscard]] std::optional<RunCost> run_cost(const Prediction& prediction);

/// What the building has to supply to the cluster of a resolved scenario; nothing if that gives no
/// powers.
[[nodiscard]] std::optional<Watts> peak_power(const nlohmann::json& scenario, std::int64_t nodes,
                                              std::int64_t accelerators);
/// What is paid for it before it runs; nothing if nothing is bought.
[[nodiscard]] std::optional<double> bought_usd(const nlohmann::json& scenario);

}  // namespace headway
