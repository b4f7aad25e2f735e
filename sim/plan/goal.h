#pragma once

#include <string>
#include <variant>

#include "sim/base/units.h"

namespace headway {

/// A run that has to be through in time, on the smallest or the cheapest cluster.
struct TrainingGoal {
  enum class Minimize { gpus, usd };
  double tokens = 0.0;
  Seconds deadline;
  double probability = 0.95;  ///< of being through, in (0, 1)
  double batch_within = 0.0;  ///< share that the global batch may be off by to fit a cluster
  Minimize minimize = Minimize::gpus;
};

/// The most that fits on a cluster: a model of the library, the scenario's with larger hidden and
/// feed-forward sizes or with more layers, or a longer context.
struct LargestGoal {
  enum class Of { model, width, layers, context };
  Of of = Of::model;
};

using Goal = std::variant<TrainingGoal, LargestGoal>;

/// Reads "tokens=2T deadline=30d probability=95% batch_within=5% minimize=usd" or
/// "largest=context", words in any order, with spaces or commas between them. Tokens may have K, M,
/// B or T behind the number; shares are in percent or numbers below 1; all but tokens and deadline
/// can be left out. Throws InputError with every problem.
[[nodiscard]] Goal parse_goal(const std::string& text);

}  // namespace headway
