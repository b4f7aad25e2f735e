#include "sim/result/run_cost.h"

#include <array>
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
constexpr std::array kComputing = {Cause::compute, Cause::recompute, Cause::optimizer};
constexpr std::array kExchanging = {Cause::tensor_parallel, Cause::context_parallel,
                                    Cause::expert_parallel, Cause::pipeline_transfer,
                                    Cause::data_parallel_exposed};

Seconds sum_of(const TimeByCause& time, std::span<const Cause> causes) {
  Seconds sum;
  for (const Cause cause : causes) sum += time[cause];
  return sum;
}

/// A power of the resolved scenario, which only has those that can be read.
Watts power_of(const json& power, const char* activity) {
  const auto watts = parse_power(power.at(activity).get<std::string>());
  HEADWAY_CHECK(watts.has_value(), "a resolved power can be read");
  return *watts;
}

/// Of one accelerator in one iteration.
EnergyByActivity accelerator_energy(const Prediction& prediction, const json& power) {
  const Seconds computing = sum_of(prediction.breakdown, kComputing);
  const Seconds exchanging = sum_of(prediction.breakdown, kExchanging);
  const Seconds waiting = prediction.breakdown.total() - computing - exchanging;
  return {.computing = power_of(power, "computing") * computing,
          .exchanging = power_of(power, "exchanging") * exchanging,
          .waiting = power_of(power, "waiting") * waiting};
}

/// A size of the resolved scenario, in the GB that prices are for.
double priced_gb(const json& size) {
  const auto bytes = parse_quantity<Bytes>(size.get<std::string>());
  return std::get<Bytes>(bytes).count() / kBytesPerPricedGb;
}

/// Of the time that is lost to failures and checkpoints, what is spent on doing work again.
double share_done_again(const Prediction& prediction) {
  if (!prediction.reliability) return 0.0;
  const auto& lost = prediction.reliability->lost_gpu_hours;
  double all = 0.0;
  for (const auto& [name, hours] : lost) all += hours;
  const auto again = lost.find("lost_work");
  return all > 0.0 && again != lost.end() ? again->second / all : 0.0;
}

/// Accelerators that are paid for: those that train and those that wait for one to break.
double paid_accelerators(const Prediction& prediction) {
  const Question& question = prediction.question;
  const auto training = static_cast<double>(question.accelerators);
  if (!prediction.reliability) return training;
  const auto spares = question.scenario->at("reliability").at("spare_nodes").get<double>();
  return training * (1.0 + spares / static_cast<double>(question.nodes));
}

RunCost::Run cost_of_run(const Prediction& prediction, const RunCost& iteration, const json& inputs,
                         double tokens) {
  const double iterations = tokens / iteration.tokens;
  const Seconds training = iterations * prediction.iteration_time;
  const RunTime through = run_time(prediction, tokens);
  RunCost::Run run;
  run.time = through.at(0.5);
  run.time_interval = through.interval();
  const Seconds lost = run.time - training;
  const Seconds again = share_done_again(prediction) * lost;
  if (inputs.contains("usd_per_gpu_hour")) {
    run.gpus_usd = inputs.at("usd_per_gpu_hour").get<double>() * paid_accelerators(prediction) *
                   run.time.count() / kSecondsPerHour;
  }
  if (inputs.contains("usd_per_gb_month")) {
    run.storage_usd = inputs.at("usd_per_gb_month").get<double>() * priced_gb(inputs.at("stored")) *
                      run.time.count() / kSecondsPerMonth;
  }
  if (inputs.contains("usd_per_gb_egress")) {
    run.egress_usd = inputs.at("usd_per_gb_egress").get<double>() * priced_gb(inputs.at("egress"));
  }
  if (iteration.energy_by_activity) {
    const double idle = static_cast<double>(prediction.question.accelerators) *
                        inputs.at("power_usage_effectiveness").get<double>() *
                        (lost - again).count();
    EnergyByActivity& energy = run.energy_by_activity.emplace(
        (training + again) / prediction.iteration_time * *iteration.energy_by_activity);
    energy.waiting += idle * (power_of(inputs.at("power"), "waiting") * Seconds(1.0));
    run.energy = energy.total();
    if (iteration.carbon_kg) {
      run.carbon_kg = *iteration.carbon_kg * (*run.energy / *iteration.energy);
    }
  }
  return run;
}

}  // namespace

std::optional<double> RunCost::Run::usd() const {
  std::optional<double> sum;
  for (const auto& part : {gpus_usd, storage_usd, egress_usd}) {
    if (part) sum = sum.value_or(0.0) + *part;
  }
  return sum;
}

std::optional<Interval> RunCost::Run::usd_interval() const {
  const std::optional<double> all = usd();
  if (!all) return std::nullopt;
  const double once = egress_usd.value_or(0.0);
  const auto at = [&](double seconds) { return once + (*all - once) * (seconds / time.count()); };
  return Interval{at(time_interval.low), at(time_interval.high)};
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
    cost.usd = inputs.at("usd_per_gpu_hour").get<double>() * accelerators *
               prediction.iteration_time.count() / kSecondsPerHour;
  }
  if (inputs.contains("power")) {
    cost.energy_by_activity = accelerators * inputs.at("power_usage_effectiveness").get<double>() *
                              accelerator_energy(prediction, inputs.at("power"));
    cost.energy = cost.energy_by_activity->total();
    if (inputs.contains("carbon_kg_per_kwh")) {
      cost.carbon_kg = cost.energy->count() / kJoulesPerKilowattHour *
                       inputs.at("carbon_kg_per_kwh").get<double>();
    }
  }
  const std::optional<double> tokens = run_tokens(prediction);
  if (tokens && cost.tokens > 0.0) cost.run = cost_of_run(prediction, cost, inputs, *tokens);
  return cost;
}

}  // namespace headway
