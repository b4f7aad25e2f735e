#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sim/costs/cost_fields.h"
#include "sim/costs/read_measurements.h"

namespace headway {
namespace {

FieldMember<DeviceCosts> curve(MeasuredCurve DeviceCosts::*member, std::string_view size) {
  return {.type = object_type(),
          .read = [=](ObjectReader& reader, std::string_view key, bool, DeviceCosts& device) {
            device.*member = read_curve(reader, key, size);
          }};
}

/// Estimates of recipes, by the word that strategy.precision has for them.
FieldMember<DeviceCosts> by_recipe(std::map<Scaling, Estimate> DeviceCosts::*member,
                                   const std::vector<Scaling>& recipes, const Range& range) {
  return {.type = object_type(),
          .read = [=](ObjectReader& holder, std::string_view key, bool, DeviceCosts& device) {
            const auto part = holder.part(key);
            if (!part) return;
            ObjectReader reader(*part, holder.diagnostics());
            for (const Scaling scaling : recipes) {
              const std::string_view name = word_of(scaling);
              if (!reader.has(name)) continue;
              (device.*member)[scaling] = read_estimate(reader, name, range);
            }
            finish_part(holder, key, reader);
          }};
}

FieldMember<DeviceCosts> attention_kernels() {
  return {.type = object_type(),
          .read = [](ObjectReader& holder, std::string_view key, bool, DeviceCosts& device) {
            if (!holder.part(key)) return;
            for (const auto& [name, member] : holder.members(key)) {
              ObjectReader reader(member, holder.diagnostics());
              if (name == kFastestAttention) {
                holder.report(key,
                              fmt::format("\"{}\" is the kernel of attention_efficiency", name), "",
                              "give this one another name");
              }
              attention_kernel_fields().read(reader, device.attention_kernels[name]);
              reader.report_unknown();
            }
          }};
}

FieldMember<DeviceCosts> multiprocessors() {
  return {.type = {"whole number", whole_type(at_least(1)).schema},
          .read = [](ObjectReader& reader, std::string_view key, bool, DeviceCosts& device) {
            const double count = read_estimate(reader, key, between(1.0, 1 << 20)).value;
            if (std::floor(count) != count) {
              reader.report(key, fmt::format("\"{}\" must be a whole number", key),
                            fmt::format("{}", count));
            }
            device.multiprocessors = std::max(1, static_cast<int>(count));
          }};
}

}  // namespace

const FieldTable<AttentionKernel>& attention_kernel_fields() {
  static const FieldTable<AttentionKernel> kFields(
      {{"efficiency", estimate(&AttentionKernel::efficiency, kShareOfPeak),
        "Of the 16-bit peak, that it reaches on long sequences with heads of 128."},
       {"backward", estimate(&AttentionKernel::backward, positive()),
        "Efficiency of its backward pass relative to the forward pass."},
       {"sequence_half", estimate(&AttentionKernel::sequence_half, kNotNegative, "tokens"),
        "Sequence length at which it reaches half its rate."},
       {"head_exponent", estimate(&AttentionKernel::head_exponent, kNotNegative),
        "How fast it slows down with heads smaller than 128: min(1, d/128) to this power."}});
  return kFields;
}

// Formulas: kernel_cost.h.
const FieldTable<DeviceCosts>& device_fields() {
  static const FieldTable<DeviceCosts> kFields(
      {{"peak_flops_per_s",
        elsewhere<DeviceCosts>({"FLOP/s by precision", object_type().schema}).required(),
        R"(Dense peak of each precision that the device multiplies matrices in: fp32, tf32, fp16,
bf16, fp8, fp4.
limits: the same precisions as gemm_efficiency; one of 16 bits or more
see: mfu)"},
       {"memory_bytes", estimate(&DeviceCosts::memory_bytes, positive(), "bytes"),
        R"(Memory that a program can use.
see: memory_bytes.capacity)"},
       {"memory_bandwidth_bytes_per_s",
        estimate(&DeviceCosts::memory_bandwidth, positive(), "bytes/s"),
        "Peak bandwidth of device memory (HBM)."},
       {"multiprocessors", multiprocessors().required(),
        "Units that tiles of a matrix product are dealt out to."},
       {"rate_in_training",
        elsewhere<DeviceCosts>({"number by precision, above 0 to 2", object_type().schema}),
        R"(The rate of products in training over that of the benchmark: clocks fall with the power
that products draw, and other releases of the libraries are faster.
see: profile.kernels
default: required beside kernels)"},
       {"gemm_efficiency", elsewhere<DeviceCosts>({"share by precision", object_type().schema}),
        R"(Of the peak, that large matrix products reach. Sustained clocks included.
default: beside kernels what was measured, times rate_in_training; required without)"},
       {"gemm_cold_operands", known_estimate(&DeviceCosts::gemm_cold_operands, between(0, 2)),
        R"(Of the time that a product's traffic takes the memory, what it takes longer in training
than in a benchmark that repeats it on operands in the cache. Beside kernels.
see: profile.kernels)"},
       {"gradient_accumulation_bytes_per_weight",
        known_estimate(&DeviceCosts::gradient_accumulation_bytes, kNotNegative, "bytes"),
        R"(Memory traffic with which every micro-batch adds the gradient of a weight to the sum,
beyond the product's own result: 6 where a sum in fp32 is read and written.)"},
       {"gemm_inner_half", estimate(&DeviceCosts::gemm_inner_half, kNotNegative, "elements"),
        R"(Inner size of a product at which its start costs as much again as its work.
see: k0 in sim/costs/kernel_cost.h)"},
       {"gemm_quantisation", estimate(&DeviceCosts::gemm_quantisation, between(0, 1)),
        R"(Share of the wave and tile quantisation that is seen.
see: NVIDIA, "Matrix Multiplication Background")"},
       {"gemm_overhead_s", estimate(&DeviceCosts::gemm_overhead, kNotNegative, "seconds"),
        "Of a matrix product, beyond its work."},
       {"sustained_rate", known_estimate(&DeviceCosts::sustained_rate, kShareOfPeak),
        R"(Of the rate at which products of the gemm_table and attention of the attention_table were
measured, what a product keeps up when passes over memory take a quarter of the time, as in
training: predictions take them at that rate. The tables hold the times as measured, at the clock
between the waits of a calibration.
default: not measured)"},
       {"gemm_table", elsewhere<DeviceCosts>({"an object", object_type().schema}),
        R"(Matrix products as they were measured: precision, m, n, k, time_s, spread. They win over
the formula.
default: none measured)"},
       {"rate_by_recipe",
        by_recipe(&DeviceCosts::recipe_rate, {Scaling::rowwise, Scaling::blockwise, Scaling::mxfp8},
                  kShareOfPeak),
        R"(Of the rate of fp8 products with one scale a tensor, what those with the scales of another
recipe reach: fp8_rowwise, fp8_blockwise, mxfp8. Products of nvfp4 are those of fp4, which has no other
scales.
see: strategy.precision
default: the same rate)"},
       {"cast_bytes_per_element", estimate(&DeviceCosts::cast_bytes, kNotNegative, "bytes"),
        "Memory traffic of quantising an element to fp8 with delayed scaling."},
       {"cast_bytes_by_recipe",
        by_recipe(&DeviceCosts::recipe_cast_bytes,
                  {Scaling::current, Scaling::rowwise, Scaling::blockwise, Scaling::mxfp8,
                   Scaling::nvfp4},
                  kNotNegative),
        R"(The same of other recipes. A precision whose recipe is not there cannot be used.
see: strategy.precision
default: none known)"},
       {"attention_efficiency", estimate(&DeviceCosts::attention_efficiency, kShareOfPeak),
        "Of the 16-bit peak, that fused attention reaches on long sequences with heads of 128."},
       {"attention_backward", estimate(&DeviceCosts::attention_backward, positive()),
        "Efficiency of attention's backward pass relative to the forward pass."},
       {"attention_sequence_half",
        estimate(&DeviceCosts::attention_sequence_half, kNotNegative, "tokens"),
        "Sequence length at which attention reaches half its rate."},
       {"attention_head_exponent", estimate(&DeviceCosts::attention_head_exponent, kNotNegative),
        "How fast attention slows down with heads smaller than 128: min(1, d/128) to this power."},
       {"attention_context_factor", estimate(&DeviceCosts::attention_context_factor, positive()),
        "On attention's time where the sequence is spread over ranks."},
       {"attention_window_saving",
        known_estimate(&DeviceCosts::attention_window_saving, between(0, 1)),
        R"(Share of the operations hidden by a window that attention really saves.
see: model.sliding_window)"},
       {"attention_sink_factor", known_estimate(&DeviceCosts::attention_sink_factor, at_least(1)),
        R"(Time of attention with learned sinks, as a multiple of the same without.
see: model.attention_sinks)"},
       {"attention_kernels", attention_kernels(),
        R"(Kernels of attention that software runs instead of the device's fastest, which the numbers
before this are about, by name: flash-2.
see: profile.kernel_families.attention_kernel
default: none known: all software runs the fastest)"},
       {"attention_table", elsewhere<DeviceCosts>({"an object", object_type().schema}),
        R"(Passes of fused attention as they were measured: pass, sequences, length, query_heads,
key_heads, head_size, causal, time_s, spread. They win over the formula.
default: none measured)"},
       {"batched_gemm_efficiency", estimate(&DeviceCosts::batched_gemm_efficiency, kShareOfPeak),
        "Of gemm_efficiency, that the batched products of unfused attention reach."},
       {"batched_gemm_head_exponent",
        known_estimate(&DeviceCosts::batched_gemm_head_exponent, between(0, 2)),
        "How fast those slow down with heads smaller than 128: min(1, d/128) to this power."},
       {"misaligned_head_factor", estimate(&DeviceCosts::misaligned_head_factor, at_least(1)),
        "Slow-down of those where the head size is no multiple of 8."},
       {"unfused_forward_bytes_per_score",
        estimate(&DeviceCosts::unfused_forward_bytes, kNotNegative, "bytes"),
        "Memory traffic of softmax, mask and dropout for each attention score, forward."},
       {"unfused_backward_bytes_per_score",
        estimate(&DeviceCosts::unfused_backward_bytes, kNotNegative, "bytes"),
        "The same in the backward pass."},
       {"memory_efficiency", estimate(&DeviceCosts::memory_efficiency, kShareOfPeak),
        "Of memory_bandwidth, that streaming kernels reach."},
       {"copy_efficiency", known_estimate(&DeviceCosts::copy_efficiency, kShareOfPeak),
        R"(The same of copies and sums in a benchmark, for operators whose bytes are counted one by one
(those of images, and of listed layers).
default: memory_efficiency)"},
       {"gather_efficiency", known_estimate(&DeviceCosts::gather_efficiency, kShareOfPeak),
        R"(The same of kernels that look up rows of tables and update them.
default: memory_efficiency)"},
       {"memory_curve", curve(&DeviceCosts::memory_curve, "traffic_bytes"),
        R"(Streaming passes as they were measured: traffic_bytes, time_s.
default: none measured)"},
       {"host_bandwidth_bytes_per_s",
        known_estimate(&DeviceCosts::host_bandwidth, positive(), "bytes/s"),
        R"(To the host's memory and from it, each way: PCIe or a chip-to-chip link.
limits: needed by strategy.offload_layers and strategy.optimizer_offload
default: not known)"},
       {"host_memory_bandwidth_bytes_per_s",
        known_estimate(&DeviceCosts::host_memory_bandwidth, positive(), "bytes/s"),
        R"(What the host's update of parameters reaches of its memory bandwidth, an accelerator's
part.
limits: needed by strategy.optimizer_offload
default: not known)"},
       {"optimizer_bytes_per_parameter",
        estimate(&DeviceCosts::optimizer_bytes, positive(), "bytes"),
        "Memory traffic of the optimizer for each parameter it updates."},
       {"optimizer_curve", curve(&DeviceCosts::optimizer_curve, "weight_bytes"),
        R"(Updates of one tensor as they were measured: weight_bytes (in fp32), time_s. The steps of
validate --measured are predicted with it.
default: none measured)"}});
  return kFields;
}

}  // namespace headway
