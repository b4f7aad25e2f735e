#pragma once

#include <string>

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

/// Reads "tokens=2T deadline=30d probability=95% batch_within=5% minimize=usd", words in any order,
/// with spaces or commas between them.
/// Tokens may have K, M, B or T behind the number; shares are in percent or numbers below 1; all
/// but tokens and deadline can be left out. Throws InputError with every problem.
[[nodiscard]] TrainingGoal parse_goal(const std::string& text);

}  // namespace headway
