#pragma once

#include <optional>
#include <string>

#include "sim/predict/job_run.h"
#include "sim/predict/what_if/what_if.h"
#include "sim/programs/workload.h"
#include "sim/result/prediction.h"
#include "sim/result/timeline.h"
#include "sim/scenario/scenario.h"

namespace headway {

class JobRunMemory;

struct SimulateOptions {
  int jobs = 1;  ///< simulations at a time
  /// Accelerators of the reference that scaling efficiency is measured against; nothing: the
  /// smallest job that keeps tensor, context and pipeline parallelism and fits in memory.
  std::optional<int> reference_accelerators;
  bool scaling = true;  ///< simulate the reference too
  WhatIfExtent what_if = WhatIfExtent::none;
  DrawsElsewhere draws_elsewhere = {};
  /// How many seconds the first draw takes, for whoever has simulated it: of several draws the
  /// others are simulated then, and the first again only if it is their median.
  std::optional<double> first_draw = {};
  JobRunMemory* memory = nullptr;  ///< of earlier scenarios, which may have been the same jobs
  bool even_if_it_does_not_fit = false;  ///< go on where memory is short
  std::string command_line;              ///< for provenance
};

/// A prediction and what it was read off.
struct Simulation {
  Prediction prediction;
  Workload workload;
  Timeline timeline;  ///< of the median replica; empty if the job does not fit
};

/// Predicts one scenario. Does not simulate a job that does not fit in memory (a negative answer,
/// not an error), unless told to.
[[nodiscard]] Simulation simulate(const Scenario& scenario, const SimulateOptions& options);

/// The same with what is shown of a single job: what its accelerators did, and, where the scenario
/// lists slow parts, what those cost, for whoever lists them asks that.
[[nodiscard]] Simulation simulate_in_full(const Scenario& scenario, SimulateOptions options);

}  // namespace headway
