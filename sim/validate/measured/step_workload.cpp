#include "sim/validate/measured/step_workload.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/costs/kernel_cost.h"
#include "sim/programs/program_builder.h"
#include "sim/validate/measured/link_credit.h"

namespace headway {
namespace {

/// Bytes that a pass of fp32 elements moves at least: an activation reads one and writes one, its
/// gradient and that of the loss read two and write one.
constexpr double kActivationBytes = 8.0;
constexpr double kGradientBytes = 12.0;

/// Of a layer and micro-batch on one undisturbed rank.
struct LayerTimes {
  Seconds forward;          ///< product and activation
  Seconds loss;             ///< behind the last layer
  Seconds weight_gradient;  ///< the activation's gradient and the product
  Seconds input_gradient;
  Seconds update;
};

Seconds product(const TrainingStep& step, const Profile& profile, const GemmShape& shape) {
  if (step.emulated_flops_per_s > 0.0) return Seconds(shape.flops() / step.emulated_flops_per_s);
  return gemm_cost(profile.device, shape, Precision::fp32).time;
}

Seconds pass(const TrainingStep& step, const Profile& profile, double bytes) {
  if (step.emulated_flops_per_s > 0.0) return Seconds(0.0);
  const KernelFamily& family = profile.kernel_families.begin()->second;
  return memory_pass_cost(profile.device, family, Bytes(bytes)).time;
}

LayerTimes layer_times(const TrainingStep& step, const Profile& profile) {
  const double b = static_cast<double>(step.batch) / step.micro_batches;
  const double d = step.width;
  LayerTimes times;
  times.forward = product(step, profile, {b, d, d}) + pass(step, profile, b * d * kActivationBytes);
  times.loss = pass(step, profile, b * d * kGradientBytes);
  times.weight_gradient =
      product(step, profile, {d, d, b}) + pass(step, profile, b * d * kGradientBytes);
  times.input_gradient = product(step, profile, {b, d, d});
  if (step.emulated_flops_per_s == 0.0) times.update = update_cost(profile.device, d * d).time;
  return times;
}

Seconds collective(const Profile& profile, CollectiveKind kind, Bytes message, int ranks) {
  for (const ScopeCosts* scope : {&profile.scale_up, &profile.scale_out}) {
    const auto cost = measured_collective_cost(scope->collectives, kind, message, ranks);
    if (cost) return cost->time;
  }
  Diagnostic problem;
  problem.message = fmt::format("profile {} holds no {} of {:.0f} bytes among {} ranks",
                                profile.name, collective_name(kind), message.count(), ranks);
  problem.help = "calibrate the machine with as many ranks; a formula would not test the profile";
  throw InputError(std::move(problem));
}

/// What each rank of a ring sends in an all-reduce.
Bytes ring_bytes(Bytes message, int ranks) {
  return collective_volume(CollectiveKind::all_reduce, CollectiveAlgorithm::ring, ranks)
             .bytes_factor *
         message;
}

/// How messages pass between stages.
struct StageLinks {
  BytesPerSecond rate;  ///< that lasts
  Bytes burst;
};

/// Writes the programs of one rank: what it computes, and what its thread that sends does beside.
/// Messages of one sender share its link one after the other.
class RankProgram {
 public:
  /// `ring`: what the rank sends to reduce the gradient of a layer; 0 if it is nobody's replica.
  RankProgram(const TrainingStep& step, int ranks, const LayerTimes& times, int rank, int index,
              Bytes ring, const StageLinks& links)
      : step_(step),
        ranks_(ranks),
        stage_(rank % step.pipeline_stages),
        layers_(step.layers / step.pipeline_stages),
        ring_(ring),
        links_(links),
        builder_("rank " + std::to_string(rank)),
        sender_("sender " + std::to_string(rank)) {
    const double factor = compute_factor(step, rank, index);
    forward_time_ = factor * layers_ * times.forward;
    backward_time_ = factor * layers_ * (times.weight_gradient + times.input_gradient);
    const auto block = [this, factor](const char* name, Cause cause, Seconds time) {
      TimeByCause by_cause;
      by_cause[cause] = factor * time;
      return builder_.add_block(name, by_cause);
    };
    forward_ = block("forward", Cause::compute, times.forward);
    loss_ = block("loss", Cause::compute, times.loss);
    weight_gradient_ = block("weight gradient", Cause::compute, times.weight_gradient);
    input_gradient_ = block("input gradient", Cause::compute, times.input_gradient);
    update_ = block("update", Cause::optimizer, times.update);
  }

  struct Programs {
    Program compute;
    Program sender;
  };
  [[nodiscard]] Programs written() && {
    LinkCredit forward_credit(links_.burst, links_.rate);
    for (int i = 0; i < step_.micro_batches; ++i) forward(i, forward_credit);
    LinkCredit backward_credit(links_.burst, links_.rate);
    for (int i = step_.micro_batches - 1; i >= 0; --i) backward(i, backward_credit);
    if (reduces() && !step_.overlap) {
      for (int layer = 0; layer < layers_; ++layer) reduce();
    }
    for (const std::int32_t slot : reductions_) builder_.wait(slot);
    for (int layer = 0; layer < layers_; ++layer) builder_.compute(update_);
    return {std::move(builder_).finished(), std::move(sender_).finished()};
  }

 private:
  [[nodiscard]] bool reduces() const { return ring_ > Bytes(0.0); }
  [[nodiscard]] bool is_first() const { return stage_ == 0; }
  [[nodiscard]] bool is_last() const { return stage_ == step_.pipeline_stages - 1; }

  void forward(int micro_batch, LinkCredit& credit) {
    builder_.set_pass(micro_batch, 0);
    if (!is_first()) builder_.receive(micro_batch);
    for (int layer = 0; layer < layers_; ++layer) builder_.compute(forward_);
    if (is_last()) {
      builder_.compute(loss_);
    } else {
      send(+1, 0, micro_batch, credit, is_first(), forward_time_);
    }
  }
  void backward(int micro_batch, LinkCredit& credit) {
    builder_.set_pass(micro_batch, 0);
    const int slot = step_.micro_batches + micro_batch;
    if (!is_last()) builder_.receive(slot);
    for (int layer = layers_ - 1; layer >= 0; --layer) {
      builder_.compute(weight_gradient_);
      if (reduces() && step_.overlap && micro_batch == 0) reduce();
      if (layer > 0 || !is_first()) builder_.compute(input_gradient_);
    }
    if (!is_first()) send(-1, 1, slot, credit, is_last(), backward_time_);
  }
  /// Tells the sender, who comes `ranks_` groups later. The first stage of a pass sends as fast as
  /// it computes, the others not faster than messages reach them.
  void send(int peer, int path, int slot, LinkCredit& credit, bool starts_pass, Seconds compute) {
    const double rows = static_cast<double>(step_.batch) / step_.micro_batches;
    const Bytes message(4.0 * rows * step_.width);
    const Seconds interval = starts_pass ? compute : max(compute, message / links_.rate);
    builder_.send(ranks_, kToSender, sent_, Bytes(0.0), false);
    sender_.receive(sent_++);
    sender_.send(peer - ranks_, path, slot, credit.carried(message, interval), true);
  }
  void reduce() { reductions_.push_back(builder_.join(0, {.amount = ring_})); }

  static constexpr int kToSender = 2;  ///< behind the paths to the next stage and the one before

  TrainingStep step_;
  int ranks_;
  int stage_;
  int layers_;
  Bytes ring_;
  StageLinks links_;
  Seconds forward_time_;
  Seconds backward_time_;
  int sent_ = 0;
  ProgramBuilder builder_;
  ProgramBuilder sender_;
  std::vector<std::int32_t> reductions_;
  std::int32_t forward_ = -1;
  std::int32_t loss_ = -1;
  std::int32_t weight_gradient_ = -1;
  std::int32_t input_gradient_ = -1;
  std::int32_t update_ = -1;
};

/// Rank i sends by link 2 i and receives by link 2 i + 1.
Topology star(int ranks, BytesPerSecond rate) {
  Topology topology;
  for (int rank = 0; rank < ranks; ++rank) topology.add_endpoint("rank" + std::to_string(rank));
  const VertexId middle = topology.add_switch("switch", 0);
  for (int rank = 0; rank < ranks; ++rank) {
    topology.add_cable(rank, middle, rate, Seconds(0.0));
  }
  return topology;
}

}  // namespace

StepWorkload step_workload(const TrainingStep& step, int ranks, const Profile& profile, int index) {
  HEADWAY_CHECK(unrunnable_reason(step, ranks).empty(), "a step that cannot be run");
  const int stages = step.pipeline_stages;
  const int replicas = ranks / stages;
  const LayerTimes times = layer_times(step, profile);
  StepWorkload result;
  Workload& workload = result.workload;

  StageLinks links;
  if (stages > 1) {
    const Bytes activations(4.0 * step.batch / step.micro_batches * step.width);
    links.rate = activations / collective(profile, CollectiveKind::send_receive, activations, 2);
    for (const ScopeCosts* scope : {&profile.scale_up, &profile.scale_out}) {
      links.burst = max(links.burst, scope->burst.value_or(Bytes(0.0)));
    }
  }
  BytesPerSecond link_rate = links.rate;
  if (replicas > 1) {
    const Bytes gradient(4.0 * step.width * step.width);
    const Seconds time = collective(profile, CollectiveKind::all_reduce, gradient, replicas);
    const BytesPerSecond ring_rate = ring_bytes(gradient, replicas) / time;
    link_rate = max(link_rate, ring_rate);
    for (int stage = 0; stage < stages; ++stage) {
      FlowPlan plan{.rate_cap = ring_rate};
      for (int rank = stage; rank < ranks; rank += stages) {
        plan.links.push_back({2 * rank, 1.0});
        plan.links.push_back({2 * rank + 1, 1.0});
      }
      workload.plans.push_back(std::move(plan));
      workload.communicators.push_back(
          {.name = fmt::format("gradients, stage {}", stage), .members = replicas, .plan = stage});
    }
  }
  // Of links that nothing uses, any rate will do.
  result.topology = star(ranks, max(link_rate, BytesPerSecond(1.0)));
  const auto add_path = [&workload, ranks](int from, int to) {
    if (to < 0 || to >= ranks) return std::int32_t{-1};
    workload.plans.push_back({.links = {{2 * from, 1.0}, {2 * to + 1, 1.0}}});
    return static_cast<std::int32_t>(workload.plans.size()) - 1;
  };
  const Bytes ring = ring_bytes(Bytes(4.0 * step.width * step.width), replicas);
  workload.plans.emplace_back();  // what a rank tells its own sender passes no link
  const auto to_sender = static_cast<std::int32_t>(workload.plans.size()) - 1;
  std::vector<Program> senders;
  for (int rank = 0; rank < ranks; ++rank) {
    auto programs = RankProgram(step, ranks, times, rank, index, ring, links).written();
    workload.programs.push_back(std::move(programs.compute));
    senders.push_back(std::move(programs.sender));
    RankGroup group{
        .program = rank, .stage = rank % stages, .replica = rank / stages, .accelerators = {rank}};
    if (stages > 1) group.paths = {add_path(rank, rank + 1), add_path(rank, rank - 1), to_sender};
    if (replicas > 1) group.communicators = {rank % stages};
    workload.groups.push_back(std::move(group));
  }
  if (stages == 1) return result;
  for (int rank = 0; rank < ranks; ++rank) {
    workload.programs.push_back(std::move(senders[static_cast<std::size_t>(rank)]));
    RankGroup sender = workload.groups[static_cast<std::size_t>(rank)];
    sender.program = ranks + rank;
    sender.communicators.clear();
    workload.groups.push_back(std::move(sender));
  }
  return result;
}

}  // namespace headway
