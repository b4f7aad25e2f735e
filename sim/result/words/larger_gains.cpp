#include "sim/result/words/larger_gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/result/number_text.h"

namespace headway {
namespace {

struct LossAdvice {
  std::string_view name;
  std::string_view title;
  std::string_view remedy;
};
constexpr LossAdvice kLosses[] = {
    {"lost_work", "work done again",
     "checkpoints more often, or on the nodes themselves, shrink it"},
    {"checkpoints", "checkpoints", "faster storage or asynchronous ones shrink it"},
    {"detection", "detecting failures", "a shorter time-out shrinks it"},
    {"restart", "restarting",
     "a recovery in place (reliability.recovery) or a faster start shrinks it"},
    {"waiting_for_nodes", "waiting for nodes",
     "spare nodes, or a recovery that goes on with fewer (reliability.recovery: shrink, drop_out), "
     "shrink it"},
    {"reduced_speed", "steps with fewer nodes", "spare nodes or faster repairs shrink it"}};

std::string gain_of_weeks(const ReliabilityPrediction& weeks, double share) {
  double all = 0.0;
  for (const auto& [name, hours] : weeks.lost_gpu_hours) all += hours;
  if (all <= 0.0 || weeks.goodput.mean >= 1.0) return "";
  // What is not lost is goodput.
  const double whole = all / (1.0 - weeks.goodput.mean);
  const auto hours_of = [&](const LossAdvice& loss) {
    const auto found = weeks.lost_gpu_hours.find(std::string(loss.name));
    return found == weeks.lost_gpu_hours.end() ? 0.0 : found->second;
  };
  const LossAdvice& largest = *std::ranges::max_element(kLosses, {}, hours_of);
  const double hours = hours_of(largest);
  // Of an iteration only what goodput leaves is there to be gained.
  if (hours / whole <= share * weeks.goodput.mean) return "";
  return fmt::format("Largest gain left: {}, {} of {} GPU-hours; {}.", largest.title,
                     prefixed_count(hours), prefixed_count(whole), largest.remedy);
}

/// Replicas of one kind each can share out micro-batches by how fast they are.
std::string_view remedy_of_kinds(const nlohmann::json& strategy) {
  const auto degree = [&](const char* field) { return strategy.value(field, 1); };
  const bool is_by_speed = strategy.value("micro_batches_by_speed", false);
  if (degree("pipeline_parallel") > 1) {
    return "more layers on faster stages (layers_per_stage) shrink it";
  }
  constexpr int kSharedOptimizer = 1;
  if (is_by_speed || degree("data_parallel") == 1 ||
      strategy.value("zero_stage", 0) > kSharedOptimizer) {
    return "";
  }
  return "giving them more of the micro-batches (micro_batches_by_speed) shrinks it";
}

std::string gain_of_kinds(const Prediction& prediction, double share) {
  if (!prediction.accelerator_kinds) return "";
  const nlohmann::json& scenario = prediction.question.scenario;
  if (!scenario.is_object() || !scenario.contains("strategy")) return "";
  const auto& kinds = prediction.accelerator_kinds->kinds;
  double accelerators = 0.0;
  double waiting = 0.0;
  for (const KindsUse::Kind& kind : kinds) {
    accelerators += static_cast<double>(kind.accelerators);
    waiting += static_cast<double>(kind.accelerators) * kind.waiting_share;
  }
  if (accelerators <= 0.0 || waiting / accelerators <= share) return "";
  const std::string_view remedy = remedy_of_kinds(scenario["strategy"]);
  if (remedy.empty()) return "";
  const KindsUse::Kind& idlest =
      *std::ranges::max_element(kinds, {}, &KindsUse::Kind::waiting_share);
  return fmt::format("Largest gain left: {} waits for slower accelerators {} % of the time; {}.",
                     idlest.accelerator, percent(idlest.waiting_share), remedy);
}

}  // namespace

std::string larger_gain(const Prediction& prediction, double share) {
  const std::string of_kinds = gain_of_kinds(prediction, share);
  if (!of_kinds.empty()) return of_kinds;
  return prediction.reliability ? gain_of_weeks(*prediction.reliability, share) : "";
}

}  // namespace headway
