#include "sim/reference/explain_tables.h"

namespace headway {
namespace {

// Formulas: sim/costs/kernel_cost.h.
constexpr TopicRow kRows[] = {
    {"profile.device", "an object", "required", "How compute kernels of the accelerator behave."},
    {"profile.device.peak_flops_per_s", "FLOP/s by precision", "required",
     "Dense peak of each precision that the device multiplies matrices in: fp32, tf32, fp16, bf16, "
     "fp8, fp4.",
     "the same precisions as gemm_efficiency; one of 16 bits or more", "mfu"},
    {"profile.device.memory_bytes", "bytes", "required", "Memory that a program can use.", "",
     "memory_bytes.capacity"},
    {"profile.device.memory_bandwidth_bytes_per_s", "bytes/s", "required",
     "Peak bandwidth of device memory."},
    {"profile.device.multiprocessors", "whole number", "required",
     "Units that tiles of a matrix product are dealt out to."},
    {"profile.device.gemm_efficiency", "share by precision", "required",
     "Of the peak, that large matrix products reach. Sustained clocks included."},
    {"profile.device.gemm_inner_half", "elements", "required",
     "Inner size of a product at which its start costs as much again as its work.", "",
     "k0 in sim/costs/kernel_cost.h"},
    {"profile.device.gemm_quantisation", "number, 0 to 1", "required",
     "Share of the wave and tile quantisation that is seen.", "",
     "NVIDIA, \"Matrix Multiplication Background\""},
    {"profile.device.gemm_overhead_s", "seconds", "required",
     "Of a matrix product, beyond its work."},
    {"profile.device.gemm_table", "an object", "none measured",
     "Matrix products as they were measured: precision, m, n, k, time_s, spread. They win over the "
     "formula."},
    {"profile.device.cast_bytes_per_element", "bytes", "required",
     "Memory traffic of quantising an element to fp8 with delayed scaling."},
    {"profile.device.cast_bytes_by_recipe", "an object", "none known",
     "The same of other recipes. A precision whose recipe is not there cannot be used.", "",
     "strategy.precision"},
    {"profile.device.cast_bytes_by_recipe.fp8_current", "bytes", "not known",
     "Quantising an element to fp8 with the scale of its own tensor."},
    {"profile.device.cast_bytes_by_recipe.fp8_rowwise", "bytes", "not known",
     "Quantising an element to fp8 with a scale for each row."},
    {"profile.device.cast_bytes_by_recipe.mxfp8", "bytes", "not known",
     "Quantising an element to fp8 with a scale for each block of 32."},
    {"profile.device.cast_bytes_by_recipe.nvfp4", "bytes", "not known",
     "Quantising an element to fp4 with a scale for each block of 16."},
    {"profile.device.attention_efficiency", "number, above 0 to 1", "required",
     "Of the 16-bit peak, that fused attention reaches on long sequences with heads of 128."},
    {"profile.device.attention_backward", "number above 0", "required",
     "Efficiency of attention's backward pass relative to the forward pass."},
    {"profile.device.attention_sequence_half", "tokens", "required",
     "Sequence length at which attention reaches half its rate."},
    {"profile.device.attention_head_exponent", "number from 0", "required",
     "How fast attention slows down with heads smaller than 128: min(1, d/128) to this power."},
    {"profile.device.attention_context_factor", "number above 0", "required",
     "On attention's time where the sequence is spread over ranks."},
    {"profile.device.attention_window_saving", "number, 0 to 1", "1",
     "Share of the operations hidden by a window that attention really saves.", "",
     "model.sliding_window"},
    {"profile.device.attention_sink_factor", "number, at least 1", "1",
     "Time of attention with learned sinks, as a multiple of the same without.", "",
     "model.attention_sinks"},
    {"profile.device.attention_table", "an object", "none measured",
     "Passes of fused attention as they were measured: pass, sequences, length, query_heads, "
     "key_heads, head_size, causal, time_s, spread. They win over the formula."},
    {"profile.device.batched_gemm_efficiency", "number, above 0 to 1", "required",
     "Of gemm_efficiency, that the batched products of unfused attention reach."},
    {"profile.device.misaligned_head_factor", "number from 1", "required",
     "Slow-down of those where the head size is no multiple of 8."},
    {"profile.device.unfused_forward_bytes_per_score", "bytes", "required",
     "Memory traffic of softmax, mask and dropout for each attention score, forward."},
    {"profile.device.unfused_backward_bytes_per_score", "bytes", "required",
     "The same in the backward pass."},
    {"profile.device.memory_efficiency", "number, above 0 to 1", "required",
     "Of memory_bandwidth, that streaming kernels reach."},
    {"profile.device.memory_curve", "an object", "none measured",
     "Streaming passes as they were measured: traffic_bytes, time_s."},
    {"profile.device.host_bandwidth_bytes_per_s", "bytes/s", "not known",
     "To the host's memory and from it, each way: PCIe or a chip-to-chip link.",
     "needed by strategy.offload_layers and strategy.optimizer_offload"},
    {"profile.device.host_memory_bandwidth_bytes_per_s", "bytes/s", "not known",
     "What the host's update of parameters reaches of its memory bandwidth, an accelerator's part.",
     "needed by strategy.optimizer_offload"},
    {"profile.device.optimizer_bytes_per_parameter", "bytes", "required",
     "Memory traffic of the optimizer for each parameter it updates."},
    {"profile.device.optimizer_curve", "an object", "none measured",
     "Updates of one tensor as they were measured: weight_bytes (in fp32), time_s. The steps of "
     "validate --measured are predicted with it."},
};

}  // namespace

std::span<const TopicRow> device_topics() { return kRows; }

}  // namespace headway
