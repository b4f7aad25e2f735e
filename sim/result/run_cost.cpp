#include "sim/result/run_cost.h"

#include <array>
#include <span>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr double kSecondsPerHour = 3600.0;
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
Joules accelerator_energy(const Prediction& prediction, const json& power) {
  const Seconds computing = sum_of(prediction.breakdown, kComputing);
  const Seconds exchanging = sum_of(prediction.breakdown, kExchanging);
  const Seconds waiting = prediction.breakdown.total() - computing - exchanging;
  return power_of(power, "computing") * computing + power_of(power, "exchanging") * exchanging +
         power_of(power, "waiting") * waiting;
}

}  // namespace

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
    cost.energy = accelerators * inputs.at("power_usage_effectiveness").get<double>() *
                  accelerator_energy(prediction, inputs.at("power"));
    if (inputs.contains("carbon_kg_per_kwh")) {
      cost.carbon_kg = cost.energy->count() / kJoulesPerKilowattHour *
                       inputs.at("carbon_kg_per_kwh").get<double>();
    }
  }
  if (inputs.contains("tokens") && cost.tokens > 0.0) {
    cost.iterations = inputs.at("tokens").get<double>() / cost.tokens;
  }
  return cost;
}

}  // namespace headway
