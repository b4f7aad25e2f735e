#include "sim/result/decision/run_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/quantile.h"

namespace headway {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

RunTime::RunTime(std::vector<double> walls, Seconds low, Seconds high) : walls_(std::move(walls)) {
  if (low > Seconds(0.0)) width_ = std::log(high / low) / (2.0 * normal_tail_quantile(0.05));
}

double RunTime::probability(Seconds deadline) const {
  double sum = 0.0;
  for (const double wall : walls_) {
    if (!std::isfinite(wall)) continue;
    const double late = std::log(deadline.count() / wall);
    sum += width_ > 0.0 ? normal_probability(late / width_) : (late >= 0.0 ? 1.0 : 0.0);
  }
  return sum / static_cast<double>(walls_.size());
}

Seconds RunTime::at(double probability) const {
  constexpr int kHalvings = 60;  // to the last digits of a double
  double least = kNever;
  double most = 0.0;
  std::size_t ending = 0;
  for (const double wall : walls_) {
    if (!std::isfinite(wall)) continue;
    least = std::min(least, wall);
    most = std::max(most, wall);
    ++ending;
  }
  if (probability * static_cast<double>(walls_.size()) > static_cast<double>(ending)) {
    return Seconds(kNever);
  }
  // All histories as long as the shortest, or as the longest; where some never end, the others have
  // to make up for them, far out in the tail.
  constexpr double kTail = 8.0;
  const double z = normal_tail_quantile(1.0 - probability);
  double low = std::log(least) + width_ * z;
  double high = std::log(most) + width_ * (ending == walls_.size() ? z : kTail);
  if (least == most && ending == walls_.size()) return Seconds(least * std::exp(width_ * z));
  for (int i = 0; i < kHalvings && low < high; ++i) {
    const double middle = (low + high) / 2.0;
    (this->probability(Seconds(std::exp(middle))) < probability ? low : high) = middle;
  }
  return Seconds(std::exp(high));
}

/// The mean of a lognormal X with median 1 is e^(width^2 / 2).
Seconds RunTime::mean() const {
  return Seconds(headway::mean(walls_) * std::exp(width_ * width_ / 2.0));
}

std::optional<double> run_tokens(const Prediction& prediction) {
  const nlohmann::json& scenario = prediction.question.scenario;
  if (!scenario.is_object()) return std::nullopt;
  constexpr std::array<std::pair<const char*, const char*>, 2> kPlaces{
      {{"reliability", "train_tokens"}, {"cost", "tokens"}}};
  for (const auto& [part, field] : kPlaces) {
    if (!scenario.contains(part) || !scenario.at(part).is_object()) continue;
    const nlohmann::json& of = scenario.at(part);
    if (of.contains(field) && of.at(field).is_number()) return of.at(field).get<double>();
  }
  return std::nullopt;
}

std::optional<double> run_iterations(const Prediction& prediction) {
  if (prediction.statistics) return prediction.statistics->steps;
  const std::optional<double> tokens = run_tokens(prediction);
  if (!tokens || !(prediction.throughput() > 0.0)) return std::nullopt;
  return *tokens / (prediction.throughput() * prediction.iteration_time.count());
}

namespace {

/// The times of a run that takes so many seconds where nothing fails.
RunTime stretched_run(const Prediction& prediction, double training) {
  const Seconds low(prediction.iteration_interval.low);
  const Seconds high(prediction.iteration_interval.high);
  if (!prediction.reliability) return {{training}, low, high};
  const ReliabilityPrediction& of = *prediction.reliability;
  constexpr std::size_t kOuter = 37;  // of 200: 0.185
  constexpr std::size_t kMiddle = 126;
  const auto stretched = [&](double goodput) {
    return goodput > 0.0 ? training / goodput : kNever;
  };
  std::vector<double> walls(kOuter, stretched(of.goodput.low));
  walls.insert(walls.end(), kMiddle, stretched(of.goodput.median));
  walls.insert(walls.end(), kOuter, stretched(of.goodput.high));
  return {std::move(walls), low, high};
}

}  // namespace

RunTime run_time(const Prediction& prediction, double tokens) {
  if (prediction.reliability && !prediction.reliability->time_to_train_s.empty() &&
      run_tokens(prediction) == tokens) {
    return {prediction.reliability->time_to_train_s, Seconds(prediction.iteration_interval.low),
            Seconds(prediction.iteration_interval.high)};
  }
  return stretched_run(prediction, tokens / prediction.throughput());
}

std::optional<RunTime> run_time(const Prediction& prediction) {
  if (prediction.statistics) {
    const double training = prediction.statistics->steps * prediction.iteration_time.count();
    return stretched_run(prediction, training);
  }
  const std::optional<double> tokens = run_tokens(prediction);
  if (!tokens || !(prediction.throughput() > 0.0)) return std::nullopt;
  return run_time(prediction, *tokens);
}

}  // namespace headway
