#include <string>
#include <vector>

#include "sim/base/kernel_shape.h"
#include "sim/strategy/schedule.h"
#include "sim/workload/program_builder.h"
#include "sim/workload/stage_pieces.h"
#include "sim/workload/stage_program.h"

namespace headway {
namespace {

/// One chunk of the stage: its pieces, its blocks, and how far it has come.
struct Chunk {
  std::vector<Piece> pieces;
  std::vector<std::int32_t> forward_blocks;  ///< a piece each
  std::vector<std::int32_t> backward_blocks;
  std::int32_t whole_forward = -1;
  std::int32_t whole_backward = -1;
  std::vector<std::int32_t> gather_slots;  ///< a piece each, empty if nothing is gathered ahead
  int forwards_done = 0;
  int backwards_done = 0;
};

class PipelineProgram {
 public:
  PipelineProgram(const JobShape& job, int stage)
      : job_(job),
        strategy_(*job.strategy),
        stage_(stage),
        stages_(strategy_.pipeline_parallel),
        micro_batches_(static_cast<int>(strategy_.micro_batches())),
        builder_("stage " + std::to_string(stage)) {
    // Every tensor-parallel rank sends its part of the activations: with sequence parallelism that
    // is all it has, without it Megatron-LM scatters them first (Narayanan et al. 2021, 4.1).
    transfer_ = Bytes(static_cast<double>(strategy_.micro_batch * strategy_.sequence_length) /
                      strategy_.context_parallel * static_cast<double>(job.model->hidden) * 2.0 /
                      strategy_.tensor_parallel);
    for (int c = 0; c < strategy_.virtual_stages; ++c) add_chunk(c);
  }

  Program built() && {
    if (gathers_ahead()) gather_ahead();
    for (const ScheduleStep& step : stage_schedule(strategy_.schedule, stage_, stages_,
                                                   strategy_.virtual_stages, micro_batches_)) {
      builder_.set_pass(step.micro_batch, step.chunk);
      if (step.backward) {
        backward(step);
      } else {
        forward(step);
      }
    }
    builder_.set_pass(-1, -1);
    finish_step();
    return std::move(builder_).finished();
  }

 private:
  [[nodiscard]] bool reduces() const { return strategy_.replicas() > 1 && trained_ > 0.0; }
  /// Sharded gradients do not wait for the other micro-batches: nobody would hold all of them.
  [[nodiscard]] bool reduces_every_pass() const {
    return strategy_.sharding == Sharding::gradients;
  }
  [[nodiscard]] bool gathers() const { return reduces() && strategy_.sharding != Sharding::none; }
  [[nodiscard]] bool gathers_ahead() const {
    return gathers() && strategy_.overlap_parameter_gather;
  }
  [[nodiscard]] int global_chunk(int chunk) const { return chunk * stages_ + stage_; }
  [[nodiscard]] bool is_first(int chunk) const { return global_chunk(chunk) == 0; }
  [[nodiscard]] bool is_last(int chunk) const {
    return global_chunk(chunk) == strategy_.chunks() - 1;
  }
  /// Message slots of any stage: activations of (chunk, micro-batch), then gradients.
  [[nodiscard]] std::int32_t activation_slot(int chunk, int micro_batch) const {
    return chunk * micro_batches_ + micro_batch;
  }
  [[nodiscard]] std::int32_t gradient_slot(int chunk, int micro_batch) const {
    return (strategy_.virtual_stages + chunk) * micro_batches_ + micro_batch;
  }

  void add_chunk(int c) {
    Chunk chunk;
    chunk.pieces = chunk_pieces(job_, global_chunk(c));
    TimeByCause whole_forward;
    TimeByCause whole_backward;
    for (const Piece& piece : chunk.pieces) {
      const TimeByCause ahead = forward_time(job_, piece);
      const TimeByCause back = backward_time(job_, piece);
      whole_forward += ahead;
      whole_backward += back;
      chunk.forward_blocks.push_back(builder_.add_block("forward", ahead));
      chunk.backward_blocks.push_back(builder_.add_block("backward", back));
      trained_ += piece.trained;
    }
    chunk.whole_forward = builder_.add_block("forward", whole_forward);
    chunk.whole_backward = builder_.add_block("backward", whole_backward);
    chunks_.push_back(std::move(chunk));
  }

  /// What the last step updated is gathered while this one begins; part of it cannot hide.
  void gather_ahead() {
    if (job_.never_hidden > 0.0) {
      builder_.wait(join_gather(job_.never_hidden * trained_));
    }
    for (Chunk& chunk : chunks_) {
      for (const Piece& piece : chunk.pieces) {
        chunk.gather_slots.push_back(
            piece.trained > 0.0 ? join_gather((1.0 - job_.never_hidden) * piece.trained) : -1);
      }
    }
  }

  std::int32_t join_gather(double parameters) {
    const double factor = collective_volume(CollectiveKind::all_gather, CollectiveAlgorithm::ring,
                                            strategy_.replicas())
                              .bytes_factor;
    return builder_.join(kParameterGather, Bytes(factor * parameters * 2.0));
  }

  std::int32_t join_reduce(double parameters) {
    const double factor = collective_volume(gradient_collective(strategy_), job_.reduce_algorithm,
                                            strategy_.replicas())
                              .bytes_factor;
    return builder_.join(kGradientReduce, Bytes(factor * parameters *
                                                bytes_per_element(strategy_.gradient_precision)));
  }

  void forward(const ScheduleStep& step) {
    Chunk& chunk = chunks_[static_cast<std::size_t>(step.chunk)];
    if (!is_first(step.chunk)) builder_.receive(activation_slot(step.chunk, step.micro_batch));
    const bool first_pass = chunk.forwards_done++ == 0;
    if (first_pass && !chunk.gather_slots.empty()) {
      for (std::size_t i = 0; i < chunk.pieces.size(); ++i) {
        if (chunk.gather_slots[i] >= 0) builder_.wait(chunk.gather_slots[i]);
        builder_.compute(chunk.forward_blocks[i]);
      }
    } else {
      builder_.compute(chunk.whole_forward);
    }
    if (is_last(step.chunk)) return;
    const int next = (stage_ + 1) % stages_;
    const int next_chunk = step.chunk + (stage_ + 1 == stages_ ? 1 : 0);
    builder_.send(next - stage_, kPathToNext, activation_slot(next_chunk, step.micro_batch),
                  transfer_, !strategy_.overlap_pipeline_transfers);
  }

  void backward(const ScheduleStep& step) {
    Chunk& chunk = chunks_[static_cast<std::size_t>(step.chunk)];
    if (!is_last(step.chunk)) builder_.receive(gradient_slot(step.chunk, step.micro_batch));
    const bool last_pass = ++chunk.backwards_done == micro_batches_;
    const bool reduces_now = reduces() && (last_pass || reduces_every_pass());
    if (reduces_now && strategy_.overlap_gradient_reduce) {
      for (std::size_t i = chunk.pieces.size(); i-- > 0;) {
        builder_.compute(chunk.backward_blocks[i]);
        if (chunk.pieces[i].trained == 0.0) continue;
        last_reduce_ = join_reduce((1.0 - job_.never_hidden) * chunk.pieces[i].trained);
      }
    } else {
      builder_.compute(chunk.whole_backward);
    }
    if (reduces_now && reduces_every_pass()) reduce_rest();
    if (is_first(step.chunk)) return;
    const int previous = (stage_ + stages_ - 1) % stages_;
    const int previous_chunk = step.chunk - (stage_ == 0 ? 1 : 0);
    builder_.send(previous - stage_, kPathToPrevious,
                  gradient_slot(previous_chunk, step.micro_batch), transfer_,
                  !strategy_.overlap_pipeline_transfers);
  }

  /// What no overlap hides; the compute that follows waits for it.
  void reduce_rest() {
    const double left = strategy_.overlap_gradient_reduce ? job_.never_hidden : 1.0;
    if (left > 0.0) last_reduce_ = join_reduce(left * trained_);
    if (reduces_every_pass()) builder_.wait(last_reduce_);
  }

  /// Gradients of a communicator are reduced in order, so the last one is the one to wait for.
  void finish_step() {
    if (reduces() && !reduces_every_pass()) reduce_rest();
    if (exchanges_embedding(job_) && (stage_ == 0 || stage_ == stages_ - 1)) {
      const double embedding = static_cast<double>(parameter_counts(*job_.model).token_embedding) /
                               strategy_.tensor_parallel *
                               bytes_per_element(strategy_.gradient_precision);
      if (last_reduce_ >= 0) builder_.wait(last_reduce_);
      builder_.wait(builder_.join(kTiedEmbedding, Bytes(embedding)));  // two ranks: factor 1
    } else if (last_reduce_ >= 0) {
      builder_.wait(last_reduce_);
    }
    builder_.compute(builder_.add_block("optimizer", step_time(job_, trained_)));
    if (gathers() && !strategy_.overlap_parameter_gather) {
      builder_.wait(join_gather(trained_));
    }
  }

  const JobShape& job_;
  const Strategy& strategy_;
  int stage_;
  int stages_;
  int micro_batches_;
  ProgramBuilder builder_;
  Bytes transfer_;
  std::vector<Chunk> chunks_;
  double trained_ = 0.0;  ///< parameters of this stage that change
  std::int32_t last_reduce_ = -1;
};

}  // namespace

Program pipeline_program(const JobShape& job, int stage) {
  return PipelineProgram(job, stage).built();
}

}  // namespace headway
