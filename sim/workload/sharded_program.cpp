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
    for (const Piece& piece : pieces_) {
      forward_blocks_.push_back(builder_.add_block("forward", forward_time(job, piece)));
      backward_blocks_.push_back(builder_.add_block("backward", backward_time(job, piece)));
      trained_ += piece.trained;
    }
    factor_ = collective_volume(CollectiveKind::all_gather, CollectiveAlgorithm::ring,
                                replica_ranks(strategy_))
                  .bytes_factor;
  }

  Program built() && {
    for (int i = 0; i < static_cast<int>(strategy_.micro_batches()); ++i) {
      builder_.set_pass(i, 0);
      forward();
      backward();
    }
    builder_.set_pass(-1, -1);
    if (last_reduce_ >= 0) builder_.wait(last_reduce_);
    builder_.compute(builder_.add_block("optimizer", step_time(job_, trained_)));
    return std::move(builder_).finished();
  }

 private:
  [[nodiscard]] bool sharded() const { return replica_ranks(strategy_) > 1; }

  std::int32_t gather(const Piece& piece) {
    return builder_.join(kParameterGather, Bytes(factor_ * piece.parameters * 2.0));
  }

  /// Runs the pieces in the given order, each after its parameters have come; with overlap those of
  /// the next piece are on their way meanwhile.
  template <class Run>
  void gather_and_run(const std::vector<std::size_t>& order, bool first_is_at_hand, Run run) {
    std::int32_t ahead = -1;
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::int32_t slot = ahead;
      const bool is_at_hand = first_is_at_hand && i == 0;
      if (slot < 0 && sharded() && !is_at_hand) slot = gather(pieces_[order[i]]);
      ahead = -1;
      if (sharded() && strategy_.overlap_parameter_gather && i + 1 < order.size()) {
        ahead = gather(pieces_[order[i + 1]]);
      }
      if (slot >= 0) builder_.wait(slot);
      run(order[i]);
    }
  }

  void forward() {
    std::vector<std::size_t> order(pieces_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    gather_and_run(order, false, [&](std::size_t i) { builder_.compute(forward_blocks_[i]); });
  }

  /// The last piece's parameters are still there from the forward pass.
  void backward() {
    std::vector<std::size_t> order(pieces_.size());
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    gather_and_run(order, true, [&](std::size_t i) {
      builder_.compute(backward_blocks_[i]);
      if (!sharded() || pieces_[i].trained == 0.0) return;
      last_reduce_ = builder_.join(
          kGradientReduce,
          Bytes(factor_ * pieces_[i].trained * bytes_per_element(strategy_.gradient_precision)));
      if (!strategy_.overlap_gradient_reduce) builder_.wait(last_reduce_);
    });
  }

  const JobShape& job_;
  const Strategy& strategy_;
  ProgramBuilder builder_;
  std::vector<Piece> pieces_;
  std::vector<std::int32_t> forward_blocks_;
  std::vector<std::int32_t> backward_blocks_;
  double trained_ = 0.0;
  double factor_ = 0.0;
  std::int32_t last_reduce_ = -1;
};

}  // namespace

Program sharded_program(const JobShape& job) { return ShardedProgram(job).built(); }

}  // namespace headway
