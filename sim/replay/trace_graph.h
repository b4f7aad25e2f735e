#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/replay/trace_file.h"

namespace headway {

/// An operation that every data-parallel replica runs in every step.
struct TraceOperation {
  std::string type;
  int sequence = 0;
  int stage = 0;
  std::vector<int> after;  ///< operations of its own replica that end before it can start
  int meeting = -1;        ///< index into TraceGraph::meetings; -1 waits for nobody else
};

/// Operations that move data once all of them have started: what a member does before is waiting.
struct TraceMeeting {
  std::vector<int> members;      ///< of one replica
  bool across_replicas = false;  ///< those of all replicas meet
};

/// Which operations of a step wait for which. Replicas and steps are alike, so one replica of one
/// step says it all.
///
/// The rules, after Lin et al. 2025 (arXiv:2505.05713), section 3, and the record of the traces
/// published with it:
/// - compute operations of a stage run one after another; so do its sends and receives of either
///   direction, each kind on a stream of its own, and its gathers and reductions;
/// - the i-th receive comes after the compute operation number i - 1 of its direction and before
///   number i; the i-th send after number i; the k-th send of a stage meets the k-th receive of the
///   stage it goes to;
/// - the first send and receive of the backward pass come after the last forward operation but one
///   of the warm-up;
/// - parameters of a chunk are gathered before its first forward operation, by all replicas;
/// - after the last compute operation: garbage collection, reduction of norms, of the embedding
///   (first and last stage meet), of gradients (all replicas), the norm of all gradients
///   (everybody), the optimizer. Where gradients are reduced during the backward pass (there is a
///   separate reduction), those of a chunk follow its last backward operation.
struct TraceGraph {
  std::vector<TraceOperation> operations;
  std::vector<TraceMeeting> meetings;
  /// Every operation that waits for nobody else (>= 0) and every meeting m (as -1 - m), each after
  /// whatever it waits for.
  std::vector<int> order;
  int stages = 0;
};

/// Builds it from the first replica of the first step. What does not fit the rules, such as sends
/// that no receive matches, is reported.
[[nodiscard]] TraceGraph trace_graph(const std::vector<TraceRow>& rows, const std::string& path,
                                     Diagnostics& diagnostics);

}  // namespace headway
