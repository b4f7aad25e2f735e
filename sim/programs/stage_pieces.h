#pragma once

#include <optional>
#include <vector>

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

/// Parameters that replicas hand each other once they are updated, and the matrices among them.
struct UpdatedPart {
  double elements = 0.0;
  double matrices = 0.0;
  double wide = 0.0;  ///< of the elements, the embedding's and the head's
  UpdatedPart& operator+=(const UpdatedPart& other) {
    elements += other.elements;
    matrices += other.matrices;
    wide += other.wide;
    return *this;
  }
};
[[nodiscard]] inline UpdatedPart operator*(double share, const UpdatedPart& part) {
  return {share * part.elements, share * part.matrices, share * part.wide};
}
/// Their bytes as they are gathered, and those of momenta of as many, in 16 bits.
[[nodiscard]] double gathered_bytes(const Strategy& strategy, const UpdatedPart& part);
inline constexpr double kMomentumBytes = 2.0;

/// What a step of the optimizer is about, before ranks share it out.
struct StepWork {
  double trained = 0.0;   ///< parameters, but for routed experts
  double ends = 0.0;      ///< of those, the embedding's and the head's
  double experts = 0.0;   ///< parameters of routed ones
  double matrices = 0.0;  ///< of layers, but for routed experts
  double expert_matrices = 0.0;
  OrthogonalTime orthogonal;  ///< of all of them

  [[nodiscard]] double in_layers() const { return trained - ends; }
  StepWork& operator+=(const StepWork& other);
};
[[nodiscard]] StepWork step_work(const JobShape& job, const Piece& piece);

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

/// What replicas gather of it: where parameters are sharded, frozen ones too.
[[nodiscard]] UpdatedPart gathered_of(const JobShape& job, const Piece& piece);

/// How many collectives so many of the parameters of a stage take, all of which are `all`: one, or
/// where ranks share out whole tensors, a broadcast from each rank that has any of them. What is no
/// matrix goes with one that is. Shares of a collective count as such.
[[nodiscard]] double gathers_of(const Strategy& strategy, const UpdatedPart& part,
                                const UpdatedPart& all, int ranks);

/// The chunk so many steps behind one of a stage's, if what passes between them has to travel;
/// nothing where the model begins or ends in between.
[[nodiscard]] std::optional<ChunkPlace> chunk_elsewhere(const Strategy& strategy, int stage,
                                                        int chunk, int steps);

/// From the last layer of a chunk to the first of the next one.
[[nodiscard]] Bytes passed_on(const JobShape& job, int global_chunk);
/// The largest of these.
[[nodiscard]] Bytes largest_passed_on(const JobShape& job);

/// The message of a collective of replicas about such a part of their gradients, and what a rank
/// does to make it smaller and the sum of all ranks' whole again.
[[nodiscard]] Bytes gradient_message(const JobShape& job, const GradientPart& gradients);
[[nodiscard]] TimeByCause compression_time(const JobShape& job, const GradientPart& gradients);

/// What a rank does between its last gradient and the end of the step. Of matrices that are made
/// orthogonal it has those that its part of the parameters touches: with M of them, a slice of 1/r
/// at most M/r + 1, whole ones M/r rounded up.
[[nodiscard]] TimeByCause step_time(const JobShape& job, const StepWork& work);

/// Whether ranks that update slices of matrices gather these first: what is made orthogonal is a
/// whole matrix (Liu et al. 2025, arXiv:2502.16982, algorithm 1).
[[nodiscard]] bool gathers_momenta(const Strategy& strategy);

}  // namespace headway
