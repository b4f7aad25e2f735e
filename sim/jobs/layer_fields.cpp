// What a layer computes, keeps and computes again.
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/strategy_fields.h"
#include "sim/jobs/strategy_members.h"
#include "sim/jobs/table_plan_fields.h"

namespace headway {
namespace {

constexpr Word<bool> kAttentions[] = {{"flash", true}, {"unfused", false}};

bool splits_sequences(const Strategy& strategy) {
  return strategy.sequence_parallel && strategy.tensor_parallel > 1;
}

bool hands_on_whole_sequences(const Strategy& strategy) {
  return strategy.pipeline_parallel > 1 && strategy.tensor_parallel > 1 &&
         !strategy.sequence_parallel;
}

}  // namespace

std::vector<Field<Strategy>> layer_fields() {
  return {
      {"sequence_parallel",
       flag(&Strategy::sequence_parallel).presettable().settled([](Strategy& strategy) {
         strategy.sequence_parallel &= strategy.tensor_parallel > 1;
       }),
       R"(Norms and residuals are split over the tensor-parallel ranks too. All-gathers and reduce-scatters
take the place of all-reduces; activations shrink.
see: Korthikanti et al. 2022 (arXiv:2205.05198))"},
      {"split_stage_transfers",
       flag(&Strategy::split_stage_transfers)
           .presettable()
           .where(hands_on_whole_sequences,
                  {"pipeline_parallel",
                   "above 1, with tensor_parallel above 1 and no sequence_parallel",
                   "no stage hands on what several ranks have"}),
       R"(Of activations that all tensor-parallel ranks have each sends its share to the next stage, which
gathers them (Megatron-LM until 2022, DeepSpeed). Off, each sends all of them (Megatron-Core). What the
gathering takes is not counted.
see: Narayanan et al. 2021 (arXiv:2104.04473), 4.1; DeepSpeed's pipe_partitioned)"},
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
                   "no ranks gather what products take in fewer bits"})
           .told_as(splits_sequences, {"sequence_parallel", "true, with tensor_parallel above 1",
                                       "no inputs are gathered"})
           .told_as(has_quantised_inputs, kQuantisedInputs),
       R"(Sequence-parallel ranks quantise their part of a product's input before they gather it: 8 or 4 bits
an element. What is reduced keeps 16 bits, and so do inputs that adapters read as well, and rows with a
scale each.
see: Transformer Engine, layernorm_linear.py; torchao, float8_tensor_parallel.py
default: what the preset does; false where none is)"},
      {"attention", word(&Strategy::fused_attention, kAttentions).presettable(),
       R"(Whether the scores are kept in memory. Fused (flash) attention keeps none.
see: Dao 2023 (arXiv:2307.08691)
default: what the preset does, "flash" where none is; "unfused" of a T5, whose scores have a bias that
FlashAttention does not add)"},
      {"fused_normalization", flag(&Strategy::fused_normalization).presettable(),
       R"(An RMS norm is one kernel that keeps its input only; a batch norm takes the rectifier and the
residual sum behind it along. Off, they are several.)"},
      {"fused_activation", flag(&Strategy::fused_activation).presettable(),
       "SwiGLU is one kernel that keeps its inputs only. Off, it is several that keep more."},
      {"fused_operators", flag(&Strategy::fused_operators).presettable(),
       R"(Norms, sums with residuals, rotary embeddings and activations of transformer layers are merged into
fewer kernels, how far says the kernel family (memory_traffic). Off, every operator is a kernel of
its own, and what all of them read and write is counted, casts to 16 bits and sums of gradients
included.
see: time only: what they keep is a matter of fused_normalization and fused_activation)"},
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
       R"(What the backward pass computes again instead of keeping it (activation checkpointing). Activation:
the MLP's activation function; selective: the core of attention, a fused kernel too, of which that
saves next to nothing; every second product: all but attention and half of the products (PyTorch's
selective checkpointing); modules: parts named in recompute_modules; full: layers from their input.
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
           .where([](const Strategy& strategy) { return strategy.recompute == Recompute::modules; },
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
default: what the preset does; whole tables where none is)"}};
}

}  // namespace headway
