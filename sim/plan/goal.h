#pragma once

#include <limits>
#include <optional>
#include <string>
#include <variant>

#include "sim/base/diagnostic.h"
#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/result/power.h"

namespace headway {

/// A run that has to be through in time, within a budget and a power, on the cluster that needs
/// least of something.
struct TrainingGoal {
  enum class Minimize { gpus, cost, days, energy };
  double tokens = 0.0;
  Seconds deadline = Seconds(std::numeric_limits<double>::infinity());
  double probability = 0.95;     ///< of being through, in (0, 1)
  double batch_within = 0.0;     ///< share that the global batch may be off by to fit a cluster
  std::optional<double> budget;  ///< US$ that may have been paid when it is through
  std::optional<Watts> power;    ///< that the building can supply
  Minimize minimize = Minimize::gpus;
};
template <>
inline constexpr Word<TrainingGoal::Minimize> kWords<TrainingGoal::Minimize>[] = {
    {"gpus", TrainingGoal::Minimize::gpus},
    {"cost", TrainingGoal::Minimize::cost},
    {"days", TrainingGoal::Minimize::days},
    {"energy", TrainingGoal::Minimize::energy}};

/// The most that fits on a cluster: a model of the library, the scenario's with larger hidden and
/// feed-forward sizes or with more layers, or a longer context.
struct LargestGoal {
  enum class Of { model, width, layers, context };
  Of of = Of::model;
};
template <>
inline constexpr Word<LargestGoal::Of> kWords<LargestGoal::Of>[] = {
    {"model", LargestGoal::Of::model},
    {"width", LargestGoal::Of::width},
    {"layers", LargestGoal::Of::layers},
    {"context", LargestGoal::Of::context}};

using Goal = std::variant<TrainingGoal, LargestGoal>;

/// Reads "tokens=2T deadline=30d probability=95% batch_within=5% budget=50M power=2MW
/// minimize=cost" or "largest=context", words in any order, with spaces or commas between them.
/// Tokens and US$ may have K, M, B or T behind the number; shares are in percent or numbers below
/// 1; all but tokens and deadline can be left out, and the deadline where minimize=days has a
/// budget or a power to keep to. Throws InputError with every problem, each with the place of
/// `where`, at which the text stands; the command line where that is nothing.
[[nodiscard]] Goal parse_goal(const std::string& text, const std::optional<Diagnostic>& where = {});

}  // namespace headway
