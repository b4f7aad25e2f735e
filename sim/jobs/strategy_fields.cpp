#include "sim/jobs/strategy_fields.h"

#include <algorithm>
#include <cmath>

#include "sim/jobs/compression/read_compression.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/strategy_members.h"
#include "sim/jobs/synchronisation/read_synchronisation.h"
#include "sim/jobs/table_plan_fields.h"

namespace headway {
namespace {

// Beyond any machine or training run, and small enough that products of two do not overflow.
constexpr Range kDegree = between(1, 1'000'000);
constexpr Range kSequences = between(1, 10'000'000);
constexpr Range kTokens = between(1, 1'000'000'000);
constexpr double kMostLayers = 100'000;

constexpr Word<bool> kAttentions[] = {{"flash", true}, {"unfused", false}};
constexpr Word<Precision> kGradientFormats[] = {
    {"fp32", Precision::fp32}, {"bf16", Precision::bf16}, {"fp16", Precision::fp16}};

/// What fine-tuning packs, as a share of the sequence, where a scenario does not say: public steps
/// of fine-tuning spend 0.43 of the time on attention that whole sequences of 4,096 tokens would
/// (fitted, spread 0.3), and a kernel on pieces of 0.4 of that length, at the rate that it reaches
/// on them, spends the same.
constexpr double kFineTuningPackedShare = 0.4;

void settle_packed_length(Strategy& strategy) {
  const bool packs = strategy.task != Task::pretrain && strategy.fused_attention;
  const double length = static_cast<double>(strategy.sequence_length);
  strategy.packed_length =
      packs ? std::max<std::int64_t>(1, std::llround(kFineTuningPackedShare * length))
            : strategy.sequence_length;
}

constexpr FieldNeed kFullSharding = {"zero_stage", "3", "parameters are not sharded"};
constexpr FieldNeed kSharedStates = {"zero_stage", "1 or 3", "no group of ranks shares it out"};
constexpr FieldNeed kAdapters = {"task", "\"lora\"", "no adapters are trained"};

bool is_fully_sharded(const Strategy& strategy) { return strategy.sharding == Sharding::full; }
bool shares_optimizer_alone(const Strategy& job) { return job.sharding == Sharding::optimizer; }
bool has_shard_groups(const Strategy& job) {
  return is_fully_sharded(job) || (job.sharding == Sharding::optimizer && job.shard_group > 0);
}

/// An object that has a table of fields of its own.
template <class Part>
FieldMember<Strategy> part(Part Strategy::*member, Part (*read)(ObjectReader&, const Part&),
                           const FieldTable<Part>& fields) {
  return {.type = object_type(),
          .read = [=](ObjectReader& reader, std::string_view, bool,
                      Strategy& strategy) { strategy.*member = read(reader, strategy.*member); },
          .children = fields.described()};
}

}  // namespace

const FieldTable<Strategy>& strategy_fields() {
  static const FieldTable<Strategy> kFields(
      {{"schema", elsewhere<Strategy>(constant_type(kStrategySchema)),
        R"(Says that a file is a strategy, and of which version.
default: required in a file, optional inside a scenario)"},
       {"preset", elsewhere<Strategy>({"the name of a preset", text_type().schema}),
        R"(What the framework does where no field says otherwise. A preset only sets fields below; `headway
check --resolve` writes them out.
see: headway list presets
default: "none")"},
       {"tensor_parallel", whole(&Strategy::tensor_parallel, kDegree),
        R"(Accelerators that split the matrices of each layer. They exchange activations twice a layer each
way, so they belong inside a scale-up domain.
see: strategy.sequence_parallel; Shoeybi et al. 2019 (arXiv:1909.08053))"},
       {"context_parallel", whole(&Strategy::context_parallel, kDegree),
        R"(Accelerators that split each sequence.
see: strategy.context_parallel_method; Grattafiori et al. 2024 (arXiv:2407.21783), 3.3.2)"},
       {"context_parallel_method", word(&Strategy::context_parallel_method),
        R"(How attention sees the whole sequence. Keys and values go round; or ranks swap their parts of the
sequence for whole sequences of some heads, and back (Ulysses).
see: Liu et al. 2023 (arXiv:2310.01889); Jacobs et al. 2023 (arXiv:2309.14509), 3.1)"},
       {"pipeline_parallel", whole(&Strategy::pipeline_parallel, kDegree),
        R"(Pipeline stages: each holds some of the layers.
see: strategy.virtual_stages, strategy.schedule; breakdown_s.pipeline_bubble)"},
       {"data_parallel", whole(&Strategy::data_parallel, kDegree),
        R"(Replicas of the model, each with its part of the batch.
limits: the four degrees multiply to the accelerators of the cluster
see: strategy.zero_stage
default: what the other degrees leave of the cluster)"},
       {"schedule", pipeline_schedule().presettable(),
        R"(The order in which a stage works off micro-batches. One forward, one backward holds fewer
activations; GPipe runs all forward passes first. ZB-H1 and ZB-V split backward passes, so that
gradients of weights fill the bubble; ZB-V's two chunks a stage go there and back. DualPipe has the
model twice and is fed from both ends.
see: Narayanan et al. 2019 (PipeDream); Huang et al. 2019 (arXiv:1811.06965); Qi et al. 2023
(arXiv:2401.10241) and 2024 (arXiv:2405.15362); DeepSeek-V3, 2024 (arXiv:2412.19437), 3.2.1)"},
       {"virtual_stages",
        whole(&Strategy::virtual_stages, between(1, 10'000)).settled([](Strategy& strategy) {
          const Schedule& schedule = *strategy.schedule;
          if (!schedule.interleaves()) strategy.virtual_stages = schedule.chunks;
        }),
        R"(Model chunks of a stage. More than 1 interleaves: smaller bubbles, more transfers.
see: Narayanan et al. 2021 (arXiv:2104.04473), 2.2)"},
       {"layers_per_stage",
        wholes(&Strategy::layers_per_stage, between(0, kMostLayers))
            .where([](const Strategy& strategy) { return !strategy.layers_per_stage.empty(); }),
        R"(Layers of every chunk, in the order of the model: of every stage or, with virtual_stages, of every
stage's first chunk, then of its second.
default: as layer_placement says)"},
       {"layer_placement", word(&Strategy::layer_placement).where([](const Strategy& strategy) {
          return strategy.layers_per_stage.empty();
        }),
        R"(Where layers stand when they do not divide by the stages. Evenly, the first stages taking the rest;
or as Megatron does it, embedding, loss and multi-token prediction layers counting as a layer each;
or ceil((layers + 2) / chunks) everywhere but on the last, as it lays out DeepSeek-V3.)"},
       {"expert_parallel", whole(&Strategy::expert_parallel, kDegree),
        R"(Accelerators that share out the experts of a layer. They send tokens to each other, to the experts
and back. They are the tensor-, context- and data-parallel ranks of a stage, in that order.
see: model.mixture_of_experts; breakdown_s.expert_parallel; Liu et al. 2025 (arXiv:2504.14960))"},
       {"expert_tensor_parallel", whole(&Strategy::expert_tensor_parallel, kDegree),
        "Accelerators that split the matrices of each expert."},
       {"expert_dispatch", word(&Strategy::expert_dispatch).presettable(),
        R"(How tokens cross the fabric: a copy for every expert they go to, or one for every scale-up domain
(DeepEP, HybridEP).
see: DeepSeek-AI 2024 (arXiv:2412.19437), 3.2.2)"},
       {"overlap_expert_exchange", flag(&Strategy::overlap_expert_exchange).presettable(),
        R"(The exchange of tokens overlaps the compute of other micro-batches.
see: profile.experts.exchange_seen_overlapped)"},
       {"expert_capacity_factor",
        number(&Strategy::expert_capacity_factor, {.least = 0.0, .most = 1e6, .open = true})
            .where([](const Strategy& strategy) { return strategy.expert_capacity_factor > 0.0; }),
        R"(Tokens that an expert accepts, as a multiple of an even routing; the others are dropped.
see: Fedus et al. 2021 (arXiv:2101.03961), 2.2
default: no limit)"},
       {"expert_imbalance", number(&Strategy::expert_imbalance, at_least(1.0)),
        "Tokens of the busiest expert, as a multiple of an even routing. Its rank sets the pace."},
       {"micro_batch", whole(&Strategy::micro_batch, kSequences),
        "Sequences that go through a stage at once."},
       {"global_batch", whole(&Strategy::global_batch, kSequences).required(),
        "Sequences of a training step, over all replicas."},
       {"micro_batches_by_speed", flag(&Strategy::micro_batches_by_speed),
        R"(Replicas that stand on faster accelerators get more micro-batches, so that all end together; else
all get equally many.
see: cluster.topology.other_nodes; accelerator_kinds)"},
       {"sequence_length", whole(&Strategy::sequence_length, kTokens), R"(Tokens of a sequence.
see: model.sequence_length
default: the model's)"},
       {"sequence_parallel",
        flag(&Strategy::sequence_parallel).presettable().settled([](Strategy& strategy) {
          strategy.sequence_parallel &= strategy.tensor_parallel > 1;
        }),
        R"(Norms and residuals are split over the tensor-parallel ranks too. All-gathers and reduce-scatters
take the place of all-reduces; activations shrink.
see: Korthikanti et al. 2022 (arXiv:2205.05198))"},
       {"tensor_parallel_overlap", flag(&Strategy::tensor_parallel_overlap).presettable(),
        R"(Tensor-parallel collectives overlap the matrix products (Transformer Engine's userbuffers).
see: profile.overlap.tensor_parallel_overlapped)"},
       {"overlap_tensor_parallel_backward",
        flag(&Strategy::overlap_tensor_parallel_backward)
            .presettable()
            .settled([](Strategy& strategy) {
              strategy.overlap_tensor_parallel_backward &= !strategy.tensor_parallel_overlap &&
                                                           strategy.tensor_parallel > 1 &&
                                                           !strategy.schedule->splits_backward;
            }),
        R"(Tensor-parallel collectives of the backward pass run beside the products that do not wait for them
(Megatron-LM since 2022: all-reduces beside gradients of weights; with sequence_parallel,
all-gathers beside gradients of data and reduce-scatters beside those of weights).
see: Korthikanti et al. 2022 (arXiv:2205.05198), 6.2; profile.overlap.sharded_interference)"},
       {"quantised_tensor_gathers",
        flag(&Strategy::quantised_tensor_gathers)
            .presettable()
            .where(can_gather_quantised,
                   {"sequence_parallel",
                    "true, with tensor_parallel above 1, a precision below 16 bits that has no "
                    "scale for each row, and no adapters",
                    "no ranks gather what products take in fewer bits"}),
        R"(Sequence-parallel ranks quantise their part of a product's input before they gather it: 8 or 4 bits
an element. What is reduced keeps 16 bits, and so do inputs that adapters read as well, and rows with a
scale each.
see: Transformer Engine, layernorm_linear.py; torchao, float8_tensor_parallel.py
default: what the preset does; false where none is)"},
       {"attention", word(&Strategy::fused_attention, kAttentions).presettable(),
        R"(Whether the scores are kept in memory. Fused (flash) attention keeps none.
see: Dao 2023 (arXiv:2307.08691))"},
       {"fused_normalization", flag(&Strategy::fused_normalization).presettable(),
        R"(An RMS norm is one kernel that keeps its input only; a batch norm takes the rectifier and the
residual sum behind it along. Off, they are several.)"},
       {"fused_activation", flag(&Strategy::fused_activation).presettable(),
        "SwiGLU is one kernel that keeps its inputs only. Off, it is several that keep more."},
       {"vocabulary_parallel_loss", flag(&Strategy::vocabulary_parallel_loss).presettable(),
        R"(The loss is taken on each tensor-parallel rank's part of the logits. Off, every rank gathers all of
them and takes the whole loss.)"},
       {"fused_loss", flag(&Strategy::fused_loss).presettable(),
        R"(The loss is one kernel that keeps the 16-bit logits only. Off, it keeps their softmax in fp32, and a
copy in fp32 while it works.
see: memory only: its time is in the kernel family)"},
       {"memory", software_memory().presettable(),
        R"(What the software keeps in memory otherwise than most does.
see: memory_bytes
default: what the preset does)"},
       {"recompute", word(&Strategy::recompute).presettable(),
        R"(What the backward pass computes again instead of keeping it. Activation: the MLP's activation
function; selective: unfused attention; every second product: all but attention and half of the
products (PyTorch's selective checkpointing); modules: parts named in recompute_modules; full:
layers from their input.
see: Korthikanti et al. 2022 (arXiv:2205.05198), 5; strategy.recompute_layers; hfu)"},
       {"recompute_layers",
        whole(&Strategy::recompute_layers, between(1, kMostLayers))
            .presettable()
            .where(
                [](const Strategy& strategy) {
                  return strategy.recompute == Recompute::full && strategy.recompute_layers > 0;
                },
                {"recompute", "\"full\"", "no whole layers are recomputed"}),
        R"(How many layers are fully recomputed, the first ones of each chunk of a stage (Megatron-LM's block
method).
default: all layers)"},
       {"recompute_modules",
        words(&Strategy::recompute_modules)
            .presettable()
            .where(
                [](const Strategy& strategy) { return strategy.recompute == Recompute::modules; },
                {"recompute", "\"modules\"", "no modules are recomputed"}),
        R"(Parts of a layer, as Megatron-Core names them: core_attn, the attention core; layernorm, the outputs
of both norms; mlp, everything behind the second norm; mla_up_proj, the two up-projections of latent
attention; moe, all behind the second norm of a layer with experts; moe_act, the activation function
of routed experts; shared_experts, the MLP beside them.
limits: at least one, none twice
default: required with recompute "modules")"},
       {"offload_layers", whole(&Strategy::offload_layers, between(0, kMostLayers)).presettable(),
        R"(How many layers, the first ones of each chunk, keep their activations in host memory. They go there
while the next layers run and come back ahead of the backward pass; what that does not hide is seen.
limits: needs a profile with host_bandwidth_bytes_per_s
see: Megatron-Core's cpu_offloading_num_layers; profile.device.host_bandwidth_bytes_per_s)"},
       {"embedding_tables",
        part(&Strategy::tables, read_table_plan, table_plan_fields()).presettable(),
        R"(How data-parallel ranks share out the tables of a recommendation model, and update their rows.
see: model.table_rows
default: what the preset does; whole tables where none is)"},
       {"synchronisation",
        part(&Strategy::synchronisation, read_synchronisation, synchronisation_fields())
            .presettable(),
        synchronisation_notes()},
       {"compression",
        part(&Strategy::compression, read_compression, compression_fields()).presettable(),
        R"(How gradients are made smaller on their way between replicas.
limits: only where they are all-reduced
default: what the preset does; not at all where none is)"},
       {"zero_stage", whole(&Strategy::sharding, between(0, 3)).presettable(),
        R"(What data-parallel ranks keep a part of. 0 nothing, 1 the optimizer (ZeRO-1, Megatron's distributed
optimizer), 2 gradients as well, reduced every micro-batch (ZeRO-2), 3 parameters as well (ZeRO-3,
FSDP).
see: Rajbhandari et al. 2020 (arXiv:1910.02054))"},
       {"optimizer_shards",
        word(&Strategy::optimizer_shards)
            .presettable()
            .where(shares_optimizer_alone,
                   {"zero_stage", "1", "gradients or parameters are cut into slices as well"}),
        R"(What each of the ranks that share out the optimizer updates. An equal slice of everything: gradients
are reduced and scattered, parameters gathered. Or whole tensors, which leaves ranks without any where
there are more ranks than tensors: gradients are all-reduced, and each rank that has tensors broadcasts
them once they are updated, one broadcast behind the other. Updates and states count as shared out
evenly.
see: InternEvo's HybridZeroOptimizer, PyTorch's ZeroRedundancyOptimizer; strategy.shard_group
default: "slices")"},
       {"reshard_after_forward",
        flag(&Strategy::reshard_after_forward).presettable().where(is_fully_sharded, kFullSharding),
        R"(Layers give their gathered parameters up after the forward pass and gather them again for the
backward pass. Off (FSDP's SHARD_GRAD_OP), all of them stay in memory meanwhile.
see: Zhao et al. 2023 (arXiv:2304.11277), 3.3)"},
       {"per_parameter_sharding",
        flag(&Strategy::per_parameter_sharding)
            .presettable()
            .where(is_fully_sharded, kFullSharding),
        R"(Each parameter is a tensor of its own (PyTorch's fully_shard, FSDP2): copied out of what was
gathered, its gradient copied into what is reduced, while nothing computes. Off, parameters and
gradients are views of what is sent (FullyShardedDataParallel).
see: PyTorch's _fsdp_collectives.py: foreach_all_gather_copy_out, foreach_reduce_scatter_copy_in)"},
       {"shard_group",
        whole(&Strategy::shard_group, kDegree)
            .presettable()
            .where(has_shard_groups, kSharedStates)
            .settled([](Strategy& strategy) {
              if (is_fully_sharded(strategy)) strategy.shard_group = strategy.replicas();
            }),
        R"(Consecutive ranks that share out one copy. Fewer than all is hybrid sharding (HSDP): gathers stay in
the group, gradients are summed up between groups too, with zero_stage 1 by one all-reduce over all.
see: Zhao et al. 2023 (arXiv:2304.11277), 3.2.2
default: data_parallel x context_parallel)"},
       {"optimizer_offload", number(&Strategy::optimizer_offload, between(0.0, 1.0)).presettable(),
        R"(Share of the trained parameters whose optimizer states stand in host memory and which the host
updates: gradients go down, 16-bit parameters come back.
limits: needs a profile with host_bandwidth_bytes_per_s and host_memory_bandwidth_bytes_per_s
see: Ren et al. 2021 (arXiv:2101.06840), 3 to 5; Megatron-Core's optimizer_offload_fraction)"},
       {"overlap_optimizer_offload",
        flag(&Strategy::overlap_optimizer_offload)
            .presettable()
            .where([](const Strategy& strategy) { return strategy.optimizer_offload > 0.0; },
                   {"optimizer_offload", "above 0", "the accelerators update all parameters", "1"}),
        R"(Gradients on their way down, updates and parameters on their way back run side by side, so that the
slowest of them is seen; else one follows the other.
see: Ren et al. 2021 (arXiv:2101.06840), 5; Megatron-Core's overlap_cpu_optimizer_d2h_h2d)"},
       {"overlap_gradient_reduce", flag(&Strategy::overlap_gradient_reduce).presettable(),
        R"(Gradients are reduced while the backward pass still runs, bucket by bucket.
see: strategy.gradient_bucket; breakdown_s.data_parallel_exposed)"},
       {"overlap_parameter_gather",
        flag(&Strategy::overlap_parameter_gather).presettable().settled([](Strategy& strategy) {
          strategy.overlap_parameter_gather &= strategy.sharding != Sharding::none;
        }),
        R"(Parameters are gathered ahead of their use (ZeRO, FSDP). Fully sharded, this is of the backward pass
(PyTorch's BackwardPrefetch): forward the host is ahead of the device anyway.
see: Zhao et al. 2023 (arXiv:2304.11277), 3.3
default: true where parameters are gathered)"},
       {"gradient_bucket", quantity(&Strategy::gradient_bucket, at_least(0)).presettable(),
        "Least size of a bucket of gradients. 0 is one bucket a layer."},
       {"first_gradient_bucket",
        quantity(&Strategy::first_gradient_bucket, at_least(0)).presettable(),
        R"(Least size of the bucket that the backward pass fills first, so that its exchange begins early.
see: Li et al. 2020 (arXiv:2006.15704), 3.2.3: 1 MiB in PyTorch
default: strategy.gradient_bucket)"},
       {"gradient_cycle", quantity(&Strategy::gradient_cycle, at_least(0)).presettable(),
        R"(After so long a bucket leaves with what is ready, however small (Horovod's cycle time, beside its
fusion buffer as gradient_bucket). 0: it waits until it is full.
see: Sergeev and Del Balso 2018 (arXiv:1802.05799); strategy.gradient_bucket)"},
       {"reduce_each_tensor",
        flag(&Strategy::reduce_each_tensor).where([](const Strategy& strategy) {
          return strategy.reduce_each_tensor;
        }),
        R"(Every tensor of a layer is reduced by itself, a collective each behind the other: matrices, biases,
what norms have (Horovod without its fusion buffer).
limits: with gradient_bucket 0, zero_stage below 3 and no servers
see: Shi et al. 2020 (arXiv:2005.13247), 4: wait-free backpropagation
default: false)"},
       {"overlap_pipeline_transfers",
        flag(&Strategy::overlap_pipeline_transfers).presettable().settled([](Strategy& strategy) {
          strategy.overlap_pipeline_transfers &= strategy.virtual_stages > 1;
        }),
        R"(Sends and receives between stages do not hold up compute.
default: true with virtual stages)"},
       {"precision", number_format().presettable(),
        R"(Number format of the linear layers and, below 16 bits, how their inputs are scaled: "fp8" with the
scales of earlier steps. Attention, embedding and output head stay in 16 bits.
limits: one that the profile has a peak for, in a recipe it knows
see: profile.device.cast_bytes_per_element, profile.device.cast_bytes_by_recipe)"},
       {"gradient_precision", word(&Strategy::gradient_precision, kGradientFormats).presettable(),
        R"(Number format in which gradients are reduced, and kept where kept_gradient_precision says nothing
else.)"},
       {"kept_gradient_precision",
        word(&Strategy::kept_gradient_precision, kGradientFormats).presettable(),
        R"(Number format in which gradients are kept between micro-batches; sets memory only.
default: strategy.gradient_precision)"},
       {"cuda_graph", word(&Strategy::cuda_graph).presettable(),
        R"(What the host issues at once: kernel by kernel, the captured parts of a layer, or the whole
iteration.
limits: needs cuda_graphs in the profile
see: profile.cuda_graphs)"},
       {"collective_library", word(&Strategy::collective_library).presettable(),
        R"(Whose prices the exchanges of replicas and stages have: "profile" is what the profile measured or
knows of each scope, with which the published profiles were fitted; "nccl" is NCCL's own model of
ring, tree and NVLS by LL, LL128 and Simple.
limits: nccl only where a profile knows NCCL on the cluster's accelerators
see: headway collective --library)"},
       {"kernel_family", text(&Strategy::kernel_family).presettable(),
        R"(The body of software whose kernels are meant, as the profile names it.
limits: one that the profile has
see: profile.kernel_families)"},
       {"software_release", text(&Strategy::software_release).presettable(),
        R"(The release of that software, where the profile tells releases apart ("nemo-25.02").
limits: one that the profile's family has
see: profile.kernel_families.releases)"},
       {"attention_kernel", optional_text(&Strategy::attention_kernel).presettable(),
        R"(Which kernel fused attention runs: the "fastest" (cuDNN's on Hopper and Blackwell), or "flash-2".
limits: one that the profile has
see: profile.device.attention_kernels
default: that of the kernel family)"},
       {"task", word(&Strategy::task),
        R"(What is trained. Everything, on whole sequences; everything, on packed ones (supervised
fine-tuning); or low-rank adapters beside matrices that stay as they are.
see: strategy.packed_length, strategy.lora_rank, strategy.lora_targets)"},
       {"lora_rank",
        whole(&Strategy::lora_rank, between(1, 100'000)).where(trains_adapters, kAdapters),
        R"(Inner size of the adapters.
see: Hu et al. 2021 (arXiv:2106.09685), 4.1)"},
       {"lora_targets", words(&Strategy::lora_targets).where(trains_adapters, kAdapters),
        R"(The matrices of a layer with an adapter: qkv, projection, fc1, fc2.
limits: at least one, none twice
see: Hu et al. 2021 (arXiv:2106.09685), 7.1)"},
       {"packed_length",
        whole(&Strategy::packed_length, kTokens).presettable().settled(settle_packed_length),
        R"(Length of the document that a token stands in, on average over tokens, where documents are packed
into a sequence. Each attends to itself only.
see: strategy.sequence_length; Krell et al. 2021 (arXiv:2107.02027)
default: the sequence length; 0.4 of it where task is "sft" or "lora" and attention fused)"}});
  return kFields;
}

}  // namespace headway
