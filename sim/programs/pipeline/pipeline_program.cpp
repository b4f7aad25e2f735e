#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/index.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/parameters.h"
#include "sim/programs/pipeline/body_writer.h"
#include "sim/programs/pipeline/chunk_work.h"
#include "sim/programs/pipeline/last_joined.h"
#include "sim/programs/pipeline/pass_order.h"
#include "sim/programs/pipeline/short_program.h"
#include "sim/programs/pipeline/written_out.h"
#include "sim/programs/program_builder.h"
#include "sim/programs/stage_program.h"

namespace headway {
namespace {

class PipelineProgram {
 public:
  PipelineProgram(const JobShape& job, ChunkWorks& works, int stage)
      : job_(job),
        strategy_(*job.strategy),
        works_(works),
        stage_(stage),
        stages_(strategy_.pipeline_parallel),
        builder_("stage " + std::to_string(stage)),
        bodies_(builder_) {
    written_.reserve(16);
    chunks_.reserve(static_cast<std::size_t>(strategy_.chunks_of_stage()));
    for (int c = 0; c < strategy_.chunks_of_stage(); ++c) add_chunk(c);
  }

  Program built(std::shared_ptr<const PassOrder> order) && {
    if (gathers_ahead()) gather_ahead();
    Passes passes{.order = std::move(order),
                  .begin = builder_.length(),
                  .bodies = std::vector<Passes::Range>(8 * chunks_.size()),
                  .messages = messages(),
                  .blocking = !strategy_.overlap_pipeline_transfers};
    for (const PassBody& body : passes.order->bodies) at(passes.bodies, body.number()) = run(body);
    passes.end = builder_.length();
    passes.stretches = std::move(bodies_).stretches();
    finish_step();
    Program program = std::move(builder_).finished();
    program.passes = std::move(passes);
    return program;
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
  /// Whether the chunks are of copies that share their parameters with different stages.
  [[nodiscard]] bool is_doubled() const { return strategy_.schedule->is_doubled(); }
  [[nodiscard]] bool is_other(int chunk) const { return is_doubled() && chunk == 1; }
  /// The name by which a chunk's copy joins it.
  [[nodiscard]] std::string_view named(std::string_view communicator, int chunk) const {
    return is_other(chunk) ? of_other_copy(communicator) : communicator;
  }

  /// One chunk of the stage, and where its parameters come from.
  struct Chunk {
    const ChunkWork* work = nullptr;
    UpdatedPart experts;          ///< routed ones
    std::size_t first_piece = 0;  ///< among those of the stage
  };
  /// The slots of a piece that is gathered ahead, -1 where there is nothing to gather.
  struct Gathered {
    std::int32_t slot = -1;
    std::int32_t of_experts = -1;
  };

  void add_chunk(int c) {
    Chunk& chunk = chunks_.emplace_back();
    chunk.work = &works_.of(job_, position(c));
    for (const PieceWork& of : chunk.work->pieces) {
      chunk.experts += {of.piece.expert_parameters, of.piece.expert_matrices};
    }
    experts_ += chunk.experts;
    gradients_ += chunk.work->gradients;
    step_ += chunk.work->step;
    gathered_ += chunk.work->gathered;
  }

  /// Sizes of the activations that each chunk hands on, and of the gradients it hands back.
  [[nodiscard]] std::vector<Bytes> messages() const {
    std::vector<Bytes> messages;
    messages.reserve(2 * chunks_.size());
    for (int c = 0; c < strategy_.chunks_of_stage(); ++c) {
      const int at_position = position(c);
      messages.push_back(works_.passed_on(at_position));
      messages.push_back(at_position > 0 ? works_.passed_on(at_position - 1) : Bytes(0.0));
    }
    return messages;
  }

  /// What chunks reduce, gather and update together: all of a stage, or each of two copies.
  struct Shared {
    int chunk = 0;
    const GradientPart& gradients;
    const UpdatedPart& gathered;
    const UpdatedPart& experts;
    const StepWork& step;
  };
  template <class Visit>
  void for_each_shared(Visit visit) {
    if (!is_doubled()) {
      visit(Shared{0, gradients_, gathered_, experts_, step_});
      return;
    }
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      const ChunkWork& work = *chunks_[c].work;
      visit(Shared{static_cast<int>(c), work.gradients, work.gathered, chunks_[c].experts,
                   work.step});
    }
  }

  /// Joins exchanges of two copies before it waits for either: the stage that shares them joins
  /// them in the other order. `join` adds what it joined, -1 where there was nothing to do.
  template <class Join>
  void join_and_wait(Join join) {
    std::vector<std::int32_t> slots;
    for_each_shared([&](const Shared& shared) { join(shared, slots); });
    for (const std::int32_t slot : slots) wait_if_any(slot);
  }

  /// Gathers this share of all parameters.
  void gather_and_wait(double share) {
    join_and_wait([&](const Shared& of, std::vector<std::int32_t>& slots) {
      slots.push_back(join_gather(of.chunk, share * of.gathered));
    });
    join_and_wait([&](const Shared& of, std::vector<std::int32_t>& slots) {
      slots.push_back(join_expert_gather(of.chunk, share * of.experts));
    });
  }

  /// What the last step updated is gathered while this one begins; part of it cannot hide.
  void gather_ahead() {
    if (job_.never_hidden > 0.0) gather_and_wait(job_.never_hidden);
    const double hidden = 1.0 - job_.never_hidden;
    std::size_t pieces = 0;
    for (const Chunk& chunk : chunks_) pieces += chunk.work->pieces.size();
    gathers_.reserve(pieces);
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      chunks_[c].first_piece = gathers_.size();
      for (const auto& [piece, cost, gathered] : chunks_[c].work->pieces) {
        Gathered& slots = gathers_.emplace_back();
        slots.slot = join_gather(static_cast<int>(c), hidden * gathered);
        slots.of_experts = join_expert_gather(
            static_cast<int>(c),
            hidden * UpdatedPart{piece.expert_parameters, piece.expert_matrices});
      }
    }
  }

  /// The message of a collective of replicas about so many elements.
  [[nodiscard]] Bytes exchanged(double elements, double element_bytes) const {
    return Bytes(job_.gradient_traffic * elements * element_bytes);
  }
  /// `times` collectives, one behind the other.
  std::int32_t join(std::string_view called, Bytes message, int chunk = 0, double times = 1.0) {
    return builder_.join(named(called, chunk), job_.prices.at(called).price(message, times));
  }
  [[nodiscard]] Bytes gathered_message(const UpdatedPart& part) const {
    return Bytes(job_.gradient_traffic * gathered_bytes(strategy_, part));
  }

  /// -1 if there is nothing to gather.
  std::int32_t join_gather(int chunk, const UpdatedPart& part) {
    if (!reduces() || part.elements == 0.0) return -1;
    return join(kParameterGather, gathered_message(part), chunk,
                gathers_of(strategy_, part, gathered_, strategy_.shard_ranks()));
  }

  void join_reduce(int chunk, const GradientPart& gradients) {
    const Bytes message = gradient_message(job_, gradients);
    last_.reduces[is_other(chunk) ? 1 : 0] = join(
        kGradientReduce, message, chunk, strategy_.reduce_each_tensor ? gradients.tensors : 1.0);
    // The second half of the exchange has no ranks more to go to than the first, and shares links
    // with it: begun together they end when one behind the other would.
    if (gathers_sums(strategy_.compression)) {
      last_.compressed_gather = join(kCompressedGather, message);
    }
  }

  void compress(const GradientPart& gradients) {
    if (strategy_.compression.is_none() || !reduces()) return;
    builder_.compute(builder_.add_block("compression", compression_time(job_, gradients)));
  }

  std::int32_t join_expert_gather(int chunk, const UpdatedPart& part) {
    if (!reduces_experts() || part.elements == 0.0) return -1;
    return join(kExpertGather, gathered_message(part), chunk,
                gathers_of(strategy_, part, experts_, strategy_.expert_replicas()));
  }

  void join_expert_reduce(int chunk, double parameters) {
    if (!reduces_experts() || parameters == 0.0) return;
    last_.expert_reduces[is_other(chunk) ? 1 : 0] =
        join(kExpertReduce, exchanged(parameters, bytes_per_element(strategy_.gradient_precision)),
             chunk);
  }

  void wait_if_any(std::int32_t slot) {
    if (slot >= 0) builder_.wait(slot);
  }

  struct Written {
    const ChunkWork* work = nullptr;
    StepKind kind = StepKind::forward;
    bool is_edge = false;
    Passes::Range body;
    LastJoined joined;  ///< in the body
  };

  /// What a body does, written unless a chunk that is alike did the same before.
  Passes::Range run(const PassBody& body) {
    const Chunk& chunk = at(chunks_, body.chunk);
    const bool is_first_pass = body.kind == StepKind::forward && body.is_edge;
    if (is_doubled() || (is_first_pass && !gathers_.empty())) return written(body).body;
    for (const Written& known : written_) {
      if (known.work != chunk.work || known.kind != body.kind || known.is_edge != body.is_edge) {
        continue;
      }
      last_.update(known.joined);
      return known.body;
    }
    written_.push_back(written(body));
    return written_.back().body;
  }

  Written written(const PassBody& body) {
    const LastJoined before = std::exchange(last_, {});
    bodies_.begin();
    write(body);
    const LastJoined joined = std::exchange(last_, before);
    last_.update(joined);
    return {at(chunks_, body.chunk).work, body.kind, body.is_edge, bodies_.end(), joined};
  }

  void write(const PassBody& body) {
    switch (body.kind) {
      case StepKind::forward:
        forward(body);
        break;
      case StepKind::input_gradient:
        bodies_.run(body.kind, at(chunks_, body.chunk).work->cost);
        break;
      case StepKind::backward:
      case StepKind::weight_gradient:
        gradients(body);
        break;
    }
  }

  void forward(const PassBody& body) {
    const Chunk& chunk = at(chunks_, body.chunk);
    if (!body.is_edge || gathers_.empty()) {
      bodies_.run(body.kind, chunk.work->cost);
      return;
    }
    for (std::size_t i = 0; i < chunk.work->pieces.size(); ++i) {
      wait_if_any(gathers_[chunk.first_piece + i].slot);
      wait_if_any(gathers_[chunk.first_piece + i].of_experts);
      bodies_.run(body.kind, *chunk.work->pieces[i].cost);
    }
  }

  /// A pass that leaves gradients of the weights: as a whole or, if they leave at once, by pieces.
  void gradients(const PassBody& body) {
    const ChunkWork& chunk = *at(chunks_, body.chunk).work;
    const bool reduces_now = reduces_any() && (body.is_edge || reduces_every_pass());
    if (reduces_now && strategy_.overlap_gradient_reduce) {
      for (std::size_t i = chunk.pieces.size(); i-- > 0;) {
        const Piece& piece = chunk.pieces[i].piece;
        bodies_.run(body.kind, *chunk.pieces[i].cost);
        compress(piece.gradients());
        const double hidden = 1.0 - job_.never_hidden;
        if (reduces() && piece.trained > 0.0) join_reduce(body.chunk, hidden * piece.gradients());
        join_expert_reduce(body.chunk, hidden * piece.expert_parameters);
      }
    } else {
      bodies_.run(body.kind, chunk.cost);
      if (reduces_now) compress(chunk.gradients);
    }
    if (reduces_now && reduces_every_pass()) reduce_rest();
  }

  /// What no overlap hides; the compute that follows waits for it.
  void reduce_rest() {
    const double left = strategy_.overlap_gradient_reduce ? job_.never_hidden : 1.0;
    if (left == 1.0 && !strategy_.fused_gradient_reduce) {
      reduce_by_pieces();
      return;
    }
    for_each_shared([&](const Shared& of) {
      const GradientPart gradients = left * of.gradients;
      if (reduces() && gradients.elements > 0.0) join_reduce(of.chunk, gradients);
      join_expert_reduce(of.chunk, left * of.experts.elements);
    });
    if (reduces_every_pass()) wait_for_gradients();
  }

  /// Everything, bucket after bucket.
  void reduce_by_pieces() {
    for (std::size_t c = chunks_.size(); c-- > 0;) {
      const std::vector<PieceWork>& pieces = chunks_[c].work->pieces;
      for (std::size_t i = pieces.size(); i-- > 0;) {
        const Piece& piece = pieces[i].piece;
        if (reduces() && piece.trained > 0.0) join_reduce(static_cast<int>(c), piece.gradients());
        join_expert_reduce(static_cast<int>(c), piece.expert_parameters);
      }
    }
    if (reduces_every_pass()) wait_for_gradients();
  }

  /// Gradients of a communicator are reduced in order, so the last one is the one to wait for.
  void wait_for_gradients() {
    for (const std::int32_t slot : last_.reduces) wait_if_any(slot);
    wait_if_any(last_.compressed_gather);
    for (const std::int32_t slot : last_.expert_reduces) wait_if_any(slot);
  }

  void gather_momenta() {
    if (!gathers() || !gathers_momenta(strategy_)) return;
    join_and_wait([&](const Shared& of, std::vector<std::int32_t>& slots) {
      const auto gather = [&](std::string_view called, double elements) {
        if (elements == 0.0) return;
        slots.push_back(join(called, exchanged(elements, kMomentumBytes), of.chunk));
      };
      if (reduces()) gather(kParameterGather, of.step.in_layers());
      if (reduces_experts()) gather(kExpertGather, of.step.experts);
    });
  }

  void finish_step() {
    if (reduces_any() && !reduces_every_pass()) reduce_rest();
    wait_for_gradients();
    if (exchanges_embedding(job_) && (stage_ == 0 || stage_ == stages_ - 1)) {
      const double embedding = tied_parameters(*job_.model) / strategy_.tensor_parallel *
                               bytes_per_element(strategy_.gradient_precision);
      builder_.wait(join(kTiedEmbedding, Bytes(embedding)));
    }
    gather_momenta();
    builder_.compute(builder_.add_block("optimizer", step_time(job_, step_)));
    if (gathers() && !strategy_.overlap_parameter_gather) gather_and_wait(1.0);
  }

  const JobShape& job_;
  const Strategy& strategy_;
  ChunkWorks& works_;
  int stage_;
  int stages_;
  ProgramBuilder builder_;
  BodyWriter bodies_;
  std::vector<Chunk> chunks_;
  std::vector<Gathered> gathers_;  ///< ahead, a piece each
  std::vector<Written> written_;
  GradientPart gradients_;  ///< of parameters of this stage that change, but for experts
  UpdatedPart gathered_;    ///< those that replicas gather
  UpdatedPart experts_;     ///< routed ones
  StepWork step_;
  LastJoined last_;
};

}  // namespace

Program short_pipeline_program(const JobShape& job, ChunkWorks& works,
                               std::shared_ptr<const PassOrder> order, int stage) {
  return PipelineProgram(job, works, stage).built(std::move(order));
}

Program pipeline_program(const JobShape& job, int stage) {
  ChunkWorks works(job);
  auto order = std::make_shared<const PassOrder>(pass_order(*job.strategy, stage));
  return written_out(short_pipeline_program(job, works, std::move(order), stage));
}

}  // namespace headway
