#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/programs/stage_pieces.h"

namespace headway {

/// Where the work before or after a chunk is done elsewhere, and what goes there.
struct ChunkNeighbour {
  ChunkPlace place;
  Bytes message;
};

/// One chunk of a pipeline stage while its program is written: its pieces, its blocks, and how far
/// it has come.
struct PipelineChunk {
  std::vector<Piece> pieces;
  std::optional<ChunkNeighbour> before;      ///< gradients go there
  std::optional<ChunkNeighbour> after;       ///< activations do
  std::vector<std::int32_t> forward_passes;  ///< a piece each
  std::vector<std::int32_t> backward_passes;
  std::vector<std::int32_t> weight_passes;  ///< of a backward pass in two parts, like the next two
  std::int32_t whole_forward = -1;
  std::int32_t whole_backward = -1;
  std::int32_t input_gradient = -1;
  std::int32_t weight_gradient = -1;
  std::vector<std::int32_t> gather_slots;  ///< a piece each, empty if nothing is gathered ahead
  std::vector<std::int32_t> expert_gather_slots;
  GradientPart gradients;  ///< of parameters that change, but for routed experts
  UpdatedPart gathered;    ///< those that replicas gather
  int forwards_done = 0;
  int gradients_done = 0;
};

}  // namespace headway
