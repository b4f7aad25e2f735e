#include "sim/programs/pipeline/pass_order.h"

#include <algorithm>

#include "sim/jobs/strategy.h"
#include "sim/programs/pieces/chunk_neighbours.h"
#include "sim/programs/stage_program.h"

namespace headway {
namespace {

class OrderWriter {
 public:
  OrderWriter(const Strategy& strategy, int stage)
      : strategy_(strategy),
        stage_(stage),
        micro_batches_(static_cast<int>(strategy.micro_batches())) {
    const auto chunks = static_cast<std::size_t>(strategy.chunks_of_stage());
    chunks_.reserve(chunks);
    order_.ways.reserve(2 * chunks);
    order_.bodies.reserve(8 * chunks);
    for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
      const std::optional<ChunkPlace> before = chunk_elsewhere(strategy, stage, chunk, -1);
      const std::optional<ChunkPlace> after = chunk_elsewhere(strategy, stage, chunk, 1);
      Chunk& of = chunks_.emplace_back();
      if (before) {
        of.received = first_activation_slot(chunk);
        of.sent_gradient = first_gradient_slot(before->chunk);
      }
      if (after) {
        of.sent = first_activation_slot(after->chunk);
        of.received_gradient = first_gradient_slot(chunk);
      }
      order_.ways.push_back(onward(after));
      order_.ways.push_back(back(before));
    }
  }

  PassOrder written() && {
    const std::vector<ScheduleStep> steps =
        stage_schedule(*strategy_.schedule, strategy_.pipeline(), stage_);
    order_.steps.reserve(steps.size());
    order_.passes.reserve(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!steps[i].merged) {
        PassStep& step = add(steps[i]);
        receive(step, steps[i]);
        compute(step, steps[i]);
        send(step, steps[i]);
        continue;
      }
      const std::size_t first = i;
      while (steps[i].merged) ++i;
      for (std::size_t j = first; j <= i; ++j) receive(add(steps[j]), steps[j]);
      for (std::size_t j = first; j <= i; ++j) compute(add(steps[j]), steps[j]);
      for (std::size_t j = first; j <= i; ++j) send(add(steps[j]), steps[j]);
    }
    list_bodies();
    return std::move(order_);
  }

 private:
  /// Message slots for the first micro-batch; -1 where nothing is received, or sent.
  struct Chunk {
    std::int32_t received = -1;
    std::int32_t sent = -1;
    std::int32_t received_gradient = -1;
    std::int32_t sent_gradient = -1;
    int forwards_done = 0;
    int gradients_done = 0;
  };

  [[nodiscard]] Chunk& chunk_of(const ScheduleStep& step) {
    return chunks_[static_cast<std::size_t>(step.chunk)];
  }
  [[nodiscard]] int passes_of_chunk() const {
    return strategy_.schedule->is_doubled() ? micro_batches_ / 2 : micro_batches_;
  }
  /// Message slots of any stage: activations of (chunk, micro-batch), then gradients.
  [[nodiscard]] std::int32_t first_activation_slot(int chunk) const {
    return chunk * micro_batches_;
  }
  [[nodiscard]] std::int32_t first_gradient_slot(int chunk) const {
    return (strategy_.chunks_of_stage() + chunk) * micro_batches_;
  }
  PassStep& add(const ScheduleStep& of) {
    order_.passes.push_back({of.micro_batch, of.chunk});
    return order_.steps.emplace_back();
  }

  void receive(PassStep& step, const ScheduleStep& of) {
    const Chunk& chunk = chunk_of(of);
    std::int32_t first = -1;
    if (of.kind == StepKind::forward) first = chunk.received;
    if (of.needs_gradient()) first = chunk.received_gradient;
    if (first >= 0) step.received = first + of.micro_batch;
  }

  void compute(PassStep& step, const ScheduleStep& of) {
    PassBody body{.chunk = of.chunk, .kind = of.kind};
    if (of.kind == StepKind::forward) {
      body.is_edge = chunk_of(of).forwards_done++ == 0;
    } else if (of.kind != StepKind::input_gradient) {
      body.is_edge = ++chunk_of(of).gradients_done == passes_of_chunk();
    }
    step.body = body.number();
  }

  /// By their last steps.
  void list_bodies() {
    std::vector<bool> is_listed(8 * chunks_.size(), false);
    for (std::size_t i = order_.steps.size(); i-- > 0;) {
      const std::int32_t number = order_.steps[i].body;
      if (number < 0 || is_listed[static_cast<std::size_t>(number)]) continue;
      is_listed[static_cast<std::size_t>(number)] = true;
      order_.bodies.push_back(PassBody::numbered(number));
    }
    std::ranges::reverse(order_.bodies);
  }

  void send(PassStep& step, const ScheduleStep& of) {
    const Chunk& chunk = chunk_of(of);
    std::int32_t first = -1;
    if (of.kind == StepKind::forward) first = chunk.sent;
    if (of.needs_gradient()) first = chunk.sent_gradient;
    if (first < 0) return;
    step.sent = first + of.micro_batch;
    step.message = 2 * of.chunk + (of.needs_gradient() ? 1 : 0);
  }

  /// Where there are two stages, each is before and behind the other: the way is that of the
  /// direction.
  [[nodiscard]] PassWay onward(const std::optional<ChunkPlace>& next) const {
    if (!next) return {};
    const int stages = strategy_.pipeline_parallel;
    const bool is_next = next->stage == (stage_ + 1) % stages;
    return {.peer = next->stage - stage_, .path = is_next ? kPathToNext : kPathToPrevious};
  }
  [[nodiscard]] PassWay back(const std::optional<ChunkPlace>& previous) const {
    if (!previous) return {};
    const int stages = strategy_.pipeline_parallel;
    const bool is_previous = previous->stage == (stage_ + stages - 1) % stages;
    return {.peer = previous->stage - stage_, .path = is_previous ? kPathToPrevious : kPathToNext};
  }

  const Strategy& strategy_;
  int stage_;
  int micro_batches_;
  std::vector<Chunk> chunks_;
  PassOrder order_;
};

}  // namespace

PassOrder pass_order(const Strategy& strategy, int stage) {
  return OrderWriter(strategy, stage).written();
}

const KnownOrders::OfStages& KnownOrders::of(const Strategy& strategy) {
  constexpr std::size_t kMostSteps = 1'000'000;  // 24 MB
  const PipelineShape shape = strategy.pipeline();
  const std::tuple key{strategy.schedule, shape.stages, shape.virtual_stages, shape.micro_batches};
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  OfStages orders;
  std::size_t steps = 0;
  for (int stage = 0; stage < shape.stages; ++stage) {
    orders.push_back(std::make_shared<const PassOrder>(pass_order(strategy, stage)));
    steps += orders.back()->steps.size();
  }
  if (steps_ + steps > kMostSteps) {
    known_.clear();
    steps_ = 0;
  }
  steps_ += steps;
  return known_.emplace(key, std::move(orders)).first->second;
}

}  // namespace headway
