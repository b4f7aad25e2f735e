#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/costs/collective_cost.h"
#include "sim/jobs/compression/compression.h"
#include "sim/jobs/optimizers.h"
#include "sim/jobs/recompute/recompute_extent.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/sharding.h"
#include "sim/jobs/software_memory.h"
#include "sim/jobs/synchronisation/synchronisation.h"
#include "sim/layers/expert_masks.h"
#include "sim/layers/kernel_shape.h"
#include "sim/layers/layer_parts.h"
#include "sim/layers/table_plan.h"

namespace headway {

/// How tokens reach the ranks of their experts (Megatron-Core's token dispatchers).
enum class ExpertDispatch {
  all_to_all,   ///< a copy for every expert a token goes to
  deduplicated  ///< across the fabric one copy for every domain it goes to: DeepEP, HybridEP
};
template <>
inline constexpr Word<ExpertDispatch> kWords<ExpertDispatch>[] = {
    {"all_to_all", ExpertDispatch::all_to_all}, {"deduplicated", ExpertDispatch::deduplicated}};

/// What the host issues as one launch instead of kernel by kernel.
enum class CudaGraph {
  none,
  layer,  ///< each layer's captured parts
  full    ///< the forward and backward passes of the whole iteration
};
template <>
inline constexpr Word<CudaGraph> kWords<CudaGraph>[] = {
    {"none", CudaGraph::none}, {"layer", CudaGraph::layer}, {"full", CudaGraph::full}};

/// Whose kernels normalise and pool images.
enum class ImageKernels {
  library,   ///< cuDNN's, as fast as copies
  framework  ///< PyTorch's of images whose channels come last
};
template <>
inline constexpr Word<ImageKernels> kWords<ImageKernels>[] = {
    {"library", ImageKernels::library}, {"framework", ImageKernels::framework}};

/// Where layers stand when their number does not divide by the stages.
enum class LayerPlacement {
  even,  ///< layers / chunks each, the first ones take the rest
  /// Megatron: the embedding, the loss and each multi-token prediction layer count as a layer.
  embedding_and_loss_as_layers,
  /// Every chunk has the ceiling of (layers + 2) / chunks, but for the last, which has what is
  /// left: how Megatron-Bridge lays out DeepSeek-V3.
  short_last_chunk
};
template <>
inline constexpr Word<LayerPlacement> kWords<LayerPlacement>[] = {
    {"even", LayerPlacement::even},
    {"embedding_and_loss_as_layers", LayerPlacement::embedding_and_loss_as_layers},
    {"short_last_chunk", LayerPlacement::short_last_chunk}};

/// How attention sees the whole of a sequence that is split over ranks.
enum class ContextParallelMethod {
  ring,       ///< keys and values go round (Liu et al. 2023)
  all_to_all  ///< ranks swap tokens for heads and back: Ulysses (Jacobs et al. 2023)
};
template <>
inline constexpr Word<ContextParallelMethod> kWords<ContextParallelMethod>[] = {
    {"ring", ContextParallelMethod::ring}, {"all_to_all", ContextParallelMethod::all_to_all}};

/// What is trained.
enum class Task {
  pretrain,
  sft,  ///< supervised fine-tuning of all parameters
  lora  ///< low-rank adapters beside frozen matrices (Hu et al. 2021, arXiv:2106.09685)
};
template <>
inline constexpr Word<Task> kWords<Task>[] = {
    {"pretrain", Task::pretrain}, {"sft", Task::sft}, {"lora", Task::lora}};

/// How a training job is split over accelerators and what each does. Degrees multiply to the number
/// of ranks: tensor * context * pipeline * data. Experts are split over the same ranks once more:
/// expert * expert tensor of the tensor * context * data ranks of a stage hold them all, and the
/// others hold copies ("folding", Liu et al. 2025, arXiv:2504.14960).
struct Strategy {
  Task task = Task::pretrain;
  int lora_rank = 8;  ///< inner size of the adapters; only where they are trained
  Precision lora_precision = Precision::bf16;  ///< in which they are kept: bf16 or fp32
  std::vector<AdapterTarget> lora_targets = {AdapterTarget::qkv};

  int tensor_parallel = 1;
  int context_parallel = 1;
  ContextParallelMethod context_parallel_method = ContextParallelMethod::ring;
  int pipeline_parallel = 1;
  int data_parallel = 1;
  int expert_parallel = 1;         ///< ranks that share out the experts of a layer
  int expert_tensor_parallel = 1;  ///< ranks that split each expert's matrices
  int virtual_stages = 1;          ///< model chunks a stage; more than 1 interleaves
  const Schedule* schedule = schedules().data();
  LayerPlacement layer_placement = LayerPlacement::even;
  /// Layers of every chunk, in the order of the model; takes the place of `layer_placement`.
  std::vector<int> layers_per_stage = {};

  std::int64_t micro_batch = 1;   ///< sequences
  std::int64_t global_batch = 1;  ///< sequences a step, over all data-parallel ranks
  /// Replicas get micro-batches by how fast they are, not equally many (nodes of several kinds).
  bool micro_batches_by_speed = false;
  std::int64_t sequence_length = 1;
  /// Length of the document that a token stands in, on average over tokens, where several are
  /// packed into one sequence and attend to themselves only; 0 if nothing is packed.
  std::int64_t packed_length = 0;

  bool sequence_parallel = false;  ///< norms and residuals split over the tensor-parallel ranks
  /// Stages send what all tensor-parallel ranks have in shares, and gather them behind.
  bool split_stage_transfers = true;
  bool tensor_parallel_overlap = false;  ///< its collectives overlap the matrix products
  /// Those of the backward pass run beside the products that do not wait for them.
  bool overlap_tensor_parallel_backward = false;
  /// With sequence parallelism its ranks gather what products take, in the format of products.
  bool quantised_tensor_gathers = false;
  bool fused_attention = true;  ///< flash: no score matrix in memory
  /// An RMS norm is one kernel, which keeps its input only; a batch norm one with what is behind
  /// it.
  bool fused_normalization = true;
  bool fused_activation = true;          ///< SwiGLU is one kernel, which keeps its inputs only
  bool fused_operators = true;           ///< of what stands between products; time only
  bool vocabulary_parallel_loss = true;  ///< on each rank's part of the logits, not all of them
  bool fused_loss = false;               ///< one kernel, which keeps the 16-bit logits only
  SoftwareMemory memory = {};            ///< and what else the software keeps
  Recompute recompute = Recompute::none;
  int recompute_layers = 0;  ///< fully recomputed ones, the first of each chunk; 0 is all
  std::vector<RecomputePart> recompute_modules = {};
  int offload_layers = 0;  ///< whose activations wait in host memory, the first of each chunk
  /// Share of the trained parameters that the host updates, with their optimizer states in its
  /// memory.
  double optimizer_offload = 0.0;
  bool overlap_optimizer_offload = false;  ///< copies and updates of those run side by side
  Sharding sharding = Sharding::none;
  std::optional<OptimizerShards> optimizer_shards = {};  ///< with ZeRO-1; else slices
  /// Fully sharded: layers give their gathered parameters up after the forward pass.
  bool reshard_after_forward = true;
  /// Ranks gather parameters of layers in the format of products.
  bool quantised_parameter_gathers = false;
  /// Fully sharded: each parameter is a tensor of its own, copied out of what was gathered, its
  /// gradient copied into what is reduced; else views of one buffer.
  bool per_parameter_sharding = false;
  /// Fully sharded: ranks that share out one copy of the parameters, the others hold further
  /// copies (hybrid sharding; Zhao et al. 2023, section 3.2.2). 0: all that could.
  int shard_group = 0;
  bool overlap_gradient_reduce = true;  ///< buckets start as soon as their layers' backward is done
  /// Without that overlap: all gradients of a stage in one message (Megatron-LM), not by buckets.
  bool fused_gradient_reduce = true;
  const Optimizer* optimizer = optimizers().data();  ///< that updates the parameters
  bool gradient_norm = true;  ///< it takes the norm of all gradients first, if it is one that clips
  bool overlap_parameter_gather = true;  ///< ZeRO-1: gathered ahead of use; FSDP: backward
  Bytes gradient_bucket = Bytes(0.0);    ///< least size of a bucket; 0 is one bucket a layer
  std::optional<Bytes> first_gradient_bucket = {};  ///< of the first one, if another
  bool reduce_each_tensor = false;                  ///< in a collective of its own
  /// What became ready since the last bucket began leaves after so long, however small (Horovod);
  /// 0: buckets wait until they are full.
  Seconds gradient_cycle = Seconds(0.0);
  bool overlap_pipeline_transfers = true;  ///< sends and receives do not hold up compute

  ExpertDispatch expert_dispatch = ExpertDispatch::all_to_all;
  bool overlap_expert_exchange = false;  ///< with the compute of another micro-batch or pass
  /// Tokens that an expert accepts, in means of an even routing; others are dropped. 0: all.
  double expert_capacity_factor = 0.0;
  ExpertMasks expert_masks = ExpertMasks::none;  ///< where there is such a limit
  double expert_imbalance = 1.0;  ///< tokens of the busiest expert, in means of an even routing
  CudaGraph cuda_graph = CudaGraph::none;
  ImageKernels image_kernels = ImageKernels::library;

  TablePlan tables = {};  ///< of embedding bags, over the data-parallel ranks

  Synchronisation synchronisation = {};  ///< between replicas
  Compression compression = {};          ///< of the gradients that they exchange

  CollectiveLibrary collective_library = CollectiveLibrary::profile;  ///< of their prices
  Precision precision = Precision::bf16;                              ///< of the matrix products
  Scaling scaling = Scaling::delayed;                     ///< of their inputs, below 16 bits
  Precision gradient_precision = Precision::fp32;         ///< in which gradients are reduced
  std::optional<Precision> kept_gradient_precision = {};  ///< and kept, if in another
  /// Of experts' products beside others of 16 bits: operands in fp32, one product after the other.
  std::optional<Precision> expert_precision = {};
  std::string kernel_family = "fused";  ///< a family of the profile
  std::string software_release;         ///< a release of that family; empty: one like any other
  /// One of the profile's attention_kernels, or `kFastestAttention`; empty: the family's.
  std::string attention_kernel;

  friend bool operator==(const Strategy&, const Strategy&) = default;

  [[nodiscard]] std::int64_t micro_batches() const {
    return global_batch / (micro_batch * data_parallel);
  }
  /// How far attention reaches.
  [[nodiscard]] std::int64_t attention_length() const {
    return packed_length > 0 ? packed_length : sequence_length;
  }
  [[nodiscard]] int ranks() const {
    return tensor_parallel * context_parallel * pipeline_parallel * data_parallel;
  }
  /// Groups of data-parallel ranks that take steps of their own.
  [[nodiscard]] int islands() const { return synchronisation->islands(data_parallel); }
  /// Data-parallel replicas of an island.
  [[nodiscard]] int island_data_parallel() const { return data_parallel / islands(); }
  /// How many copies of the model the stages of a pipeline share: one fed from both ends has two.
  [[nodiscard]] int copies() const { return schedule->is_doubled() ? 2 : 1; }
  /// Ranks that work with the same parameters: those of an island that data and context parallelism
  /// tell apart, in each copy.
  [[nodiscard]] int replicas() const {
    return island_data_parallel() * context_parallel * copies();
  }
  /// How many of those hold a part of each sharded state.
  [[nodiscard]] int shard_ranks() const { return shard_group > 0 ? shard_group : replicas(); }
  /// Ranks of a stage that share out tokens and hold all experts once.
  [[nodiscard]] int expert_group() const { return expert_parallel * expert_tensor_parallel; }
  [[nodiscard]] int ranks_of_stage() const {
    return tensor_parallel * context_parallel * data_parallel;
  }
  /// Ranks that hold the same part of the same experts: of a stage, in each copy.
  [[nodiscard]] int expert_replicas() const { return ranks_of_stage() / expert_group() * copies(); }
  /// How its micro-batches go through the stages.
  [[nodiscard]] PipelineShape pipeline() const {
    return {.stages = pipeline_parallel,
            .virtual_stages = virtual_stages,
            .micro_batches = static_cast<int>(micro_batches())};
  }
  /// Parts that the model is cut into.
  [[nodiscard]] int chunks() const { return pipeline_parallel * virtual_stages; }
  /// How many of those stand on a stage.
  [[nodiscard]] int chunks_of_stage() const { return schedule->is_doubled() ? 2 : virtual_stages; }
};

}  // namespace headway
