#include "sim/jobs/strategy_fields.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "sim/jobs/compression/read_compression.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/strategy_members.h"
#include "sim/jobs/synchronisation/read_synchronisation.h"

namespace headway {
namespace {

constexpr Word<Precision> kGradientFormats[] = {
    {"fp32", Precision::fp32}, {"bf16", Precision::bf16}, {"fp16", Precision::fp16}};
constexpr Word<Precision> kExpertFormats[] = {{"tf32", Precision::tf32}, {"fp32", Precision::fp32}};
constexpr Word<Precision> kAdapterFormats[] = {{"bf16", Precision::bf16},
                                               {"fp32", Precision::fp32}};

bool works_in_16_bits(const Strategy& strategy) {
  return bytes_per_element(strategy.precision) == 2.0;
}

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

bool shares_out_states(const Strategy& job) { return job.sharding != Sharding::none; }
bool is_fully_sharded(const Strategy& strategy) { return strategy.sharding == Sharding::full; }
bool shares_optimizer_alone(const Strategy& job) { return job.sharding == Sharding::optimizer; }
bool has_shard_groups(const Strategy& job) {
  return is_fully_sharded(job) || (job.sharding == Sharding::optimizer && job.shard_group > 0);
}

}  // namespace

std::vector<Field<Strategy>> update_fields() {
  return {
      {"synchronisation",
       part(&Strategy::synchronisation, read_synchronisation, synchronisation_fields())
           .presettable(),
       synchronisation_notes()},
      {"compression",
       part(&Strategy::compression, read_compression, compression_fields()).presettable(),
       R"(How gradients are made smaller on their way between replicas.
limits: only where they are all-reduced
default: what the preset does; not at all where none is)"},
      {"optimizer", update_rule().presettable(),
       R"(How parameters are updated: what is kept of each beside its weight in fp32, and what an update
moves. Muon makes the momentum of each matrix of a layer orthogonal, on each tensor-parallel rank that
of its own part: with optimizer_shards "tensors" where the matrix stands whole (Megatron-Core's
layer-wise optimizer), with slices after the ranks that share them have gathered it in 16 bits.
see: headway list optimizers; strategy.memory.optimizer_state_bytes;
profile.device.optimizer_bytes_per_parameter; Liu et al. 2025 (arXiv:2502.16982), 2.3)"},
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
      {"quantised_parameter_gathers",
       flag(&Strategy::quantised_parameter_gathers)
           .presettable()
           .where(can_gather_quantised_parameters,
                  {"zero_stage",
                   "1, 2 or 3, with a precision below 16 bits that has no scale for each row, and "
                   "no adapters",
                   "no parameters are gathered that products take in fewer bits"})
           .told_as(shares_out_states, {"zero_stage", "1, 2 or 3", "no parameters are gathered"})
           .told_as(has_quantised_inputs, kQuantisedInputs),
       R"(Ranks that share out states gather the parameters of layers as products take them, 8 or 4 bits
each, and quantise their own before; embedding and head stay in 16 bits.
see: Megatron-Core's --fp8-param-gather; torchao's enable_fsdp_float8_all_gather
default: what the preset does; false where none is)"},
      {"per_parameter_sharding",
       flag(&Strategy::per_parameter_sharding).presettable().where(is_fully_sharded, kFullSharding),
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
scales of earlier steps, "fp8_current" of the tensor, "fp8_rowwise" of a row, "fp8_blockwise" of 128
elements (DeepSeek-V3's), "mxfp8" of 32. Attention, embedding and output head stay in 16 bits.
limits: one that the profile has a peak for, in a recipe it knows
see: profile.device.cast_bytes_per_element, profile.device.cast_bytes_by_recipe)"},
      {"gradient_precision", word(&Strategy::gradient_precision, kGradientFormats).presettable(),
       R"(Number format in which gradients are reduced, and kept where kept_gradient_precision says nothing
else.)"},
      {"kept_gradient_precision",
       word(&Strategy::kept_gradient_precision, kGradientFormats).presettable(),
       R"(Number format in which gradients are kept between micro-batches; sets memory only.
default: strategy.gradient_precision)"},
      {"expert_precision",
       word(&Strategy::expert_precision, kExpertFormats)
           .presettable()
           .where(works_in_16_bits,
                  {"precision", "\"bf16\" or \"fp16\"", "other products are not in 16 bits"}),
       R"(Number format of experts' products where the others are in 16 bits: of operands in fp32, one matrix
after the other. So PyTorch has it where weights are in fp32, because autocast casts no grouped
products; in fp32 itself unless it is let to take tf32 (accelerate's --tf32). Without tf32 an
accelerator takes fp32. Sets time only.
default: strategy.precision, all experts' products in one kernel)"},
      {"image_kernels", word(&Strategy::image_kernels).presettable(),
       R"(Whose kernels normalise and pool images: cuDNN's, as fast as copies ("library"), or PyTorch's of
images whose channels come last ("framework"), whose batch norms reach half of that and whose pools
take each position that they see by itself.
see: tests/validation/README.md)"},
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
      {"lora_precision",
       word(&Strategy::lora_precision, kAdapterFormats)
           .presettable()
           .where(trains_adapters, kAdapters),
       R"(Number format that adapters are kept in. In fp32 beside matrices of 16 bits (peft) every matrix's
input is cast to it, and back by autocast: 12 bytes an element each way.
see: peft's autocast_adapter_dtype)"},
      {"lora_targets", words(&Strategy::lora_targets).where(trains_adapters, kAdapters),
       R"(The matrices of a layer with an adapter: qkv, projection, fc1, fc2.
limits: at least one, none twice
see: Hu et al. 2021 (arXiv:2106.09685), 7.1)"},
      {"packed_length",
       whole(&Strategy::packed_length, kTokens).presettable().settled(settle_packed_length),
       R"(Length of the document that a token stands in, on average over tokens, where documents are packed
into a sequence. Each attends to itself only.
see: strategy.sequence_length; Krell et al. 2021 (arXiv:2107.02027)
default: the sequence length; 0.4 of it where task is "sft" or "lora" and attention fused)"}};
}

const FieldTable<Strategy>& strategy_fields() {
  static const FieldTable<Strategy> kFields = [] {
    std::vector<Field<Strategy>> fields = layout_fields();
    for (auto* const others : {layer_fields, update_fields}) {
      std::ranges::move(others(), std::back_inserter(fields));
    }
    return FieldTable<Strategy>(std::move(fields));
  }();
  return kFields;
}

}  // namespace headway
