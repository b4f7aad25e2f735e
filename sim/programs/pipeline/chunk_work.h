#pragma once

#include <deque>
#include <vector>

#include "sim/programs/pieces/optimizer_step.h"
#include "sim/programs/pieces/replica_messages.h"
#include "sim/programs/pieces/stage_pieces.h"

namespace headway {

/// What passes through a piece or a chunk take, and send over the fabric.
struct PassCost {
  TimeByCause forward;
  TimeByCause backward;
  TimeByCause weight;  ///< of that, where the schedule may put it off
  TimeByCause input;   ///< the rest of it then
  PassFlows sent_forward;
  PassFlows sent_backward;

  PassCost& operator+=(const PassCost& other);
};

struct PieceWork {
  Piece piece;
  const PassCost* cost = nullptr;  ///< the same for pieces that are alike
  UpdatedPart gathered;
};

struct ChunkWork {
  std::vector<PieceWork> pieces;  ///< in forward order
  PassCost cost;                  ///< of all
  GradientPart gradients;         ///< of parameters that change, but for routed experts
  UpdatedPart gathered;           ///< those that replicas gather
  StepWork step;
};

/// The work of a job's chunks, worked out once for all that are alike, as most of a model are.
class ChunkWorks {
 public:
  explicit ChunkWorks(const JobShape& job);
  ChunkWorks(const ChunkWorks&) = delete;
  ChunkWorks& operator=(const ChunkWorks&) = delete;

  /// By position in the model; of the job, but for prices and the number of micro-batches.
  [[nodiscard]] const ChunkWork& of(const JobShape& job, int position);
  /// What that chunk hands on to the next.
  [[nodiscard]] Bytes passed_on(int position) const {
    return passed_on_[static_cast<std::size_t>(position)];
  }

 private:
  /// Whether both have the same layers, and the same before and behind them.
  [[nodiscard]] bool are_alike(const JobShape& job, int a, int b) const;
  [[nodiscard]] const PassCost& of(const JobShape& job, const Piece& piece);

  struct Known {
    int position = 0;  ///< of the first such chunk
    ChunkWork work;
  };
  std::vector<int> first_layers_;  ///< of chunks, and behind the last
  std::vector<Bytes> passed_on_;   ///< by position
  std::deque<Known> known_;
  struct KnownPiece {
    Piece piece;
    PassCost cost;
  };
  std::deque<KnownPiece> pieces_;
};

}  // namespace headway
