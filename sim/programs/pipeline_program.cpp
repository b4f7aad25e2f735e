#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/layers/exchanges.h"
#include "sim/layers/kernel_shape.h"
#include "sim/layers/parameters.h"
#include "sim/programs/pipeline_chunk.h"
#include "sim/programs/program_builder.h"
#include "sim/programs/stage_pieces.h"
#include "sim/programs/stage_program.h"

namespace headway {
namespace {

constexpr double kParameterBytes = 2.0;  ///< parameters are gathered in 16 bits

class PipelineProgram {
 public:
  PipelineProgram(const JobShape& job, int stage)
      : job_(job),
        strategy_(*job.strategy),
        stage_(stage),
        stages_(strategy_.pipeline_parallel),
        micro_batches_(static_cast<int>(strategy_.micro_batches())),
        works_(job),
        builder_("stage " + std::to_string(stage)) {
    for (int c = 0; c < strategy_.chunks_of_stage(); ++c) add_chunk(c);
  }

  Program built() && {
    if (gathers_ahead()) gather_ahead();
    const std::vector<ScheduleStep> steps =
        stage_schedule(*strategy_.schedule, strategy_.pipeline(), stage_);
    std::size_t pieces = 0;
    for (const PipelineChunk& chunk : chunks_) pieces += chunk.pieces.size();
    builder_.reserve(steps.size() + 2 * pieces);  // the first pass and the last go by pieces
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::size_t first = i;
      while (steps[i].merged) ++i;
      for (std::size_t j = first; j <= i; ++j) receive(steps[j]);
      for (std::size_t j = first; j <= i; ++j) compute(steps[j]);
      for (std::size_t j = first; j <= i; ++j) send(steps[j]);
    }
    builder_.set_pass(-1, -1);
    finish_step();
    return std::move(builder_).finished();
  }

 private:
  [[nodiscard]] bool reduces() const {
    return strategy_.replicas() > 1 && gradients_.elements > 0.0;
  }
  /// Sharded gradients do not wait for the other micro-batches: nobody would hold all of them.
  [[nodiscard]] bool reduces_every_pass() const {
    return strategy_.sharding == Sharding::gradients;
  }
  /// Routed experts have replicas of their own, not more than everything else.
  [[nodiscard]] bool reduces_experts() const {
    return strategy_.expert_replicas() > 1 && experts_.elements > 0.0;
  }
  [[nodiscard]] bool reduces_any() const { return reduces() || reduces_experts(); }
  [[nodiscard]] bool gathers() const {
    return reduces_any() && strategy_.sharding != Sharding::none && strategy_.shard_ranks() > 1;
  }
  [[nodiscard]] bool gathers_ahead() const {
    return gathers() && strategy_.overlap_parameter_gather;
  }
  [[nodiscard]] int position(int chunk) const {
    return chunk_position(*strategy_.schedule, stage_, chunk, stages_);
  }
  [[nodiscard]] std::optional<ChunkNeighbour> neighbour(int chunk, int steps) const {
    const auto place = chunk_elsewhere(strategy_, stage_, chunk, steps);
    if (!place) return std::nullopt;
    return ChunkNeighbour{*place, passed_on(job_, position(chunk) + (steps < 0 ? steps : 0))};
  }
  /// Whether the chunks are of copies that share their parameters with different stages.
  [[nodiscard]] bool is_doubled() const { return strategy_.schedule->is_doubled(); }
  [[nodiscard]] PipelineChunk& chunk_of(const ScheduleStep& step) {
    return chunks_[static_cast<std::size_t>(step.chunk)];
  }
  [[nodiscard]] int passes_of_chunk() const {
    return is_doubled() ? micro_batches_ / 2 : micro_batches_;
  }
  /// Message slots of any stage: activations of (chunk, micro-batch), then gradients.
  [[nodiscard]] std::int32_t activation_slot(int chunk, int micro_batch) const {
    return chunk * micro_batches_ + micro_batch;
  }
  [[nodiscard]] std::int32_t gradient_slot(int chunk, int micro_batch) const {
    return (strategy_.chunks_of_stage() + chunk) * micro_batches_ + micro_batch;
  }

  void add_chunk(int c) {
    PipelineChunk chunk;
    chunk.pieces = chunk_pieces(job_, position(c));
    chunk.before = neighbour(c, -1);
    chunk.after = neighbour(c, 1);
    TimeByCause forward;
    TimeByCause backward;
    TimeByCause input_gradient;
    TimeByCause weight_gradient;
    PassFlows sent_forward;
    PassFlows sent_backward;
    for (const Piece& piece : chunk.pieces) {
      const PieceWork& work = works_.of(piece);
      forward += work.forward;
      backward += work.backward;
      sent_forward += work.sent_forward;
      sent_backward += work.sent_backward;
      if (strategy_.schedule->splits_backward) {
        input_gradient += work.backward + -1.0 * work.weight;
        weight_gradient += work.weight;
      }
      chunk.forward_passes.push_back(builder_.add_pass("forward", work.forward, work.sent_forward));
      chunk.backward_passes.push_back(
          builder_.add_pass("backward", work.backward, work.sent_backward));
      chunk.gradients += piece.gradients();
      chunk.gathered += gathered_of(job_, piece);
      experts_ += {piece.expert_parameters, piece.expert_matrices};
    }
    chunk.whole_forward = builder_.add_pass("forward", forward, sent_forward);
    chunk.whole_backward = builder_.add_pass("backward", backward, sent_backward);
    if (strategy_.schedule->splits_backward) {
      chunk.input_gradient = builder_.add_pass("input gradient", input_gradient, sent_backward);
      chunk.weight_gradient = builder_.add_pass("weight gradient", weight_gradient, {});
      for (const Piece& piece : chunk.pieces) {
        chunk.weight_passes.push_back(
            builder_.add_pass("weight gradient", works_.of(piece).weight, {}));
      }
    }
    gradients_ += chunk.gradients;
    gathered_ += chunk.gathered;
    chunks_.push_back(std::move(chunk));
  }

  /// Chunks that reduce and gather together: all, or each by itself.
  template <class Visit>
  void for_each_sharing(Visit visit) {
    if (!is_doubled()) {
      visit(0, gradients_, gathered_);
      return;
    }
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      visit(static_cast<int>(c), chunks_[c].gradients, chunks_[c].gathered);
    }
  }

  /// Gathers this share of all parameters. Both copies are joined before either is waited for: the
  /// stage that shares them joins them in the other order.
  void gather_and_wait(double share) {
    std::vector<std::int32_t> slots;
    for_each_sharing([&](int chunk, const GradientPart&, const UpdatedPart& gathered) {
      if (!reduces() || gathered.elements == 0.0) return;
      slots.push_back(join_gather(chunk, share * gathered));
    });
    for (const std::int32_t slot : slots) builder_.wait(slot);
  }

  /// What the last step updated is gathered while this one begins; part of it cannot hide.
  void gather_ahead() {
    if (job_.never_hidden > 0.0) {
      gather_and_wait(job_.never_hidden);
      wait_if_any(join_expert_gather(job_.never_hidden * experts_));
    }
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      for (const Piece& piece : chunks_[c].pieces) {
        chunks_[c].gather_slots.push_back(
            reduces() && gathered_of(job_, piece).elements > 0.0
                ? join_gather(static_cast<int>(c),
                              (1.0 - job_.never_hidden) * gathered_of(job_, piece))
                : -1);
        chunks_[c].expert_gather_slots.push_back(
            join_expert_gather((1.0 - job_.never_hidden) *
                               UpdatedPart{piece.expert_parameters, piece.expert_matrices}));
      }
    }
  }

  /// The message of a collective of replicas about so many elements.
  [[nodiscard]] Bytes exchanged(double elements, double element_bytes) const {
    return Bytes(job_.gradient_traffic * elements * element_bytes);
  }
  /// Joins a communicator, at the price that the job knows for `priced`.
  std::int32_t join(std::string_view communicator, std::string_view priced, Bytes message) {
    return builder_.join(communicator, job_.prices.at(priced).price(message));
  }
  [[nodiscard]] double gradient_bytes() const {
    return bytes_per_element(strategy_.gradient_precision);
  }

  std::int32_t join_gather(int chunk, const UpdatedPart& part) {
    return join_gathers(is_doubled() && chunk == 1 ? kOtherParameterGather : kParameterGather,
                        kParameterGather, part,
                        gathers_of(strategy_, part, gathered_, strategy_.shard_ranks()));
  }

  /// `times` collectives, one behind the other.
  std::int32_t join_gathers(std::string_view communicator, std::string_view priced,
                            const UpdatedPart& part, double times) {
    const Bytes message = exchanged(part.elements, kParameterBytes);
    return builder_.join(communicator, job_.prices.at(priced).price(message, times));
  }

  void join_reduce(int chunk, const GradientPart& gradients) {
    const bool other = is_doubled() && chunk == 1;
    const Bytes message = gradient_message(job_, gradients);
    last_reduce_[other ? 1 : 0] =
        builder_.join(other ? kOtherGradientReduce : kGradientReduce,
                      job_.prices.at(kGradientReduce)
                          .price(message, strategy_.reduce_each_tensor ? gradients.tensors : 1.0));
    // The second half of the exchange has no ranks more to go to than the first, and shares links
    // with it: begun together they end when one behind the other would.
    if (gathers_sums(strategy_.compression)) {
      last_compressed_gather_ = join(kCompressedGather, kCompressedGather, message);
    }
  }

  void compress(const GradientPart& gradients) {
    if (strategy_.compression.is_none() || !reduces()) return;
    builder_.compute(builder_.add_block("compression", compression_time(job_, gradients)));
  }

  /// -1 if there is nothing to gather.
  std::int32_t join_expert_gather(const UpdatedPart& part) {
    if (!reduces_experts() || part.elements == 0.0) return -1;
    return join_gathers(kExpertGather, kExpertGather, part,
                        gathers_of(strategy_, part, experts_, strategy_.expert_replicas()));
  }

  void join_expert_reduce(double parameters) {
    if (!reduces_experts() || parameters == 0.0) return;
    last_expert_reduce_ =
        join(kExpertReduce, kExpertReduce, exchanged(parameters, gradient_bytes()));
  }

  void wait_if_any(std::int32_t slot) {
    if (slot >= 0) builder_.wait(slot);
  }

  void receive(const ScheduleStep& step) {
    builder_.set_pass(step.micro_batch, step.chunk);
    if (step.kind == StepKind::forward && chunk_of(step).before) {
      builder_.receive(activation_slot(step.chunk, step.micro_batch));
    }
    if (step.needs_gradient() && chunk_of(step).after) {
      builder_.receive(gradient_slot(step.chunk, step.micro_batch));
    }
  }

  void compute(const ScheduleStep& step) {
    builder_.set_pass(step.micro_batch, step.chunk);
    switch (step.kind) {
      case StepKind::forward:
        forward(chunk_of(step));
        break;
      case StepKind::input_gradient:
        builder_.run(chunk_of(step).input_gradient);
        break;
      case StepKind::backward:
        gradients(step.chunk, chunk_of(step).whole_backward, chunk_of(step).backward_passes);
        break;
      case StepKind::weight_gradient:
        gradients(step.chunk, chunk_of(step).weight_gradient, chunk_of(step).weight_passes);
        break;
    }
  }

  void forward(PipelineChunk& chunk) {
    const bool first_pass = chunk.forwards_done++ == 0;
    if (!first_pass || chunk.gather_slots.empty()) {
      builder_.run(chunk.whole_forward);
      return;
    }
    for (std::size_t i = 0; i < chunk.pieces.size(); ++i) {
      wait_if_any(chunk.gather_slots[i]);
      wait_if_any(chunk.expert_gather_slots[i]);
      builder_.run(chunk.forward_passes[i]);
    }
  }

  /// A pass that leaves gradients of the weights: as a whole or, if they leave at once, by pieces.
  void gradients(int index, std::int32_t whole, const std::vector<std::int32_t>& passes) {
    PipelineChunk& chunk = chunks_[static_cast<std::size_t>(index)];
    const bool last_pass = ++chunk.gradients_done == passes_of_chunk();
    const bool reduces_now = reduces_any() && (last_pass || reduces_every_pass());
    if (reduces_now && strategy_.overlap_gradient_reduce) {
      for (std::size_t i = chunk.pieces.size(); i-- > 0;) {
        builder_.run(passes[i]);
        compress(chunk.pieces[i].gradients());
        const double hidden = 1.0 - job_.never_hidden;
        if (reduces() && chunk.pieces[i].trained > 0.0) {
          join_reduce(index, hidden * chunk.pieces[i].gradients());
        }
        join_expert_reduce(hidden * chunk.pieces[i].expert_parameters);
      }
    } else {
      builder_.run(whole);
      if (reduces_now) compress(chunk.gradients);
    }
    if (reduces_now && reduces_every_pass()) reduce_rest();
  }

  void send(const ScheduleStep& step) {
    builder_.set_pass(step.micro_batch, step.chunk);
    if (step.kind == StepKind::forward) {
      if (const auto& next = chunk_of(step).after) {
        const bool onward = next->place.stage == (stage_ + 1) % stages_;
        send_to(*next, onward ? kPathToNext : kPathToPrevious,
                activation_slot(next->place.chunk, step.micro_batch));
      }
    } else if (step.needs_gradient()) {
      if (const auto& previous = chunk_of(step).before) {
        const bool back = previous->place.stage == (stage_ + stages_ - 1) % stages_;
        send_to(*previous, back ? kPathToPrevious : kPathToNext,
                gradient_slot(previous->place.chunk, step.micro_batch));
      }
    }
  }

  void send_to(const ChunkNeighbour& to, std::int32_t path, std::int32_t slot) {
    builder_.send(to.place.stage - stage_, path, slot, to.message,
                  !strategy_.overlap_pipeline_transfers);
  }

  /// What no overlap hides; the compute that follows waits for it.
  void reduce_rest() {
    const double left = strategy_.overlap_gradient_reduce ? job_.never_hidden : 1.0;
    if (left == 1.0 && !strategy_.fused_gradient_reduce) {
      reduce_by_pieces();
      return;
    }
    for_each_sharing([&](int chunk, const GradientPart& gradients, const UpdatedPart&) {
      if (reduces() && left * gradients.elements > 0.0) join_reduce(chunk, left * gradients);
    });
    join_expert_reduce(left * experts_.elements);
    if (reduces_every_pass()) wait_for_gradients();
  }

  /// Everything, bucket after bucket.
  void reduce_by_pieces() {
    for (std::size_t c = chunks_.size(); c-- > 0;) {
      const std::vector<Piece>& pieces = chunks_[c].pieces;
      for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
        if (reduces() && piece->trained > 0.0) join_reduce(static_cast<int>(c), piece->gradients());
        join_expert_reduce(piece->expert_parameters);
      }
    }
    if (reduces_every_pass()) wait_for_gradients();
  }

  /// Gradients of a communicator are reduced in order, so the last one is the one to wait for.
  void wait_for_gradients() {
    for (const std::int32_t slot : last_reduce_) wait_if_any(slot);
    wait_if_any(last_compressed_gather_);
    wait_if_any(last_expert_reduce_);
  }

  void finish_step() {
    if (reduces_any() && !reduces_every_pass()) reduce_rest();
    wait_for_gradients();
    if (exchanges_embedding(job_) && (stage_ == 0 || stage_ == stages_ - 1)) {
      const double embedding = tied_parameters(*job_.model) / strategy_.tensor_parallel *
                               bytes_per_element(strategy_.gradient_precision);
      builder_.wait(join(kTiedEmbedding, kTiedEmbedding, Bytes(embedding)));
    }
    builder_.compute(
        builder_.add_block("optimizer", step_time(job_, gradients_.elements, experts_.elements)));
    if (gathers() && !strategy_.overlap_parameter_gather) {
      gather_and_wait(1.0);
      wait_if_any(join_expert_gather(experts_));
    }
  }

  const JobShape& job_;
  const Strategy& strategy_;
  int stage_;
  int stages_;
  int micro_batches_;
  PieceWorks works_;
  ProgramBuilder builder_;
  std::vector<PipelineChunk> chunks_;
  GradientPart gradients_;  ///< of parameters of this stage that change, but for experts
  UpdatedPart gathered_;    ///< those that replicas gather
  UpdatedPart experts_;     ///< routed ones
  std::int32_t last_expert_reduce_ = -1;
  std::int32_t last_compressed_gather_ = -1;
  std::array<std::int32_t, 2> last_reduce_{-1, -1};  ///< of the first chunk's copy, of the other
};

}  // namespace

Program pipeline_program(const JobShape& job, int stage) {
  return PipelineProgram(job, stage).built();
}

}  // namespace headway
