#include "sim/reference/explain_tables.h"

namespace headway {
namespace {

constexpr TopicRow kRows[] = {
    {"strategy.schema", "\"headway/strategy/1\"", "required in a file, optional inside a scenario",
     "Says that a file is a strategy, and of which version."},
    {"strategy.preset", "the name of a preset", "\"none\"",
     "What the framework does where no field says otherwise. A preset only sets fields below; "
     "`headway check --resolve` writes them out.",
     "", "headway list presets"},
    {"strategy.tensor_parallel", "whole number, 1 to 1,000,000", "1",
     "Accelerators that split the matrices of each layer. They exchange activations twice a layer "
     "each way, so they belong inside a scale-up domain.",
     "divides the model's attention heads, hidden and ffn_hidden; divides kv_heads or is a "
     "multiple "
     "of them",
     "strategy.sequence_parallel; Shoeybi et al. 2019 (arXiv:1909.08053)"},
    {"strategy.context_parallel", "whole number, 1 to 1,000,000", "1",
     "Accelerators that split each sequence.",
     "twice it divides the sequence length (itself, with all_to_all)",
     "strategy.context_parallel_method; Grattafiori et al. 2024 (arXiv:2407.21783), 3.3.2"},
    {"strategy.context_parallel_method", R"("ring" or "all_to_all")", "\"ring\"",
     "How attention sees the whole sequence. Keys and values go round; or ranks swap their parts "
     "of "
     "the sequence for whole sequences of some heads, and back (Ulysses).",
     "all_to_all: tensor_parallel x context_parallel divides the query and the key-value heads, "
     "context_parallel the sequence length",
     "Liu et al. 2023 (arXiv:2310.01889); Jacobs et al. 2023 (arXiv:2309.14509), 3.1"},
    {"strategy.pipeline_parallel", "whole number, 1 to 1,000,000", "1",
     "Pipeline stages: each holds some of the layers.",
     "together with virtual_stages, no more chunks than layers",
     "strategy.virtual_stages, strategy.schedule; breakdown_s.pipeline_bubble"},
    {"strategy.data_parallel", "whole number, 1 to 1,000,000",
     "what the other degrees leave of the cluster",
     "Replicas of the model, each with its part of the batch.",
     "the four degrees multiply to the accelerators of the cluster", "strategy.zero_stage"},
    {"strategy.expert_parallel", "whole number, 1 to 1,000,000", "1",
     "Accelerators that share out the experts of a layer. They send tokens to each other, to the "
     "experts and back. They are the tensor-, context- and data-parallel ranks of a stage, in that "
     "order.",
     "divides the experts; with expert_tensor_parallel it divides the ranks of a stage",
     "model.mixture_of_experts; breakdown_s.expert_parallel; Liu et al. 2025 (arXiv:2504.14960)"},
    {"strategy.expert_tensor_parallel", "whole number, 1 to 1,000,000", "1",
     "Accelerators that split the matrices of each expert.", "divides expert_hidden"},
    {"strategy.virtual_stages", "whole number, 1 to 10,000", "1",
     "Model chunks of a stage. More than 1 interleaves: smaller bubbles, more transfers.",
     "micro-batches divide by pipeline_parallel; with 1f1b only (zb_v has 2)",
     "Narayanan et al. 2021 (arXiv:2104.04473), 2.2"},
    {"strategy.schedule", R"("1f1b", "gpipe", "zb_h1", "zb_v" or "dualpipe")", "\"1f1b\"",
     "The order in which a stage works off micro-batches. One forward, one backward holds fewer "
     "activations; GPipe runs all forward passes first. ZB-H1 and ZB-V split backward passes, so "
     "that gradients of weights fill the bubble; ZB-V's two chunks a stage go there and back. "
     "DualPipe has the model twice and is fed from both ends.",
     "zb_v: 2 pipeline_parallel - 1 micro-batches at least; dualpipe: even numbers of stages and "
     "of "
     "micro-batches, twice as many of these",
     "Narayanan et al. 2019 (PipeDream); Huang et al. 2019 (arXiv:1811.06965); Qi et al. 2023 "
     "(arXiv:2401.10241) and 2024 (arXiv:2405.15362); DeepSeek-V3, 2024 (arXiv:2412.19437), 3.2.1"},
    {"strategy.layer_placement", R"("even", "embedding_and_loss_as_layers" or "short_last_chunk")",
     "\"even\"",
     "Where layers stand when they do not divide by the stages. Evenly, the first stages taking "
     "the "
     "rest; or as Megatron does it, embedding, loss and multi-token prediction layers counting as "
     "a "
     "layer each; or ceil((layers + 2) / chunks) everywhere but on the last, as it lays out "
     "DeepSeek-V3."},
    {"strategy.layers_per_stage", "array of whole numbers", "as layer_placement says",
     "Layers of every chunk, in the order of the model: of every stage or, with virtual_stages, of "
     "every stage's first chunk, then of its second.",
     "as many as chunks; adds up to the model's layers; not together with layer_placement"},

    {"strategy.micro_batch", "whole number, 1 to 10,000,000", "1",
     "Sequences that go through a stage at once."},
    {"strategy.global_batch", "whole number, 1 to 10,000,000", "required",
     "Sequences of a training step, over all replicas.", "divides by micro_batch x data_parallel"},
    {"strategy.sequence_length", "whole number, 1 to 1,000,000,000", "the model's",
     "Tokens of a sequence.", "no more than the model's where positions are learned",
     "model.sequence_length"},
    {"strategy.packed_length", "whole number, 1 to 1,000,000,000",
     "the sequence length; 0.4 of it where task is \"sft\" or \"lora\" and attention fused",
     "Length of the document that a token stands in, on average over tokens, where documents are "
     "packed into a sequence. Each attends to itself only.",
     "at most sequence_length; less than it needs attention \"flash\"",
     "strategy.sequence_length; Krell et al. 2021 (arXiv:2107.02027)"},

    {"strategy.task", R"("pretrain", "sft" or "lora")", "\"pretrain\"",
     "What is trained. Everything, on whole sequences; everything, on packed ones (supervised "
     "fine-tuning); or low-rank adapters beside matrices that stay as they are.",
     "", "strategy.packed_length, strategy.lora_rank, strategy.lora_targets"},
    {"strategy.lora_rank", "whole number, 1 to 100,000", "8", "Inner size of the adapters.",
     "needs task \"lora\"", "Hu et al. 2021 (arXiv:2106.09685), 4.1"},
    {"strategy.lora_targets", "array of texts", R"(["qkv"])",
     "The matrices of a layer with an adapter: qkv, projection, fc1, fc2.",
     "at least one, none twice; needs task \"lora\"", "Hu et al. 2021 (arXiv:2106.09685), 7.1"},

    {"strategy.sequence_parallel", "true or false", "false",
     "Norms and residuals are split over the tensor-parallel ranks too. All-gathers and "
     "reduce-scatters take the place of all-reduces; activations shrink.",
     "tensor_parallel x context_parallel divides the sequence length",
     "Korthikanti et al. 2022 (arXiv:2205.05198)"},
    {"strategy.tensor_parallel_overlap", "true or false", "false",
     "Tensor-parallel collectives overlap the matrix products (Transformer Engine's userbuffers).",
     "needs sequence_parallel", "profile.overlap.tensor_parallel_overlapped"},
    {"strategy.overlap_tensor_parallel_backward", "true or false", "false",
     "Tensor-parallel collectives of the backward pass run beside the products that do not wait "
     "for "
     "them (Megatron-LM since 2022: all-reduces beside gradients of weights; with "
     "sequence_parallel, all-gathers beside gradients of data and reduce-scatters beside those of "
     "weights).",
     "needs tensor_parallel; not with tensor_parallel_overlap or a schedule that splits backward "
     "passes",
     "Korthikanti et al. 2022 (arXiv:2205.05198), 6.2; profile.overlap.sharded_interference"},
    {"strategy.attention", R"("flash" or "unfused")", "\"flash\"",
     "Whether the scores are kept in memory. Fused (flash) attention keeps none.", "",
     "Dao 2023 (arXiv:2307.08691)"},
    {"strategy.fused_normalization", "true or false", "true",
     "An RMS norm is one kernel that keeps its input only. Off, it is several that keep more."},
    {"strategy.fused_activation", "true or false", "true",
     "SwiGLU is one kernel that keeps its inputs only. Off, it is several that keep more."},
    {"strategy.vocabulary_parallel_loss", "true or false", "true",
     "The loss is taken on each tensor-parallel rank's part of the logits, not on all of them."},
    {"strategy.fused_loss", "true or false", "false",
     "The loss is one kernel that keeps the 16-bit logits only. Off, it keeps their softmax in "
     "fp32, and a copy in fp32 while it works.",
     "", "memory only: its time is in the kernel family"},
    {"strategy.recompute",
     R"("none", "activation", "selective", "every_second_product", "modules" or "full")",
     "\"none\"",
     "What the backward pass computes again instead of keeping it. Activation: the MLP's "
     "activation "
     "function; selective: unfused attention; every second product: all but attention and half of "
     "the products (PyTorch's selective checkpointing); modules: parts named in "
     "recompute_modules; full: layers from their input.",
     "", "Korthikanti et al. 2022 (arXiv:2205.05198), 5; strategy.recompute_layers; hfu"},
    {"strategy.recompute_layers", "whole number, 1 to 100,000", "all layers",
     "How many layers are fully recomputed, the first ones of each chunk of a stage (Megatron-LM's "
     "block method).",
     "needs recompute \"full\""},
    {"strategy.recompute_modules", "array of texts", "required with recompute \"modules\"",
     "Parts of a layer, as Megatron-Core names them: core_attn, the attention core; layernorm, the "
     "outputs of both norms; mlp, everything behind the second norm; mla_up_proj, the two "
     "up-projections of latent attention; moe, all behind the second norm of a layer with experts; "
     "moe_act, the activation function of routed experts; shared_experts, the MLP beside them.",
     "at least one, none twice; needs recompute \"modules\""},
    {"strategy.offload_layers", "whole number, 0 to 100,000", "0",
     "How many layers, the first ones of each chunk, keep their activations in host memory. They "
     "go "
     "there while the next layers run and come back ahead of the backward pass; what that does not "
     "hide is seen.",
     "needs recompute \"none\" and a profile with host_bandwidth_bytes_per_s",
     "Megatron-Core's cpu_offloading_num_layers; profile.device.host_bandwidth_bytes_per_s"},
    {"strategy.optimizer_offload", "number, 0 to 1", "0",
     "Share of the trained parameters whose optimizer states stand in host memory and which the "
     "host updates: gradients go down, 16-bit parameters come back.",
     "needs a profile with host_bandwidth_bytes_per_s and host_memory_bandwidth_bytes_per_s",
     "Ren et al. 2021 (arXiv:2101.06840), 3 to 5; Megatron-Core's optimizer_offload_fraction"},
    {"strategy.overlap_optimizer_offload", "true or false", "false",
     "Gradients on their way down, updates and parameters on their way back run side by side, so "
     "that the slowest of them is seen; else one follows the other.",
     "needs optimizer_offload above 0",
     "Ren et al. 2021 (arXiv:2101.06840), 5; Megatron-Core's overlap_cpu_optimizer_d2h_h2d"},
    {"strategy.zero_stage", "0 to 3", "0",
     "What data-parallel ranks keep a part of. 0 nothing, 1 the optimizer (ZeRO-1, Megatron's "
     "distributed optimizer), 2 gradients as well, reduced every micro-batch (ZeRO-2), 3 "
     "parameters "
     "as well (ZeRO-3, FSDP).",
     "2 does not go with a pipeline, 3 only where reshard_after_forward is false",
     "Rajbhandari et al. 2020 (arXiv:1910.02054)"},
    {"strategy.reshard_after_forward", "true or false", "true",
     "Layers give their gathered parameters up after the forward pass and gather them again for "
     "the backward pass. Off (FSDP's SHARD_GRAD_OP), all of them stay in memory meanwhile.",
     "needs zero_stage 3", "Zhao et al. 2023 (arXiv:2304.11277), 3.3"},
    {"strategy.shard_group", "whole number, 1 to 1,000,000", "data_parallel x context_parallel",
     "Consecutive ranks that share out one copy of the parameters. Fewer than all is hybrid "
     "sharding (HSDP): gathers stay inside the group, gradients are also summed up between groups.",
     "needs zero_stage 3; divides data_parallel x context_parallel, a multiple of the latter",
     "Zhao et al. 2023 (arXiv:2304.11277), 3.2.2"},
    {"strategy.overlap_gradient_reduce", "true or false", "true",
     "Gradients are reduced while the backward pass still runs, bucket by bucket.", "",
     "strategy.gradient_bucket; breakdown_s.data_parallel_exposed"},
    {"strategy.overlap_parameter_gather", "true or false", "true where parameters are gathered",
     "Parameters are gathered ahead of their use (ZeRO, FSDP).", "needs zero_stage 1, 2 or 3"},
    {"strategy.gradient_bucket", "text with a unit: size", "\"0 B\"",
     "Least size of a bucket of gradients. 0 is one bucket a layer."},
    {"strategy.overlap_pipeline_transfers", "true or false", "true with virtual stages",
     "Sends and receives between stages do not hold up compute."},
    {"strategy.expert_dispatch", R"("all_to_all" or "deduplicated")", "\"all_to_all\"",
     "How tokens cross the fabric: a copy for every expert they go to, or one for every scale-up "
     "domain (DeepEP, HybridEP).",
     "", "DeepSeek-AI 2024 (arXiv:2412.19437), 3.2.2"},
    {"strategy.overlap_expert_exchange", "true or false", "false",
     "The exchange of tokens overlaps the compute of other micro-batches.", "needs expert_parallel",
     "profile.experts.exchange_seen_overlapped"},
    {"strategy.expert_capacity_factor", "number above 0", "no limit",
     "Tokens that an expert accepts, as a multiple of an even routing; the others are dropped.", "",
     "Fedus et al. 2021 (arXiv:2101.03961), 2.2"},
    {"strategy.expert_imbalance", "number, at least 1", "1",
     "Tokens of the busiest expert, as a multiple of an even routing. Its rank sets the pace.",
     "at most experts / experts_per_token"},
    {"strategy.cuda_graph", R"("none", "layer" or "full")", "\"none\"",
     "What the host issues at once: kernel by kernel, the captured parts of a layer, or the whole "
     "iteration.",
     "needs cuda_graphs in the profile", "profile.cuda_graphs"},
    {"strategy.precision",
     R"("bf16", "fp16", "fp8", "fp8_current", "fp8_rowwise", "mxfp8", "nvfp4", "tf32" or "fp32")",
     "\"bf16\"",
     "Number format of the linear layers and, below 16 bits, how their inputs are scaled: \"fp8\" "
     "with the scales of earlier steps. Attention, embedding and output head stay in 16 bits.",
     "one that the profile has a peak for, in a recipe it knows",
     "profile.device.cast_bytes_per_element, profile.device.cast_bytes_by_recipe"},
    {"strategy.gradient_precision", R"("fp32", "bf16" or "fp16")", "\"fp32\"",
     "Number format in which gradients are reduced, and kept where kept_gradient_precision says "
     "nothing else."},
    {"strategy.kept_gradient_precision", R"("fp32", "bf16" or "fp16")",
     "strategy.gradient_precision",
     "Number format in which gradients are kept between micro-batches; sets memory only."},
    {"strategy.collective_library", R"("profile" or "nccl")", "\"profile\"",
     "Whose prices the exchanges of replicas and stages have: \"profile\" is what the profile "
     "measured or knows of each scope, with which the published profiles were fitted; \"nccl\" is "
     "NCCL's own model of ring, tree and NVLS by LL, LL128 and Simple.",
     "nccl only where a profile knows NCCL on the cluster's accelerators",
     "headway collective --library"},
    {"strategy.kernel_family", "text", "\"fused\"",
     "The body of software whose kernels are meant, as the profile names it.",
     "one that the profile has", "profile.kernel_families"},
    {"strategy.software_release", "text", "none",
     "The release of that software, where the profile tells releases apart (\"nemo-25.02\").",
     "one that the profile's family has", "profile.kernel_families.releases"},
};

}  // namespace

std::span<const TopicRow> strategy_topics() { return kRows; }

}  // namespace headway
