#pragma once

#include <vector>

#include "sim/jobs/compression/compression.h"
#include "sim/programs/stage_program.h"

namespace headway {

/// Part of a chunk whose gradients travel together: `layers` consecutive layers, and what stands
/// before or behind them.
struct Piece {
  int first_layer = 0;
  int layers = 0;
  int recomputed = 0;  ///< of those, how many recompute
  int offloaded = 0;   ///< of those, how many keep their activations in host memory
  bool embedding = false;
  bool head = false;
  bool begins_chunk = false;       ///< the first one in forward order
  double parameters = 0.0;         ///< on one rank, but for its routed experts
  double trained = 0.0;            ///< of those: all, or the adapters
  double expert_parameters = 0.0;  ///< of those
  double factors = 0.0;            ///< of those trained, where low-rank factors stand for matrices
  double matrices = 0.0;           ///< among the parameters, but for those of routed experts
  double expert_matrices = 0.0;    ///< among those of routed experts
  double tensors = 0.0;            ///< that the parameters are, but for those of routed experts

  [[nodiscard]] GradientPart gradients() const { return {trained, factors, tensors}; }
};

/// Cuts a chunk, in forward order, into pieces whose gradients are at least the strategy's bucket
/// (one layer each if that is 0), or took its cycle to compute. Filled from the back, because
/// backward passes finish there first; the first one has a size of its own, where it is said.
[[nodiscard]] std::vector<Piece> chunk_pieces(const JobShape& job, int global_chunk);

[[nodiscard]] TimeByCause forward_time(const JobShape& job, const Piece& piece);
[[nodiscard]] TimeByCause backward_time(const JobShape& job, const Piece& piece);
/// What of these passes crosses the fabric; of a backward pass in two parts all is of the first.
[[nodiscard]] PassFlows forward_flows(const JobShape& job, const Piece& piece);
[[nodiscard]] PassFlows backward_flows(const JobShape& job, const Piece& piece);
/// What of a backward pass schedules that split it may put off.
[[nodiscard]] TimeByCause weight_gradient_time(const JobShape& job, const Piece& piece);

/// Parameters on one rank that stand before and behind the layers of a piece.
[[nodiscard]] double parameters_of_ends(const JobShape& job, const Piece& piece);
/// What makes the matrices of its layers orthogonal, those that predict further ahead included.
[[nodiscard]] OrthogonalTime orthogonal_time(const JobShape& job, const Piece& piece);

}  // namespace headway
