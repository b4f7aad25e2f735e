#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// What the operations of a trace are called that the rules of trace_graph.h speak of.
namespace trace_type {
inline constexpr std::string_view kForward = "forward-compute";
inline constexpr std::string_view kBackward = "backward-compute";
inline constexpr std::string_view kForwardSend = "forward-send";
inline constexpr std::string_view kForwardReceive = "forward-recv";
inline constexpr std::string_view kBackwardSend = "backward-send";
inline constexpr std::string_view kBackwardReceive = "backward-recv";
inline constexpr std::string_view kGather = "params-all-gather";
inline constexpr std::string_view kReduce = "grads-reduce-scatter";
inline constexpr std::string_view kSeparateReduce = "separate-grads-all-reduce";
inline constexpr std::string_view kNormReduce = "layernorm-grads-all-reduce";
inline constexpr std::string_view kEmbeddingReduce = "embedding-grads-all-reduce";
inline constexpr std::string_view kClip = "optimizer-clip-main-grad";
inline constexpr std::string_view kOptimizer = "optimizer";
inline constexpr std::string_view kGarbage = "gc";
}  // namespace trace_type

/// One operation that one rank ran in one step, as a trace records it.
struct TraceRow {
  int replica = 0;  ///< data-parallel rank
  int stage = 0;
  int rank = 0;
  int step = 0;
  std::string type;    ///< one of trace_type
  double start = 0.0;  ///< seconds, by the rank's clock
  double duration = 0.0;
  int sequence = 0;      ///< counts operations of its type in this step on this rank
  int chunk = -1;        ///< model chunk on this stage, -1 where it has none
  int model_chunk = -1;  ///< the same counted through the model

  [[nodiscard]] double end() const { return start + duration; }
};

/// Reads a trace of operations as comma-separated values, plain or gzipped: a line of names, of
/// which dp_rank, stage, rank, step, optype, start_ts, duration, seq_id, mc and gmc are needed, in
/// any order, then one row an operation. Times are in seconds. Reports every row that is wrong (at
/// most 20 of them); nobody uses the rows once there are errors.
[[nodiscard]] std::vector<TraceRow> read_trace(const std::string& path, Diagnostics& diagnostics);

}  // namespace headway
