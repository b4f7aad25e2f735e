#pragma once

#include "sim/programs/pieces/stage_pieces.h"

namespace headway {

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

/// What a rank does between its last gradient and the end of the step. Of matrices that are made
/// orthogonal it has those that its part of the parameters touches: with M of them, a slice of 1/r
/// at most M/r + 1, whole ones M/r rounded up.
[[nodiscard]] TimeByCause step_time(const JobShape& job, const StepWork& work);

/// Whether ranks that update slices of matrices gather these first: what is made orthogonal is a
/// whole matrix (Liu et al. 2025, arXiv:2502.16982, algorithm 1).
[[nodiscard]] bool gathers_momenta(const Strategy& strategy);

}  // namespace headway
