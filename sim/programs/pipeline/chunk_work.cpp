#include "sim/programs/pipeline/chunk_work.h"

#include <algorithm>
#include <tuple>

#include "sim/base/index.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/layers/exchanges.h"

namespace headway {
namespace {

/// Whether so many layers from either one on are of the same kinds.
bool same_layers(const Model& model, int a, int b, int count) {
  const auto first = model.layers.begin();
  return std::equal(first + a, first + a + count, first + b);
}

bool same_work(const Model& model, const Piece& a, const Piece& b) {
  const auto parts = [](const Piece& piece) {
    return std::tuple(piece.layers, piece.recomputed, piece.offloaded, piece.embedding, piece.head,
                      piece.begins_chunk);
  };
  return parts(a) == parts(b) && same_layers(model, a.first_layer, b.first_layer, a.layers);
}

}  // namespace

PassCost& PassCost::operator+=(const PassCost& other) {
  forward += other.forward;
  backward += other.backward;
  weight += other.weight;
  input += other.input;
  sent_forward += other.sent_forward;
  sent_backward += other.sent_backward;
  return *this;
}

ChunkWorks::ChunkWorks(const JobShape& job) : first_layers_{0} {
  first_layers_.reserve(job.layers_of_chunk.size() + 1);
  passed_on_.reserve(job.layers_of_chunk.size());
  const RankShape shape = rank_shape_of(*job.strategy);
  const Layer* handing_on = nullptr;
  for (const int layers : job.layers_of_chunk) {
    const int behind = first_layers_.back() + layers;
    first_layers_.push_back(behind);
    const Layer& last = behind > 0 ? job.model->layer(behind - 1) : job.model->first;
    passed_on_.push_back(&last == handing_on ? passed_on_.back() : stage_message(last, shape));
    handing_on = &last;
  }
}

bool ChunkWorks::are_alike(const JobShape& job, int a, int b) const {
  const int last = static_cast<int>(std::ssize(passed_on_)) - 1;
  if ((a == 0) != (b == 0) || (a == last) != (b == last)) return false;
  const int layers = at(job.layers_of_chunk, a);
  return at(job.layers_of_chunk, b) == layers &&
         same_layers(*job.model, at(first_layers_, a), at(first_layers_, b), layers);
}

const ChunkWork& ChunkWorks::of(const JobShape& job, int position) {
  for (const Known& known : known_) {
    if (are_alike(job, known.position, position)) return known.work;
  }
  Known& added = known_.emplace_back();
  added.position = position;
  ChunkWork& chunk = added.work;
  const std::vector<Piece> pieces = chunk_pieces(job, position);
  chunk.pieces.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    const PassCost& cost = of(job, piece);
    chunk.cost += cost;
    chunk.gradients += piece.gradients();
    chunk.gathered += gathered_of(job, piece);
    chunk.step += step_work(job, piece);
    chunk.pieces.push_back({piece, &cost, gathered_of(job, piece)});
  }
  return chunk;
}

const PassCost& ChunkWorks::of(const JobShape& job, const Piece& piece) {
  for (const KnownPiece& known : pieces_) {
    if (same_work(*job.model, known.piece, piece)) return known.cost;
  }
  KnownPiece& added = pieces_.emplace_back();
  added.piece = piece;
  PassCost& cost = added.cost;
  cost.forward = forward_time(job, piece);
  cost.backward = backward_time(job, piece);
  cost.sent_forward = forward_flows(job, piece);
  cost.sent_backward = backward_flows(job, piece);
  if (job.strategy->schedule->splits_backward) {
    cost.weight = weight_gradient_time(job, piece);
    cost.input = cost.backward + -1.0 * cost.weight;
  }
  return cost;
}

}  // namespace headway
