#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace headway {

/// What a number is over many histories of a job.
struct Percentiles {
  double mean = 0.0;
  double low = 0.0;  ///< 5th percentile
  double median = 0.0;
  double high = 0.0;  ///< 95th percentile
};

/// Requires at least one value.
[[nodiscard]] Percentiles percentiles_of(std::vector<double> values);

/// Nodes of a job that come and go.
struct SpotUse {
  int nodes = 0;
  int of_nodes = 0;    ///< of the job
  double there = 0.0;  ///< of them, over the wall time of all histories, as a share
};

/// Nodes that broke and are not back, in the long run and in closed form.
struct NodesInRepair {
  int spares = 0;
  double nodes = 0.0;          ///< mean number of them
  double beyond_spares = 0.0;  ///< share of the time in which there are more than the spares
};

/// Training over weeks, with what breaks in them.
struct ReliabilityPrediction {
  int runs = 0;  ///< histories
  /// Effective training time ratio: iterations that were kept, over wall time.
  Percentiles ettr;
  /// Work done over what a job without interruptions or checkpoints does in the same time; less
  /// than the ETTR where a job went on with fewer nodes or did more in a step.
  Percentiles goodput;
  double tokens_per_second = 0.0;  ///< over the wall time, mean
  /// Wall time until all tokens are trained, of each history, ascending; empty if the scenario asks
  /// for a time instead of tokens.
  std::vector<double> time_to_train_s;
  Percentiles interruptions;
  Seconds job_mttf;  ///< wall time over interruptions, of all histories; infinite without any
  std::map<std::string, double> interruptions_by_cause;   ///< mean of a history
  std::map<std::string, double> lost_gpu_hours_by_cause;  ///< lost work and recoveries, mean
  /// Where accelerator-hours went that trained nothing: "lost_work", "checkpoints", "detection",
  /// "restart", "waiting_for_nodes", "reduced_speed"; mean of a history.
  std::map<std::string, double> lost_gpu_hours;

  std::string recovery;        ///< as scenarios spell it
  double step_overhead = 0.0;  ///< what every step takes more for its sake, as a share
  std::optional<SpotUse> spot;

  std::optional<NodesInRepair> repair;  ///< where any node is ever lost

  std::string interval_by;  ///< "given", "young", "daly", "search"
  Seconds checkpoint_interval;
  Seconds young_interval;
  Seconds daly_interval;
  Bytes checkpoint_size;
  Seconds checkpoint_blocking;
};

}  // namespace headway
