#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/profile/kernel_cost.h"
#include "sim/profile/spread.h"

namespace headway {
namespace {

constexpr double kFullHeadSize = 128.0;
constexpr double kBackwardOperations = 2.5;  ///< five products where the forward pass has two

/// The precision that attention kernels work in: 16 bits, or what a device without has.
Precision attention_precision(const DeviceCosts& device) {
  for (const Precision precision :
       {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32}) {
    if (supports(device, precision)) return precision;
  }
  HEADWAY_CHECK(false, "a device without a precision for attention");
}

/// Queries and results of `query_length`, keys and values of `key_length`, each once; their
/// gradients as well in the backward pass.
Bytes fused_traffic(const AttentionShape& shape, Precision precision, Pass pass) {
  const double elements =
      shape.sequences * (shape.head_size + shape.value_size()) *
      (shape.query_length * shape.query_heads + shape.key_length * shape.key_heads);
  return Bytes(elements * bytes_per_element(precision) * (pass == Pass::backward ? 2.0 : 1.0));
}

}  // namespace

Cost fused_attention_cost(const DeviceCosts& device, const KernelFamily& family,
                          const AttentionShape& shape, Pass pass) {
  if (shape.forward_flops() == 0.0) return {};
  const Precision precision = attention_precision(device);
  const Estimate& peak = device.peak_flops.at(precision);
  const bool is_backward = pass == Pass::backward;
  const bool is_split = shape.key_length > shape.query_length;

  const double start_term = device.attention_sequence_half.value / shape.key_length;
  const double head_log = std::log(std::min(1.0, shape.head_size / kFullHeadSize));
  const double head_exponent = device.attention_head_exponent.value;
  const double rate = peak.value * device.attention_efficiency.value * family.attention_rate.value /
                      (1.0 + start_term) * std::exp(head_exponent * head_log);

  // What a window hides is computed in part: blocks stand over its edges, and short rows keep a
  // block busy for as long as full ones.
  const double share = shape.window_share();
  const double computed = 1.0 - device.attention_window_saving.value * (1.0 - share);
  const double work = shape.forward_flops() * (is_backward ? kBackwardOperations : 1.0);
  double time = work / share * computed / rate;
  if (is_backward) time /= device.attention_backward.value;
  if (is_split) time *= device.attention_context_factor.value;
  if (shape.sinks) time *= device.attention_sink_factor.value;

  const double spread = combined_spread(
      {peak.spread, device.attention_efficiency.spread, family.attention_rate.spread,
       spread_of_one_plus(start_term, device.attention_sequence_half.spread),
       head_exponent * head_log * device.attention_head_exponent.spread,
       is_backward ? device.attention_backward.spread : 0.0,
       is_split ? device.attention_context_factor.spread : 0.0,
       (1.0 - computed) / computed * device.attention_window_saving.spread,
       shape.sinks ? device.attention_sink_factor.spread : 0.0});
  const Seconds bound =
      roofline_bound(device, Flops(work), precision, fused_traffic(shape, precision, pass));
  return {.time = max(Seconds(time), bound), .status = CostStatus::interpolated, .spread = spread};
}

Cost unfused_attention_cost(const DeviceCosts& device, const AttentionShape& shape, Pass pass,
                            Precision precision) {
  HEADWAY_CHECK(supports(device, precision), "a precision that the device does not have");
  const double scores = shape.sequences * shape.query_heads * shape.query_length * shape.key_length;
  if (scores == 0.0) return {};
  const bool is_backward = pass == Pass::backward;
  const bool is_misaligned = std::fmod(shape.head_size, 8.0) != 0.0;
  const Estimate& peak = device.peak_flops.at(precision);
  const Estimate& efficiency = device.gemm_efficiency.at(precision);
  const Estimate& bytes =
      is_backward ? device.unfused_backward_bytes : device.unfused_forward_bytes;

  // A mask hides scores but saves no work: the products run over the whole square.
  const double work =
      2.0 * scores * (shape.head_size + shape.value_size()) * (is_backward ? 2.0 : 1.0);
  double products = work / (peak.value * efficiency.value * device.batched_gemm_efficiency.value);
  if (is_misaligned) products *= device.misaligned_head_factor.value;
  const double products_spread =
      combined_spread({peak.spread, efficiency.spread, device.batched_gemm_efficiency.spread,
                       is_misaligned ? device.misaligned_head_factor.spread : 0.0});

  const double traffic = scores * bytes.value;
  const double streaming =
      traffic / (device.memory_bandwidth.value * device.memory_efficiency.value);
  const double streaming_spread = combined_spread(
      {bytes.spread, device.memory_bandwidth.spread, device.memory_efficiency.spread});

  return {.time = Seconds(products + streaming),
          .status = CostStatus::interpolated,
          .spread = spread_of_sum(products, products_spread, streaming, streaming_spread)};
}

}  // namespace headway
