#include "sim/jobs/memory.h"

#include <algorithm>
#include <optional>

#include "sim/jobs/memory_of_stage.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/recompute/pass_memory.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/tables.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

/// Buffers of a communicator: NCCL_BUFFSIZE of 4 MiB (NCCL's environment variables) for each of 16
/// channels and four neighbours, two in the ring and two in the tree.
constexpr Bytes kCommunicator = 256_MiB;

// Bytes of one logit in the loss. Kept for the backward pass: the softmax in fp32.
constexpr double kSoftmax = 4.0;
/// Beside it, at the loss: the 16-bit logits and their fp32 copy (Megatron-LM's
/// vocab_parallel_cross_entropy works in place from there on).
constexpr double kSplitLoss = 2.0 + 4.0;
/// The same of a whole vocabulary (PyTorch's cross_entropy): the 16-bit logits and, in the backward
/// pass, two fp32 gradients, of the log-probabilities and of the logits.
constexpr double kWholeLoss = 2.0 + 4.0 + 4.0;
constexpr double kLogit =
    2.0;  ///< in 16 bits: before they are gathered, or of the micro-batch before
/// A fused kernel keeps the 16-bit logits and makes their gradient in 16 bits: flash-attention's
/// losses/cross_entropy.py (Dao-AILab/flash-attention).
constexpr double kFusedKept = 2.0;
constexpr double kFusedLoss = 2.0;

constexpr int kGatheredUnits = 2;  ///< the one in use and the one fetched ahead

/// Bytes of a parameter's states before sharding: what the optimizer keeps and, where the
/// parameters themselves are not fp32, an fp32 master copy.
struct StateBytes {
  double parameter;
  double gradient;
  double optimizer;
  double optimizer_of_ends;  ///< of the embedding and the head
};
StateBytes state_bytes(const Strategy& strategy) {
  constexpr double kMaster = 4.0;
  const double parameter = working_bytes_per_element(strategy.precision);
  const double master = parameter < kMaster ? kMaster : 0.0;
  const double kept = strategy.memory.optimizer_state_bytes;
  // Servers hold them, in the memory of their hosts, but for what workers update.
  const ServerPlan* servers = strategy.synchronisation->servers();
  const bool is_updated_elsewhere = servers != nullptr && !servers->has_local_updates();
  const auto states = [&](const Optimizer& optimizer) {
    if (is_updated_elsewhere) return 0.0;
    return strategy.memory.says_optimizer_states() ? kept : optimizer.state_bytes + master;
  };
  return {.parameter = parameter,
          .gradient = bytes_per_element(
              strategy.kept_gradient_precision.value_or(strategy.gradient_precision)),
          .optimizer = states(*strategy.optimizer),
          .optimizer_of_ends = states(beside(*strategy.optimizer))};
}

/// Bytes of a matrix's element where it is kept in the format of products alone. Formats with
/// scales of blocks are there twice, as blocks along the one side and along the other, unless the
/// blocks are square.
double quantised_weight_bytes(const Strategy& strategy) {
  const double working = working_bytes_per_element(strategy.precision);
  if (bytes_per_element(strategy.precision) == working) return working;
  const bool is_in_blocks =
      strategy.scaling == Scaling::mxfp8 || strategy.scaling == Scaling::nvfp4;
  return (is_in_blocks ? 2.0 : 1.0) * bytes_per_element(strategy.scaling);
}

/// What the matrices of a stage's layers take less than in the working format.
Bytes saved_by_quantised_weights(const StageParameters& parameters, const Strategy& strategy) {
  if (!strategy.memory.quantised_weights) return Bytes(0.0);
  const double saved =
      working_bytes_per_element(strategy.precision) - quantised_weight_bytes(strategy);
  const bool is_sharded = strategy.sharding == Sharding::full;
  return Bytes(saved * (parameters.layers / (is_sharded ? strategy.shard_ranks() : 1.0) +
                        parameters.experts / (is_sharded ? strategy.expert_replicas() : 1.0)));
}

/// What copies of a stage's matrices take that stand beside them. Shards are gathered for every
/// use, and what is gathered in that format is kept in it.
Bytes quantised_copies(const StageParameters& parameters, const Strategy& strategy) {
  const double working = working_bytes_per_element(strategy.precision);
  if (bytes_per_element(strategy.precision) == working) return Bytes(0.0);
  if (strategy.memory.quantised_weights || strategy.quantised_parameter_gathers ||
      strategy.sharding == Sharding::full) {
    return Bytes(0.0);
  }
  return Bytes(strategy.memory.quantised_copies * bytes_per_element(strategy.scaling) *
               (parameters.layers + parameters.experts));
}

/// The most bytes that passes in flight hold on a stage, where a pass through chunk c holds
/// `chunk_bytes[c]`.
Bytes peak_in_flight(const Strategy& strategy, int stage, const std::vector<Bytes>& chunk_bytes) {
  if (chunk_bytes.size() == 1) {
    return chunk_bytes.front() *
           peak_chunks_in_flight(*strategy.schedule, strategy.pipeline(), stage);
  }
  // Past the warm-up, shorter than two groups of micro-batches, each group repeats the one before.
  PipelineShape shape = strategy.pipeline();
  const int groups = std::min(shape.micro_batches / shape.stages, 4);
  if (groups >= 2 && strategy.schedule->bounds_flight) shape.micro_batches = groups * shape.stages;
  Bytes held;
  Bytes peak;
  for (const ScheduleStep& step : stage_schedule(*strategy.schedule, shape, stage)) {
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
LossMemory loss_memory(const Model& model, const Strategy& strategy) {
  const double logits = rank_shape_of(strategy).tokens() * model.last.loss_classes;
  const double part = logits / strategy.tensor_parallel;
  const double before = strategy.memory.previous_logits ? kLogit : 0.0;
  if (strategy.fused_loss) {
    const double worked_on = strategy.vocabulary_parallel_loss ? part : logits;
    return {Bytes(worked_on * kFusedKept), Bytes(worked_on * (kFusedLoss + before))};
  }
  if (strategy.vocabulary_parallel_loss)
    return {Bytes(part * kSoftmax), Bytes(part * (kSplitLoss + before))};
  const double own_part = strategy.tensor_parallel > 1 ? part * kLogit : 0.0;
  return {Bytes(logits * kSoftmax), Bytes(logits * (kWholeLoss + before) + own_part)};
}

/// How many layers of each kind stand on a stage with these, those that predict further ahead
/// included.
std::vector<int> kinds_on_stage(const Model& model, const Strategy& strategy, int stage,
                                const std::vector<LayerRange>& layers) {
  std::vector<int> standing(model.kinds.size());
  for (const LayerRange& range : layers) {
    const std::vector<int> counts = kinds_of_layers(model, range);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) standing[kind] += counts[kind];
  }
  for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
    if (model.ahead.layers > 0 && is_last_chunk(strategy, stage, chunk)) {
      ++standing[static_cast<std::size_t>(model.ahead.kind)];
    }
  }
  return standing;
}

/// The largest value among the kinds of layers of which any stand there.
template <class Value>
auto largest_of_kinds(const Model& model, const std::vector<int>& standing, Value value) {
  decltype(value(model.kinds.front())) largest{};
  for (std::size_t kind = 0; kind < standing.size(); ++kind) {
    if (standing[kind] > 0) largest = std::max(largest, value(model.kinds[kind]));
  }
  return largest;
}

/// The share of the gradients that are in host memory by the time that the backward pass is over.
double offloaded_gradients(const Strategy& strategy) {
  return strategy.memory.offloaded_gradients ? strategy.optimizer_offload : 0.0;
}

/// Gathered parameters of fully sharded training (a few layers' or, where they stay for the
/// backward pass, all of them), or gradients on their way.
Bytes exchange_buffers(const Model& model, const Strategy& strategy,
                       const std::vector<int>& standing, const StageParameters& parameters) {
  const StateBytes bytes = state_bytes(strategy);
  const bool adapters = trains_adapters(strategy);
  const RankShape shape = rank_shape_of(strategy);
  const auto adapter_of = [&](const Layer& layer) {
    return adapter_parameters_on_rank(layer, shape, adapter_rank(strategy));
  };
  const double adapter = largest_of_kinds(model, standing, adapter_of);
  const double layer = largest_of_kinds(model, standing, [&](const Layer& kind) {
    const Parameters on_rank = parameters_on_rank(kind, shape);
    return adapter_of(kind) + on_rank.total() - on_rank.tables();
  });
  const bool leaves_for_host = offloaded_gradients(strategy) > 0.0;
  if (strategy.sharding == Sharding::full && !(leaves_for_host && strategy.replicas() == 1)) {
    if (strategy.replicas() == 1) return Bytes(0.0);  // there is nobody to gather from
    const double largest = std::max({layer, parameters.embedding, parameters.head});
    const double ends = parameters.embedding + parameters.head;
    const double narrow = gathered_parameter_bytes(strategy);
    const double widest =
        std::max(narrow * layer, bytes.parameter * std::max(parameters.embedding, parameters.head));
    const double gathered = strategy.reshard_after_forward
                                ? widest + (kGatheredUnits - 1) * narrow * layer
                                : narrow * (parameters.total() - ends) + bytes.parameter * ends;
    // Stages of a pipeline add up whole gradients until the last micro-batch.
    const double reduced = strategy.pipeline_parallel > 1 ? trained_parameters(parameters, strategy)
                                                          : (adapters ? adapter : largest);
    return Bytes(gathered + reduced * bytes.gradient);
  }
  const bool has_no_bucket = strategy.replicas() == 1 && !leaves_for_host;
  if (has_no_bucket && !strategy.memory.flattened_gradients) return Bytes(0.0);
  const Bytes all(trained_parameters(parameters, strategy) * bytes.gradient);
  if (strategy.memory.standing_buckets) return all;
  if (strategy.gradient_bucket > Bytes(0.0)) return min(all, strategy.gradient_bucket);
  return min(all, Bytes((adapters ? adapter : layer) * bytes.gradient));
}

/// Tables that ranks share out, on the fullest one.
struct TableMemory {
  Bytes weights;
  Bytes states;
  Bytes exchanged;  ///< pooled rows of all ranks, on their way
};
TableMemory table_memory(const Model& model, const Strategy& strategy) {
  const RankShape shape = rank_shape_of(strategy);
  TableMemory memory;
  for (const Layer& kind : model.kinds) {
    if (kind.tables.empty()) continue;
    const RankTables tables = tables_on_rank(kind, shape);
    const TableMessages messages = table_messages(kind, shape);
    memory.weights += Bytes(kTableBytes * tables.placed);
    memory.states += Bytes(kTableBytes * tables.states);
    memory.exchanged += messages.summed + messages.swapped;
  }
  return memory;
}

Bytes communicators(const Strategy& strategy) {
  int groups = strategy.memory.communicators;
  for (const int degree :
       {strategy.tensor_parallel, strategy.context_parallel, strategy.pipeline_parallel,
        strategy.data_parallel, strategy.expert_parallel, strategy.expert_tensor_parallel}) {
    if (degree > 1) ++groups;
  }
  return groups * kCommunicator;
}

/// The layer that is being worked on, and the one on its way to the host or back.
Bytes offload_buffers(const Layer& layer, const Strategy& strategy) {
  return std::min(strategy.offload_layers, 2) * recomputing_layer_bytes(layer, strategy);
}

/// What stands behind the layers keeps, once for each prediction.
Bytes kept_behind(const Model& model, const Strategy& strategy, Bytes loss) {
  const RankShape shape = rank_shape_of(strategy);
  const auto ahead = static_cast<double>(model.ahead.layers);
  Bytes kept = (1.0 + ahead) * (kept_bytes(model.last, shape) + loss);
  if (ahead > 0.0) {
    kept += ahead * (layer_activation_bytes(model.kind(model.ahead.kind), strategy) +
                     kept_bytes(model.ahead.join, shape));
  }
  return kept;
}

/// What the states of a stage with these parameters take.
StageMemory states_of(const Model& model, const Strategy& strategy,
                      const StageParameters& parameters) {
  const StateBytes bytes = state_bytes(strategy);
  // Adapters stand beside dense layers only: there are no experts then.
  const double trained = trained_parameters(parameters, strategy) - parameters.experts;
  // A state is shared out from this sharding on.
  const auto states = [&](double of_all_replicas, double bytes_per_parameter, Sharding least) {
    const bool is_sharded = strategy.sharding >= least;
    const double shared = is_sharded ? strategy.shard_ranks() : 1.0;
    const double experts = is_sharded ? strategy.expert_replicas() : 1.0;
    return Bytes((of_all_replicas / shared + parameters.experts / experts) * bytes_per_parameter);
  };
  StageMemory memory;
  memory.parameters = states(parameters.shared(), bytes.parameter, Sharding::full) -
                      saved_by_quantised_weights(parameters, strategy) +
                      quantised_copies(parameters, strategy);
  memory.gradients =
      (1.0 - offloaded_gradients(strategy)) * states(trained, bytes.gradient, Sharding::gradients);
  const double ends = trains_adapters(strategy) ? 0.0 : parameters.embedding + parameters.head;
  const Bytes optimizer =
      states(trained, bytes.optimizer, Sharding::optimizer) +
      Bytes((bytes.optimizer_of_ends - bytes.optimizer) * ends /
            (strategy.sharding >= Sharding::optimizer ? strategy.shard_ranks() : 1.0));
  memory.optimizer = (1.0 - strategy.optimizer_offload) * optimizer;
  if (strategy.islands() > 1) {
    memory.optimizer +=
        Bytes(strategy.synchronisation->kept_bytes() * trained / strategy.replicas());
  }
  if (strategy.replicas() > 1 && strategy.compression.method->keeps_error) {
    memory.gradients += Bytes(kKeptErrorBytes * trained);
  }
  const TableMemory tables = table_memory(model, strategy);  // no pipeline parts them
  memory.table_weights = tables.weights;
  memory.table_states = tables.states;
  memory.parameters += tables.weights;
  memory.optimizer += tables.states;
  memory.buffers += tables.exchanged;
  memory.host = strategy.optimizer_offload *
                states(trained, bytes.optimizer + bytes.gradient, Sharding::optimizer);
  return memory;
}

}  // namespace

StageMemory states_of_stage(const Model& model, const Strategy& strategy, int stage) {
  return states_of(model, strategy, stage_parameters(model, strategy, stage));
}

StageMemory memory_of_stage(const Model& model, const Strategy& strategy, int stage) {
  const std::vector<LayerRange> layers = stage_layers(model, strategy, stage);
  const std::vector<int> standing = kinds_on_stage(model, strategy, stage, layers);
  const StageParameters parameters = stage_parameters(model, strategy, stage, layers);
  std::vector<Bytes> chunk_bytes;
  std::vector<Bytes> chunk_host_bytes;
  const RankShape shape = rank_shape_of(strategy);
  std::vector<Bytes> at_work(standing.size());
  for (std::size_t kind = 0; kind < standing.size(); ++kind) {
    if (standing[kind] == 0) continue;
    const Layer& layer = model.kinds[kind];
    at_work[kind] = recomputed_bytes(layer, strategy) + offload_buffers(layer, strategy) +
                    gradients_at_work(layer, shape);
  }
  Bytes transient;
  PassMemory passes(model, strategy);
  for (const LayerRange& range : layers) {
    const int chunk = static_cast<int>(chunk_bytes.size());
    Bytes kept = passes.on_device(range);
    transient = max(transient, passes.at_work(range, at_work));
    if (is_first_chunk(strategy, stage, chunk)) {
      kept += kept_bytes(model.first, shape);
    }
    if (is_last_chunk(strategy, stage, chunk)) {
      const LossMemory loss = loss_memory(model, strategy);
      kept += kept_behind(model, strategy, loss.kept);
      if (model.ahead.layers > 0) {
        transient = max(transient, at_work[static_cast<std::size_t>(model.ahead.kind)]);
      }
      // The softmax is gone by the time that layers are recomputed.
      transient = max(loss.workspace, transient - loss.kept);
    }
    chunk_bytes.push_back(kept);
    chunk_host_bytes.push_back(passes.on_host(range));
  }

  StageMemory memory = states_of(model, strategy, parameters);
  if (strategy.offload_layers > 0) {
    memory.host += peak_in_flight(strategy, stage, chunk_host_bytes);
  }
  memory.activations = peak_in_flight(strategy, stage, chunk_bytes);
  // Gradients that are freed count only with what they exceed the rest by: the sum is never below
  // the states'.
  if (strategy.memory.freed_gradients && strategy.pipeline_parallel == 1 &&
      strategy.micro_batches() == 1) {
    memory.gradients = max(Bytes(0.0), memory.gradients - memory.activations - transient);
  }
  memory.buffers += transient + exchange_buffers(model, strategy, standing, parameters) +
                    communicators(strategy) + kDeviceContext +
                    strategy.memory.allocator_reserve * (memory.activations + transient);
  return memory;
}

Bytes layer_activation_bytes(const Layer& layer, const Strategy& strategy) {
  if (strategy.offload_layers > 0) return Bytes(0.0);
  return recomputing_layer_bytes(layer, strategy);
}

std::vector<StageMemory> stage_memory(const Model& model, const Strategy& strategy) {
  std::vector<StageMemory> stages;
  stages.reserve(static_cast<std::size_t>(strategy.pipeline_parallel));
  for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
    stages.push_back(memory_of_stage(model, strategy, stage));
  }
  return stages;
}

}  // namespace headway
