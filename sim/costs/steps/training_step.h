#pragma once

#include <string>
#include <vector>

namespace headway {

/// A small network that is really trained, to hold predictions against: `layers` square linear
/// layers with GELU and Adam in fp32. Its ranks are replicas, each a pipeline of `pipeline_stages`
/// ranks next to each other; the gradients of each layer are all-reduced (ring) among the replicas.
struct TrainingStep {
  std::string id;
  int layers = 4;
  int width = 512;
  int batch = 128;          ///< rows of a replica
  int pipeline_stages = 1;  ///< that share out the layers evenly
  int micro_batches = 1;    ///< all forward, then all backward in the opposite order
  bool overlap = false;     ///< all-reduces run beside the backward pass, on a thread of their own
  int steps = 12;           ///< that are measured, after three that are not
  int slow_rank = -1;       ///< whose compute takes `slow_factor` as long; -1: none
  double slow_factor = 1.0;
  double jitter = 0.0;  ///< each rank's compute takes 1 + this * Exp(1) as long, anew every step
  /// Where above 0, compute is no work but a wait of operations over this rate: more ranks than
  /// cores, as accelerators leave the processor idle. Stragglers need it.
  double emulated_flops_per_s = 0.0;
};

/// What was measured of one.
struct MeasuredStep {
  TrainingStep step;
  int ranks = 1;
  double time_s = 0.0;        ///< median over the steps of the slowest rank's time
  double spread = 0.0;        ///< 1.4826 MAD over the median
  double contaminated = 0.0;  ///< share of the time in which other work held up a rank
};

/// The factor on a rank's compute in one step. The same on every machine, so that a prediction can
/// draw the same jitter.
[[nodiscard]] double compute_factor(const TrainingStep& step, int rank, int index);

/// Why `ranks` ranks cannot run a step; empty if they can.
[[nodiscard]] std::string unrunnable_reason(const TrainingStep& step, int ranks);

}  // namespace headway
