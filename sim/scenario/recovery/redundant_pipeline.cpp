#include <algorithm>
#include <cmath>

#include "sim/scenario/recovery/recovery.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {
namespace {

/// Nodes that a pipeline goes through.
double nodes_of(const ReliabilitySettings& job) { return std::round(job.nodes_per_replica); }

/// A node that does the work of its successor too is a stage twice as long. With n nodes of a time
/// unit each and m micro-batches a pipeline takes n + m - 1 units, and with one stage of two units
/// in it n + 2 (m - 1): the way through is as long as before, and the longest stage sets the pace.
/// All replicas wait for it. Lost nodes are taken to stand in different pipelines, up to one in
/// each.
double speed(const ReliabilitySettings& job, int missing) {
  if (missing == 0) return 1.0;
  if (missing > job.replicas) return 0.0;
  const double rest = job.micro_batches - 1.0;
  return (nodes_of(job) + rest) / (nodes_of(job) + 2.0 * rest);
}

/// Every node also runs the forward pass of its successor, a third of a forward and a backward pass
/// (2 and 4 FLOPs a parameter), for m micro-batches; as much of it as fits is done while the node
/// waits in the pipeline, n - 1 units.
double overhead(const ReliabilitySettings& job) {
  const double forward = job.micro_batches / 3.0;
  const double bubble = nodes_of(job) - 1.0;
  return std::max(0.0, forward - bubble) / (nodes_of(job) + job.micro_batches - 1.0);
}

}  // namespace

/// Every node of a pipeline keeps the layers of its successor too and runs their forward passes
/// beside its own, so that it goes on with both when the successor is lost (Bamboo). Memory for
/// them is not counted: Bamboo keeps them in the host's.
Recovery redundant_pipeline() {
  return {
      .name = "redundant_pipeline",
      .title = "redundant pipeline",
      .what =
          "Every node of a pipeline can do the work of the next one too, and goes on with "
          "both when that is lost; what it does ahead for this makes every step longer.",
      .source = "Thorpe et al. 2023 (NSDI, Bamboo)",
      .in_place = true,
      .speed = speed,
      .pause = [](const ReliabilitySettings& job) { return job.reconfigure; },
      .rejoin = [](const ReliabilitySettings& job) { return job.reconfigure + job.node_state(); },
      .overhead = overhead,
      .obstacle = [](const ReliabilitySettings& job) -> std::string_view {
        if (job.replicas < job.pipelines) return "a rank keeps states that nobody else has";
        return job.stages > 1 && nodes_of(job) > 1.0
                   ? ""
                   : "no pipeline of it goes through several nodes";
      }};
}

}  // namespace headway
