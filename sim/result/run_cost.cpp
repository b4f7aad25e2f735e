#include "sim/result/run_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/result/decision/run_time.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr double kSecondsPerHour = 3600.0;
constexpr double kSecondsPerMonth = 30.0 * 24.0 * kSecondsPerHour;
constexpr double kBytesPerPricedGb = 1e9;
constexpr double kJoulesPerKilowattHour = 3.6e6;
constexpr double kSecondsPerYear = 365.0 * 24.0 * kSecondsPerHour;
constexpr double k95th = 1.6448536269514722;  ///< percentile of the standard normal
constexpr std::array kComputing = {Cause::compute, Cause::recompute, Cause::optimizer};
constexpr std::array kExchanging = {Cause::tensor_parallel,   Cause::context_parallel,
                                    Cause::expert_parallel,   Cause::embedding_exchange,
                                    Cause::pipeline_transfer, Cause::data_parallel_exposed};

Seconds sum_of(const TimeByCause& time, std::span<const Cause> causes) {
  Seconds sum;
  for (const Cause cause : causes) sum += time[cause];
  return sum;
}

/// A power of the resolved scenario, which only has those that can be read.
Watts power_of(const json& power, const char* of) {
  const auto watts = parse_power(power.at(of).get<std::string>());
  HEADWAY_CHECK(watts.has_value(), "a resolved power can be read");
  return *watts;
}

Watts fabric_power(const json& power) {
  return power.contains("fabric") ? power_of(power, "fabric") : Watts(0.0);
}

/// What one accelerator draws, with its share of the switches.
Watts power_of_accelerator(const Prediction& prediction, const json& power, const char* activity) {
  const auto accelerators = static_cast<double>(prediction.question.accelerators);
  return power_of(power, activity) + 1.0 / accelerators * fabric_power(power);
}

/// What one accelerator takes in one iteration.
EnergyByActivity accelerator_energy(const Prediction& prediction, const json& power) {
  const Seconds computing = sum_of(prediction.breakdown, kComputing);
  const Seconds exchanging = sum_of(prediction.breakdown, kExchanging);
  const Seconds waiting = prediction.breakdown.total() - computing - exchanging;
  const auto draws = [&](const char* activity) {
    return power_of_accelerator(prediction, power, activity);
  };
  return {.computing = draws("computing") * computing,
          .exchanging = draws("exchanging") * exchanging,
          .waiting = draws("waiting") * waiting};
}

/// A size of the resolved scenario, in the GB that prices are for.
double priced_gb(const json& size) {
  const auto bytes = parse_quantity<Bytes>(size.get<std::string>());
  return std::get<Bytes>(bytes).count() / kBytesPerPricedGb;
}

/// The share of the time lost to failures and checkpoints that is spent on doing work again.
double share_done_again(const Prediction& prediction) {
  if (!prediction.reliability) return 0.0;
  const auto& lost = prediction.reliability->lost_gpu_hours;
  double all = 0.0;
  for (const auto& [name, hours] : lost) all += hours;
  const auto again = lost.find("lost_work");
  return all > 0.0 && again != lost.end() ? again->second / all : 0.0;
}

/// Spare nodes over those that train.
double spare_share(const json& scenario, std::int64_t nodes) {
  if (!scenario.contains("reliability") || nodes < 1) return 0.0;
  return scenario.at("reliability").value("spare_nodes", 0.0) / static_cast<double>(nodes);
}

/// Accelerators that are paid for: those that train and those that wait for one to break.
double paid_accelerators(const Prediction& prediction) {
  const auto training = static_cast<double>(prediction.question.accelerators);
  if (!prediction.reliability) return training;
  const Question& question = prediction.question;
  return training * (1.0 + spare_share(question.scenario, question.nodes));
}

/// What the scenario calls its run: so many iterations, through when they are done, or a given time
/// and the iterations that goodput leaves of it.
struct WholeRun {
  double iterations = 0.0;
  RunTime time;
};
std::optional<WholeRun> whole_run(const Prediction& prediction) {
  if (const std::optional<double> iterations = run_iterations(prediction)) {
    std::optional<RunTime> time = run_time(prediction);
    if (!time) return std::nullopt;
    return WholeRun{*iterations, *std::move(time)};
  }
  if (!prediction.reliability) return std::nullopt;
  const json& scenario = prediction.question.scenario;
  const json& reliability = scenario.at("reliability");
  if (!reliability.contains("duration")) return std::nullopt;
  const auto duration = parse_quantity<Seconds>(reliability.at("duration").get<std::string>());
  const Seconds time = std::get<Seconds>(duration);
  return WholeRun{prediction.reliability->goodput.median * (time / prediction.iteration_time),
                  {{time.count()}, Seconds(0.0), Seconds(0.0)}};
}

/// Spot nodes over all that train: at most, and on average.
struct SpotShare {
  double all = 0.0;
  double there = 0.0;
};
SpotShare spot_share(const Prediction& prediction) {
  if (!prediction.reliability || !prediction.reliability->spot) return {};
  const SpotUse& spot = *prediction.reliability->spot;
  const double all = static_cast<double>(spot.nodes) / spot.of_nodes;
  return {.all = all, .there = all * spot.there};
}

/// Of the accelerators that train, those of spot nodes that are away, on average.
double absent_share(const Prediction& prediction) {
  const SpotShare spot = spot_share(prediction);
  return spot.all - spot.there;
}

/// What a time uses up of what was bought; all of it if it does not wear out.
double used_up(const json& purchase, Seconds time) {
  const auto usd = purchase.at("usd").get<double>();
  if (!purchase.contains("depreciation_years")) return usd;
  const double years = purchase.at("depreciation_years").get<double>();
  return usd * std::min(1.0, time.count() / (years * kSecondsPerYear));
}

double electricity_usd(const json& inputs, Joules energy) {
  return energy.count() / kJoulesPerKilowattHour * inputs.at("usd_per_kwh").get<double>();
}

/// A price at a time, `median` at the median one, with the lognormal spread of prices.
Interval with_spread(double low, double median, double high, double spread) {
  if (spread <= 0.0 || median <= 0.0) return {low, high};
  const double of_prices = k95th * spread;
  return {median * std::exp(-std::hypot(std::log(median / low), of_prices)),
          median * std::exp(std::hypot(std::log(high / median), of_prices))};
}

RunCost::Run cost_of_run(const Prediction& prediction, const RunCost& iteration, const json& inputs,
                         const WholeRun& whole) {
  const Seconds training = whole.iterations * prediction.iteration_time;
  RunCost::Run run;
  run.time = whole.time.at(0.5);
  run.time_interval = whole.time.interval();
  const Seconds lost = run.time - training;
  const Seconds again = share_done_again(prediction) * lost;
  if (inputs.contains("usd_per_gpu_hour")) {
    const double price = inputs.at("usd_per_gpu_hour").get<double>();
    const double spot_price = inputs.value("spot_usd_per_gpu_hour", price);
    const SpotShare spot = spot_share(prediction);
    const auto gpus = static_cast<double>(prediction.question.accelerators);
    run.gpus_usd = (price * (paid_accelerators(prediction) - spot.all * gpus) +
                    spot_price * spot.there * gpus) *
                   run.time.count() / kSecondsPerHour;
  }
  if (inputs.contains("purchase")) {
    const json& purchase = inputs.at("purchase");
    run.bought_usd = bought_usd(prediction.question.scenario);
    run.wears_out = purchase.contains("depreciation_years");
    run.purchase_usd = used_up(purchase, run.time);
  }
  run.price_spread = inputs.value("price_spread", 0.0);
  if (inputs.contains("usd_per_gb_month")) {
    run.storage_usd = inputs.at("usd_per_gb_month").get<double>() * priced_gb(inputs.at("stored")) *
                      run.time.count() / kSecondsPerMonth;
  }
  if (inputs.contains("usd_per_gb_egress")) {
    run.egress_usd = inputs.at("usd_per_gb_egress").get<double>() * priced_gb(inputs.at("egress"));
  }
  if (iteration.energy_by_activity) {
    const auto accelerators = static_cast<double>(prediction.question.accelerators);
    const json& power = inputs.at("power");
    EnergyByActivity& energy = run.energy_by_activity.emplace(
        (training + again) / prediction.iteration_time * *iteration.energy_by_activity);
    const Seconds spare = (paid_accelerators(prediction) - accelerators) * run.time;
    const Seconds idle = max(Seconds(0.0), accelerators * (lost - again) -
                                               absent_share(prediction) * accelerators * run.time);
    energy.waiting +=
        inputs.at("power_usage_effectiveness").get<double>() *
        (power_of(power, "waiting") * (spare + idle) + fabric_power(power) * (lost - again));
    run.energy = energy.total();
    if (inputs.contains("usd_per_kwh")) run.electricity_usd = electricity_usd(inputs, *run.energy);
    if (iteration.carbon_kg) {
      run.carbon_kg = *iteration.carbon_kg * (*run.energy / *iteration.energy);
    }
  }
  return run;
}

}  // namespace

std::optional<double> RunCost::Run::usd() const {
  std::optional<double> sum;
  for (const auto& part : {gpus_usd, purchase_usd, electricity_usd, storage_usd, egress_usd}) {
    if (part) sum = sum.value_or(0.0) + *part;
  }
  return sum;
}

std::optional<Interval> RunCost::Run::usd_interval() const {
  const std::optional<double> all = usd();
  if (!all) return std::nullopt;
  const double bought = wears_out ? 0.0 : purchase_usd.value_or(0.0);
  const double once = egress_usd.value_or(0.0) + bought;
  const auto at = [&](double seconds) { return once + (*all - once) * (seconds / time.count()); };
  return with_spread(at(time_interval.low), *all, at(time_interval.high), price_spread);
}

std::optional<double> RunCost::Run::outlay() const {
  const std::optional<double> all = usd();
  if (!all || !bought_usd) return all;
  return *all - *purchase_usd + *bought_usd;
}

std::optional<Interval> RunCost::Run::outlay_interval() const {
  const std::optional<double> all = outlay();
  if (!all) return std::nullopt;
  const double once = egress_usd.value_or(0.0) + bought_usd.value_or(0.0);
  const auto at = [&](double seconds) { return once + (*all - once) * (seconds / time.count()); };
  return with_spread(at(time_interval.low), *all, at(time_interval.high), price_spread);
}

std::optional<RunCost> run_cost(const Prediction& prediction) {
  const json& scenario = prediction.question.scenario;
  if (!scenario.is_object() || !scenario.contains("cost")) return std::nullopt;
  if (prediction.iteration_time <= Seconds(0.0)) return std::nullopt;
  const json& inputs = scenario.at("cost");
  const auto accelerators = static_cast<double>(prediction.question.accelerators);
  RunCost cost;
  cost.tokens = prediction.tokens_per_second * prediction.iteration_time.count();
  if (inputs.contains("usd_per_gpu_hour")) {
    const double price = inputs.at("usd_per_gpu_hour").get<double>();
    const double spot_price = inputs.value("spot_usd_per_gpu_hour", price);
    const double spot = spot_share(prediction).all;
    cost.usd = ((1.0 - spot) * price + spot * spot_price) * accelerators *
               prediction.iteration_time.count() / kSecondsPerHour;
  }
  if (inputs.contains("purchase") && inputs.at("purchase").contains("depreciation_years")) {
    cost.usd = cost.usd.value_or(0.0) + used_up(inputs.at("purchase"), prediction.iteration_time);
  }
  if (inputs.contains("power")) {
    cost.peak_power =
        peak_power(scenario, prediction.question.nodes, prediction.question.accelerators);
    cost.energy_by_activity = accelerators * inputs.at("power_usage_effectiveness").get<double>() *
                              accelerator_energy(prediction, inputs.at("power"));
    cost.energy = cost.energy_by_activity->total();
    if (inputs.contains("usd_per_kwh")) {
      cost.usd = cost.usd.value_or(0.0) + electricity_usd(inputs, *cost.energy);
    }
    if (inputs.contains("carbon_kg_per_kwh")) {
      cost.carbon_kg = cost.energy->count() / kJoulesPerKilowattHour *
                       inputs.at("carbon_kg_per_kwh").get<double>();
    }
  }
  if (const auto whole = whole_run(prediction)) {
    cost.run = cost_of_run(prediction, cost, inputs, *whole);
  }
  return cost;
}

std::optional<Watts> peak_power(const json& scenario, std::int64_t nodes,
                                std::int64_t accelerators) {
  if (!scenario.contains("cost") || !scenario.at("cost").contains("power")) return std::nullopt;
  const json& inputs = scenario.at("cost");
  const json& power = inputs.at("power");
  Watts of_nodes;
  if (power.contains("node")) {
    of_nodes = static_cast<double>(nodes) * power_of(power, "node");
  } else {
    for (const char* activity : {"computing", "exchanging", "waiting"}) {
      of_nodes = max(of_nodes, static_cast<double>(accelerators) * power_of(power, activity));
    }
  }
  return inputs.at("power_usage_effectiveness").get<double>() *
         ((1.0 + spare_share(scenario, nodes)) * of_nodes + fabric_power(power));
}

std::optional<double> bought_usd(const json& scenario) {
  if (!scenario.contains("cost") || !scenario.at("cost").contains("purchase")) return std::nullopt;
  return scenario.at("cost").at("purchase").at("usd").get<double>();
}

}  // namespace headway
