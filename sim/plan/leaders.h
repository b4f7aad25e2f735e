#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sim/plan/strategy_search.h"
#include "sim/result/prediction.h"
#include "sim/scenario/scenario.h"
#include "sim/sweep/mpi_crew.h"

namespace headway {

/// A strategy among the fastest, simulated on the fabric.
struct Leader {
  RankedStrategy ranked;
  ScenarioOptions options;  ///< read_scenario with these gives the job
  Prediction prediction;
  std::string lost;          ///< why it is not the first; empty for that
  bool is_on_front = false;  ///< nobody is as fast or faster and holds less

  [[nodiscard]] Seconds time() const { return prediction.iteration_time; }
  /// What the fullest rank holds.
  [[nodiscard]] Bytes memory() const;
};

struct LeaderOptions {
  std::string path;         ///< of the scenario
  ScenarioOptions options;  ///< with which the base scenario was read
  std::size_t best = 10;
  std::size_t most = std::numeric_limits<std::size_t>::max();  ///< whether or not all is settled
  std::vector<double> slacks = {};                             ///< see SearchOptions
  int jobs = 1;
  MpiCrew* crew = nullptr;  ///< who simulates leaders, if this process does not
  /// Told how many of how many simulations that are needed by now are done.
  std::function<void(std::size_t done, std::size_t of)> progress = {};
};

/// Searches a space and simulates the leaders, `best` of them at least and as many more as it takes
/// to settle the order, but no more than `most`: until no other could be the fastest unless the
/// simulation were kinder to it, against its closed form, than to those simulated so far
/// (kindness.h). Then those that leave memory free,
/// which the search found. Where speeds are drawn, one draw tells who is too slow, and those that
/// are close to the fastest are drawn as often as the scenario asks for. Fastest first; none where
/// nothing fits. `search`: the last one.
[[nodiscard]] std::vector<Leader> simulated_leaders(const StrategySpace& space,
                                                    const LeaderOptions& options,
                                                    StrategySearch& search);

/// What a follower of a crew does, until the leader has no more: simulates leaders of that
/// scenario, read with what is said of each beside `options`.
void follow_plan(MpiCrew& crew, const std::string& path, const ScenarioOptions& options);

/// What has to be set in the scenario to have the strategy.
[[nodiscard]] std::vector<Override> choice_overrides(const StrategySpace& space,
                                                     const StrategyChoice& choice);

/// Adds an override that replaces those of what it sets: the last one wins, and the others would
/// only make the command line longer.
void set_override(std::vector<Override>& overrides, Override field);

}  // namespace headway
