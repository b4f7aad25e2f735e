#include "sim/strategy/memory.h"

#include <algorithm>

#include "sim/strategy/activation_memory.h"
#include "sim/strategy/adapters.h"
#include "sim/strategy/recompute.h"
#include "sim/strategy/schedule.h"
#include "sim/strategy/stage_parameters.h"

namespace headway {
namespace {

/// Device context, kernel images and library workspaces of a PyTorch process: 1008 MiB where they
/// are all loaded at once, 300 to 400 MiB with lazy loading (PyTorch issues 28394 and 107667).
constexpr Bytes kDeviceContext = 1_GiB;

/// Buffers of a communicator: NCCL_BUFFSIZE of 4 MiB (NCCL's environment variables) for each of 16
/// channels and four neighbours, two in the ring and two in the tree.
constexpr Bytes kCommunicator = 256_MiB;

/// What a caching allocator holds beyond what is in use, as a share of the memory that comes and
/// goes in a step (model states are allocated once). GMLake (Guo et al., ASPLOS 2024) wins back 15
/// % on average and up to 33 % in fine-tuning, whose recomputation and offloading fragment more;
/// the value here is chosen on the published trials that README.md counts.
constexpr double kAllocatorReserve = 0.10;

// Bytes of one logit in the loss. Kept for the backward pass: the softmax in fp32.
constexpr double kSoftmax = 4.0;
/// Beside it, at the loss: the 16-bit logits and their fp32 copy (Megatron-LM's
/// vocab_parallel_cross_entropy works in place from there on).
constexpr double kSplitLoss = 2.0 + 4.0;
/// The same of a whole vocabulary (PyTorch's cross_entropy): the 16-bit logits and, in the backward
/// pass, two fp32 gradients, of the log-probabilities and of the logits.
constexpr double kWholeLoss = 2.0 + 4.0 + 4.0;
constexpr double kLogit = 2.0;  ///< a rank's own part before it is gathered
/// A fused kernel keeps the 16-bit logits and makes their gradient in 16 bits: flash-attention's
/// losses/cross_entropy.py (Dao-AILab/flash-attention).
constexpr double kFusedKept = 2.0;
constexpr double kFusedLoss = 2.0;

constexpr int kHeadInputs = 2;        ///< of the final norm and of the output head
constexpr int kFrozenHeadInputs = 1;  ///< only a weight gradient asks for the second
constexpr int kGatheredUnits = 2;     ///< the one in use and the one fetched ahead

/// Bytes of a parameter's states before sharding: Adam with two fp32 moments and, where the
/// parameters themselves are not fp32, an fp32 master copy.
struct StateBytes {
  double parameter;
  double gradient;
  double optimizer;
};
StateBytes state_bytes(const Strategy& strategy) {
  constexpr double kMoments = 8.0;
  constexpr double kMaster = 4.0;
  const double parameter = working_bytes_per_element(strategy.precision);
  return {.parameter = parameter,
          .gradient = bytes_per_element(strategy.gradient_precision),
          .optimizer = kMoments + (parameter < kMaster ? kMaster : 0.0)};
}

int micro_batches(const Strategy& strategy) { return static_cast<int>(strategy.micro_batches()); }

/// The most bytes that passes in flight hold on a stage, where a pass through chunk c holds
/// `chunk_bytes[c]`.
Bytes peak_in_flight(const Strategy& strategy, int stage, const std::vector<Bytes>& chunk_bytes) {
  const int stages = strategy.pipeline_parallel;
  if (chunk_bytes.size() == 1) {
    return chunk_bytes.front() *
           peak_chunks_in_flight(strategy.schedule, stage, stages, 1, micro_batches(strategy));
  }
  // Past the warm-up, shorter than two groups of micro-batches, each group repeats the one before.
  const int groups = std::min(micro_batches(strategy) / stages, 4);
  Bytes held;
  Bytes peak;
  for (const ScheduleStep& step :
       stage_schedule(strategy.schedule, stage, stages, strategy.virtual_stages,
                      groups >= 2 ? groups * stages : micro_batches(strategy))) {
    held += held_after(step.kind) * chunk_bytes[static_cast<std::size_t>(step.chunk)];
    peak = max(peak, held);
  }
  return peak;
}

/// What the loss holds on the last stage.
struct LossMemory {
  Bytes kept;
  Bytes workspace;
};
LossMemory loss_memory(const TransformerModel& model, const Strategy& strategy) {
  const double logits = static_cast<double>(strategy.micro_batch) *
                        static_cast<double>(strategy.sequence_length) / strategy.context_parallel *
                        static_cast<double>(model.vocabulary);
  const double part = logits / strategy.tensor_parallel;
  if (strategy.fused_loss) {
    const double worked_on = strategy.vocabulary_parallel_loss ? part : logits;
    return {Bytes(worked_on * kFusedKept), Bytes(worked_on * kFusedLoss)};
  }
  if (strategy.vocabulary_parallel_loss) return {Bytes(part * kSoftmax), Bytes(part * kSplitLoss)};
  const double own_part = strategy.tensor_parallel > 1 ? part * kLogit : 0.0;
  return {Bytes(logits * kSoftmax), Bytes(logits * kWholeLoss + own_part)};
}

/// Gathered parameters of fully sharded training (a few layers' or, where they stay for the
/// backward pass, all of them), or gradients on their way.
Bytes exchange_buffers(const TransformerModel& model, const Strategy& strategy,
                       const StageParameters& parameters) {
  const StateBytes bytes = state_bytes(strategy);
  const bool adapters = trains_adapters(strategy);
  const double adapter = adapter_parameters_per_rank(model, strategy);
  const double layer = layer_parameters_per_rank(model, strategy.tensor_parallel) + adapter;
  if (strategy.sharding == Sharding::full) {
    const double largest = std::max({layer, parameters.embedding, parameters.head});
    const double gathered = strategy.reshard_after_forward ? largest + (kGatheredUnits - 1) * layer
                                                           : parameters.total();
    return Bytes(gathered * bytes.parameter + (adapters ? adapter : largest) * bytes.gradient);
  }
  if (strategy.replicas() == 1) return Bytes(0.0);
  const Bytes all(trained_parameters(parameters, strategy) * bytes.gradient);
  if (strategy.gradient_bucket > Bytes(0.0)) return min(all, strategy.gradient_bucket);
  return min(all, Bytes((adapters ? adapter : layer) * bytes.gradient));
}

Bytes communicators(const Strategy& strategy) {
  int groups = 0;
  for (const int degree : {strategy.tensor_parallel, strategy.context_parallel,
                           strategy.pipeline_parallel, strategy.data_parallel}) {
    if (degree > 1) ++groups;
  }
  return groups * kCommunicator;
}

/// What a pass through a chunk of `layers` keeps on the device, embedding and head apart.
Bytes chunk_activation_bytes(const TransformerModel& model, const Strategy& strategy, int layers) {
  Strategy keeping = strategy;
  keeping.recompute = Recompute::none;
  if (strategy.offload_layers > 0) {
    return std::max(0, layers - strategy.offload_layers) * recomputing_layer_bytes(model, strategy);
  }
  const int recomputing = recomputed_layers(strategy, layers);
  return recomputing * recomputing_layer_bytes(model, strategy) +
         (layers - recomputing) * recomputing_layer_bytes(model, keeping);
}

/// The layer that is being worked on, and the one on its way to the host or back.
Bytes offload_buffers(const TransformerModel& model, const Strategy& strategy) {
  return std::min(strategy.offload_layers, 2) * recomputing_layer_bytes(model, strategy);
}

StageMemory memory_of_stage(const TransformerModel& model, const Strategy& strategy, int stage) {
  const StageParameters parameters = stage_parameters(model, strategy, stage);
  const double trained = trained_parameters(parameters, strategy);
  const StateBytes bytes = state_bytes(strategy);
  // How many ranks share out each state.
  const auto parts_from = [&](Sharding least) {
    return strategy.sharding >= least ? static_cast<double>(strategy.shard_ranks()) : 1.0;
  };

  std::vector<Bytes> chunk_bytes;
  Bytes transient = recomputed_bytes(model, strategy) + offload_buffers(model, strategy);
  for (const int layers : stage_layers(model, strategy, stage)) {
    const int chunk = static_cast<int>(chunk_bytes.size());
    Bytes kept = chunk_activation_bytes(model, strategy, layers);
    if (is_first_chunk(strategy, stage, chunk)) kept += embedding_dropout_bytes(model, strategy);
    if (is_last_chunk(strategy, stage, chunk)) {
      const LossMemory loss = loss_memory(model, strategy);
      const int inputs = trains_adapters(strategy) ? kFrozenHeadInputs : kHeadInputs;
      kept += inputs * residual_bytes(model, strategy) + loss.kept;
      // The softmax is gone by the time that layers are recomputed.
      transient = max(loss.workspace, transient - loss.kept);
    }
    chunk_bytes.push_back(kept);
  }

  StageMemory memory;
  memory.parameters = Bytes(parameters.total() * bytes.parameter / parts_from(Sharding::full));
  memory.gradients = Bytes(trained * bytes.gradient / parts_from(Sharding::gradients));
  memory.optimizer = Bytes(trained * bytes.optimizer / parts_from(Sharding::optimizer));
  memory.activations = peak_in_flight(strategy, stage, chunk_bytes);
  memory.buffers = transient + exchange_buffers(model, strategy, parameters) +
                   communicators(strategy) + kDeviceContext +
                   kAllocatorReserve * (memory.activations + transient);
  return memory;
}

}  // namespace

Bytes layer_activation_bytes(const TransformerModel& model, const Strategy& strategy) {
  return chunk_activation_bytes(model, strategy, 1);
}

std::vector<StageMemory> stage_memory(const TransformerModel& model, const Strategy& strategy) {
  std::vector<StageMemory> stages;
  stages.reserve(static_cast<std::size_t>(strategy.pipeline_parallel));
  for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
    stages.push_back(memory_of_stage(model, strategy, stage));
  }
  return stages;
}

}  // namespace headway
