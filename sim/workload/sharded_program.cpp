#include <numeric>
#include <vector>

#include "sim/base/kernel_shape.h"
#include "sim/workload/program_builder.h"
#include "sim/workload/stage_pieces.h"
#include "sim/workload/stage_program.h"

namespace headway {
namespace {

class ShardedProgram {
 public:
  explicit ShardedProgram(const JobShape& job)
      : job_(job), strategy_(*job.strategy), builder_("rank"), pieces_(chunk_pieces(job, 0)) {
    const int ranks = strategy_.shard_ranks();
    factor_ = collective_volume(CollectiveKind::all_gather, CollectiveAlgorithm::ring, ranks)
                  .bytes_factor;
    copies_factor_ = collective_volume(CollectiveKind::all_reduce, CollectiveAlgorithm::ring,
                                       strategy_.replicas() / ranks)
                         .bytes_factor /
                     ranks;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      trained_ += pieces_[i].trained;
      forward_blocks_.push_back(
          builder_.add_block("forward", slowed(forward_time(job, pieces_[i]), gather_of(i + 1))));
      const Seconds transfers =
          (strategy_.reshard_after_forward ? gather_of(i - 1) : Seconds(0.0)) + reduce_of(i + 1);
      backward_blocks_.push_back(
          builder_.add_block("backward", slowed(backward_time(job, pieces_[i]), transfers)));
    }
  }

  Program built() && {
    for (int i = 0; i < static_cast<int>(strategy_.micro_batches()); ++i) {
      builder_.set_pass(i, 0);
      forward();
      backward();
    }
    builder_.set_pass(-1, -1);
    add_up_copies();
    if (last_copies_ >= 0) builder_.wait(last_copies_);
    if (last_reduce_ >= 0) builder_.wait(last_reduce_);
    builder_.compute(builder_.add_block("optimizer", step_time(job_, trained_)));
    return std::move(builder_).finished();
  }

 private:
  [[nodiscard]] bool sharded() const { return strategy_.shard_ranks() > 1; }
  [[nodiscard]] bool has_copies() const { return strategy_.shard_ranks() < strategy_.replicas(); }

  [[nodiscard]] Bytes gathered_bytes(const Piece& piece) const {
    return Bytes(factor_ * piece.parameters * 2.0);
  }
  [[nodiscard]] Bytes gradient_bytes(const Piece& piece) const {
    return Bytes(piece.trained * bytes_per_element(strategy_.gradient_precision));
  }

  /// What the transfers of piece i take while another piece computes; nothing for no piece.
  [[nodiscard]] Seconds gather_of(std::size_t i) const {
    const bool overlaps = sharded() && strategy_.overlap_parameter_gather && i < pieces_.size();
    return overlaps ? job_.idle_gather.time(gathered_bytes(pieces_[i])) : Seconds(0.0);
  }
  [[nodiscard]] Seconds reduce_of(std::size_t i) const {
    const bool overlaps = sharded() && strategy_.overlap_gradient_reduce && i < pieces_.size() &&
                          pieces_[i].trained > 0.0;
    return overlaps ? job_.idle_reduce.time(factor_ * gradient_bytes(pieces_[i])) : Seconds(0.0);
  }

  [[nodiscard]] TimeByCause slowed(TimeByCause time, Seconds transfers) const {
    time[Cause::data_parallel_exposed] += job_.interference * min(time.total(), transfers);
    return time;
  }

  std::int32_t gather(const Piece& piece) {
    return builder_.join(kParameterGather, gathered_bytes(piece));
  }

  /// Runs the pieces in the given order, each after its parameters have come; with overlap those of
  /// the next piece are on their way meanwhile. The first `at_hand` of them are there already.
  template <class Run>
  void gather_and_run(const std::vector<std::size_t>& order, std::size_t at_hand, Run run) {
    std::int32_t ahead = -1;
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::int32_t slot = ahead;
      if (slot < 0 && sharded() && i >= at_hand) slot = gather(pieces_[order[i]]);
      ahead = -1;
      if (sharded() && strategy_.overlap_parameter_gather && i + 1 < order.size() &&
          i + 1 >= at_hand) {
        ahead = gather(pieces_[order[i + 1]]);
      }
      if (slot >= 0) builder_.wait(slot);
      run(order[i]);
    }
  }

  void forward() {
    std::vector<std::size_t> order(pieces_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    gather_and_run(order, 0, [&](std::size_t i) { builder_.compute(forward_blocks_[i]); });
  }

  /// The last piece's parameters are still there from the forward pass, or all are.
  void backward() {
    std::vector<std::size_t> order(pieces_.size());
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    const std::size_t at_hand = strategy_.reshard_after_forward ? 1 : order.size();
    gather_and_run(order, at_hand, [&](std::size_t i) {
      builder_.compute(backward_blocks_[i]);
      if (strategy_.replicas() > 1 && pieces_[i].trained > 0.0) reduce(pieces_[i]);
    });
  }

  void reduce(const Piece& piece) {
    add_up_copies();
    if (sharded()) {
      last_reduce_ = builder_.join(kGradientReduce, factor_ * gradient_bytes(piece));
      if (!strategy_.overlap_gradient_reduce) builder_.wait(last_reduce_);
    }
    if (has_copies()) reduced_ = &piece;
    if (!strategy_.overlap_gradient_reduce) add_up_copies();
  }

  /// The parts of the piece reduced last, once they are there.
  void add_up_copies() {
    if (reduced_ == nullptr) return;
    if (last_reduce_ >= 0) builder_.wait(last_reduce_);
    last_copies_ = builder_.join(kReplicaReduce, copies_factor_ * gradient_bytes(*reduced_));
    reduced_ = nullptr;
    if (!strategy_.overlap_gradient_reduce) builder_.wait(last_copies_);
  }

  const JobShape& job_;
  const Strategy& strategy_;
  ProgramBuilder builder_;
  std::vector<Piece> pieces_;
  std::vector<std::int32_t> forward_blocks_;
  std::vector<std::int32_t> backward_blocks_;
  double trained_ = 0.0;
  double factor_ = 0.0;         ///< of what a gather or a reduce-scatter moves
  double copies_factor_ = 0.0;  ///< of what an all-reduce between copies moves, of a whole piece
  std::int32_t last_reduce_ = -1;
  std::int32_t last_copies_ = -1;
  const Piece* reduced_ = nullptr;  ///< whose parts the copies have not summed up yet
};

}  // namespace

Program sharded_program(const JobShape& job) { return ShardedProgram(job).built(); }

}  // namespace headway
