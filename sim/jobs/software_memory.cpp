#include "sim/jobs/software_memory.h"

#include "sim/jobs/part_fields.h"

namespace headway {

const FieldTable<SoftwareMemory>& software_memory_fields() {
  static const FieldTable<SoftwareMemory> kFields(
      {{"optimizer_state_bytes",
        number(&SoftwareMemory::optimizer_state_bytes, between(0.0, 100.0))
            .where([](const SoftwareMemory& memory) { return memory.says_optimizer_states(); }),
        R"(Bytes of optimizer states for each parameter, before sharding. Adam in fp32 takes 12 beside 16-bit
parameters and 8 beside fp32 ones; 10 where the master copy is the 16 bits that the parameter lacks
(Apex's distributed_fused_adam, store_param_remainders); 8 or 6 with moments in 16 bits beside it
(Megatron-Core's use_precision_aware_optimizer); 4 where Adam works on 16-bit parameters alone.
What a preset says is Adam's; of another optimizer that works on 16-bit parameters alone it is what
that keeps in 16 bits: 2 of one momentum, none of SGD; moments in eight bits stay so.
see: Rajbhandari et al. 2020 (arXiv:1910.02054), 3.1
default: 12, or 8 with parameters in fp32)"},
       {"quantised_weights", flag(&SoftwareMemory::quantised_weights),
        R"(The matrices of layers are kept in the format of their products only, not in 16 bits beside it
(Megatron-Core's fp8_param). MXFP8 and NVFP4 keep a copy for each direction of its blocks. Kernels
that cannot transpose (fp8 on Hopper) keep a second copy of what is trained, which is as much as 16
bits: leave it off there.
see: strategy.precision; https://docs.nvidia.com/megatron-core)"},
       {"quantised_copies", whole(&SoftwareMemory::quantised_copies, between(0.0, 2.0)),
        R"(Copies in the format of their products that stand beside the 16-bit matrices of layers, made once a
step and kept for all its micro-batches (Transformer Engine without fp8_param: one, and another one
transposed for kernels that cannot transpose, as fp8 on Hopper, or where blocks lie along either
side). None where parameters are kept or gathered in that format.
see: strategy.precision; strategy.quantised_parameter_gathers;
https://github.com/NVIDIA/TransformerEngine/issues/257)"},
       {"quantised_activation_input", flag(&SoftwareMemory::quantised_activation_input),
        R"(What the MLP's activation function takes is kept in the format of the products (Megatron-Core's
activation_func_fp8_input_store), not in 16 bits.)"},
       {"gathered_inputs", flag(&SoftwareMemory::gathered_inputs),
        R"(Inputs of matrices that tensor-parallel ranks split are kept as sequence-parallel ranks gathered
them, as linear layers of PyTorch do; off, each keeps its part and gathers them again.
see: strategy.sequence_parallel; Korthikanti et al. 2022 (arXiv:2205.05198), 4.2.2)"},
       {"copied_attention_output", flag(&SoftwareMemory::copied_attention_output),
        R"(Fused attention's output is kept twice: as its kernel left it, and put in another order for the
projection.)"},
       {"previous_logits", flag(&SoftwareMemory::previous_logits),
        R"(The pipeline's buffers still hold the logits of the micro-batch before when the loss is taken.)"},
       {"fused_softmax", flag(&SoftwareMemory::fused_softmax),
        R"(Unfused attention takes its softmax in one kernel, which keeps the result in 16 bits (Megatron-LM).
Off, several keep it in fp32 as well (PyTorch).
see: strategy.attention)"},
       {"wide_residuals", flag(&SoftwareMemory::wide_residuals),
        R"(What passes between layers is in fp32, and so are the inputs of norms that are kept (PyTorch's
autocast with weights in fp32, which leaves embeddings and sums with them in fp32).)"},
       {"communicators", whole(&SoftwareMemory::communicators, between(0.0, 100.0)),
        R"(Communicators beside one for each degree that splits the job, each with its buffers: software whose
parts make groups of their own over the same ranks has them twice. PyTorch makes one for every two
ranks that send to each other.)"},
       {"flattened_gradients", flag(&SoftwareMemory::flattened_gradients),
        R"(Gradients are copied behind one another to be reduced, on a single replica too (DeepSpeed without
ZeRO: buffered_allreduce_fallback).
see: strategy.gradient_bucket)"},
       {"standing_buckets", flag(&SoftwareMemory::standing_buckets),
        R"(The buckets in which replicas reduce gradients stand beside the gradients, all of them and all the
time (DistributedDataParallel, unless gradient_as_bucket_view is true). Off, one is on its way.
see: strategy.gradient_bucket;
https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)"},
       {"freed_gradients", flag(&SoftwareMemory::freed_gradients),
        R"(Gradients are let go after the update and come anew in the backward pass, layer by layer, as what
the forward pass kept goes (PyTorch's zero_grad, which sets them to none). Of a step of one
micro-batch on one pipeline stage both are never there at once.)"},
       {"offloaded_gradients", flag(&SoftwareMemory::offloaded_gradients),
        R"(Gradients of parameters that the host updates go to its memory as the backward pass makes them, a
bucket at a time (DeepSpeed's ZeRO-Offload from stage 2 on). Off, they stay on the accelerator until
the update (Megatron-Core).
see: strategy.optimizer_offload; strategy.gradient_bucket; Ren et al. 2021 (arXiv:2101.06840), 3.3)"},
       {"allocator_reserve", number(&SoftwareMemory::allocator_reserve, between(0.0, 1.0)),
        R"(What the allocator holds beyond what is in use, as a share of the memory that comes and goes in a
step (model states are allocated once). PyTorch's holds 15 % on average. With segments that expand
(PYTORCH_ALLOC_CONF=expandable_segments:True) or a static plan (XLA) next to nothing is lost: 0.05
leaves room for the workspaces of kernels.
see: Guo et al., ASPLOS 2024 (GMLake))"}});
  return kFields;
}

SoftwareMemory read_software_memory(ObjectReader& strategy, const SoftwareMemory& habits) {
  return read_part(strategy, "memory", software_memory_fields(), habits,
                   habits == SoftwareMemory{});
}

JsonValue written_software_memory(const SoftwareMemory& memory) {
  return memory == SoftwareMemory{} ? JsonValue() : software_memory_fields().written(memory);
}

}  // namespace headway
