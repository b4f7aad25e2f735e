#pragma once

#include "sim/programs/pieces/stage_pieces.h"

namespace headway {

/// How gradients travel: an all-reduce, or a reduce-scatter where something is sharded.
[[nodiscard]] CollectiveKind gradient_collective(const Strategy& strategy);

/// How updated parameters travel to those that did not update them: an all-gather, or where ranks
/// update whole tensors, a broadcast of each rank's.
[[nodiscard]] CollectiveKind parameter_collective(const Strategy& strategy);

/// Whether the first and the last stage sum up the gradients of an embedding that both hold.
[[nodiscard]] bool exchanges_embedding(const JobShape& job);

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

/// What replicas gather of it: where parameters are sharded, frozen ones too.
[[nodiscard]] UpdatedPart gathered_of(const JobShape& job, const Piece& piece);

/// How many collectives so many of the parameters of a stage take, all of which are `all`: one, or
/// where ranks share out whole tensors, a broadcast from each rank that has any of them. What is no
/// matrix goes with one that is. Shares of a collective count as such.
[[nodiscard]] double gathers_of(const Strategy& strategy, const UpdatedPart& part,
                                const UpdatedPart& all, int ranks);

/// The message of a collective of replicas about such a part of their gradients, and what a rank
/// does to make it smaller and the sum of all ranks' whole again.
[[nodiscard]] Bytes gradient_message(const JobShape& job, const GradientPart& gradients);
[[nodiscard]] TimeByCause compression_time(const JobShape& job, const GradientPart& gradients);

}  // namespace headway
