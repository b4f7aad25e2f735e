#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/costs/kernel_cost.h"
#include "sim/costs/spread.h"
#include "sim/costs/table_correction.h"

namespace headway {
namespace {

constexpr double kFullHeadSize = 128.0;
constexpr double kProductMean = 3.0;  ///< of head_product_time
constexpr double kWideBytes = 4.0;    ///< of an element too wide for kernels that merge softmax
constexpr double kAssumedRate = 0.5;  ///< spread of what nobody measured

double log_of_head(double size) { return std::log(std::min(1.0, size / kFullHeadSize)); }

/// Queries and results of `query_length`, keys and values of `key_length`, each once; their
/// gradients as well in the backward pass.
Bytes fused_traffic(const AttentionShape& shape, Precision precision, Pass pass) {
  const double elements =
      shape.sequences * (shape.head_size + shape.value_size()) *
      (shape.query_length * shape.query_heads + shape.key_length * shape.key_heads);
  return Bytes(elements * bytes_per_element(precision) * (pass == Pass::backward ? 2.0 : 1.0));
}

Precision precision_of(const DeviceCosts& device) {
  const auto precision = attention_precision(device);
  HEADWAY_CHECK(precision.has_value(), "a device without a precision for attention");
  return *precision;
}

/// Constants of a kernel.
struct KernelConstants {
  const Estimate& efficiency;
  const Estimate& backward;
  const Estimate& sequence_half;
  const Estimate& head_exponent;
};

KernelConstants constants_of(const AttentionKernel& kernel) {
  return {kernel.efficiency, kernel.backward, kernel.sequence_half, kernel.head_exponent};
}

KernelConstants fastest_kernel(const DeviceCosts& device) {
  return {device.attention_efficiency, device.attention_backward, device.attention_sequence_half,
          device.attention_head_exponent};
}

KernelConstants slowest_kernel(const DeviceCosts& device) {
  const AttentionKernel* slowest = nullptr;
  for (const auto& [unused, kernel] : device.attention_kernels) {
    if (slowest == nullptr || kernel.efficiency.value < slowest->efficiency.value) {
      slowest = &kernel;
    }
  }
  return slowest == nullptr ? fastest_kernel(device) : constants_of(*slowest);
}

KernelConstants kernel_of(const DeviceCosts& device, const KernelFamily& family) {
  const auto other = device.attention_kernels.find(family.attention_kernel);
  return other == device.attention_kernels.end() ? fastest_kernel(device)
                                                 : constants_of(other->second);
}

/// The formula alone, a roofline not yet held against it.
Cost formula_cost(const DeviceCosts& device, const KernelFamily& family,
                  const AttentionShape& shape, Pass pass) {
  const KernelConstants kernel = kernel_of(device, family);
  const Estimate& peak = device.peak_flops.at(precision_of(device));
  const bool is_backward = pass == Pass::backward;
  const bool is_split = shape.key_length > shape.query_length;

  const double start_term = kernel.sequence_half.value / shape.key_length;
  const double head_log = log_of_head(shape.head_size);
  const double head_exponent = kernel.head_exponent.value;
  const double rate = peak.value * kernel.efficiency.value * family.attention_rate.value /
                      (1.0 + start_term) * std::exp(head_exponent * head_log);

  // What a window hides is computed in part: blocks stand over its edges, and short rows keep a
  // block busy for as long as full ones.
  const double share = shape.window_share();
  const double computed = 1.0 - device.attention_window_saving.value * (1.0 - share);
  const double work = shape.forward_flops() * fused_operations(pass);
  double time = work / share * computed / rate;
  if (is_backward) time /= kernel.backward.value;
  if (is_split) time *= device.attention_context_factor.value;
  if (shape.sinks) time *= device.attention_sink_factor.value;

  const double spread =
      combined_spread({peak.spread, kernel.efficiency.spread, family.attention_rate.spread,
                       spread_of_one_plus(start_term, kernel.sequence_half.spread),
                       head_exponent * head_log * kernel.head_exponent.spread,
                       is_backward ? kernel.backward.spread : 0.0,
                       is_split ? device.attention_context_factor.spread : 0.0,
                       (1.0 - computed) / computed * device.attention_window_saving.spread,
                       shape.sinks ? device.attention_sink_factor.spread : 0.0});
  return {.time = Seconds(time), .status = CostStatus::interpolated, .spread = spread};
}

/// How many heads there are, how long and wide they are, and how many share their keys.
LogSizes log_sizes(const AttentionShape& shape) {
  return {std::log(shape.sequences * shape.query_heads), std::log(shape.query_length),
          std::log(shape.key_length), std::log(shape.head_size),
          std::log(shape.query_heads / shape.key_heads)};
}

/// A rank to whom less than one head of keys falls has a copy of a whole one.
AttentionShape with_whole_key_heads(AttentionShape shape) {
  shape.key_heads = std::max(1.0, shape.key_heads);
  return shape;
}

/// What passes between the products move of a score. Kernels that merge mask and softmax take
/// numbers of two bytes only (Megatron-LM, fused_softmax.py, is_kernel_available); for those of
/// four each step is one of PyTorch's. Forward, the mask is filled in in place and the softmax
/// taken, each read and written: 4 numbers. Backward, the softmax reads its result and a gradient
/// and writes one: 3. What was filled in in place is a view of the product, so that autograd copies
/// the product's gradient, copies the view's part of that, fills a copy of it, and copies it back
/// (csrc/autograd/functions/tensor.cpp, CopySlices; masked_fill): 5 times read and written.
/// Dropout reads and writes a number, and its mask of a byte.
Estimate bytes_of_a_score(const DeviceCosts& device, const KernelFamily& family,
                          const AttentionWork& attention, Pass pass, Precision precision) {
  const bool is_backward = pass == Pass::backward;
  Estimate bytes = is_backward
                       ? family.unfused_backward_bytes.value_or(device.unfused_backward_bytes)
                       : family.unfused_forward_bytes.value_or(device.unfused_forward_bytes);
  if (bytes_per_element(precision) < kWideBytes) return bytes;
  constexpr double kForward = 4.0;
  constexpr double kBackward = 3.0 + 5.0 * 2.0;
  constexpr double kDropout = 2.0 * kWideBytes + 1.0;
  bytes.value = (is_backward ? kBackward : kForward) * kWideBytes;
  if (attention.dropout) bytes.value += kDropout;
  return bytes;
}

/// What the products move, one after the other: forward each all scores and two of queries, keys,
/// values and results; backward twice as many products do.
Bytes product_bytes(const AttentionShape& shape, Pass pass, Precision precision) {
  const double scores = shape.query_length * shape.key_length;
  const double operands =
      (shape.query_length + shape.key_length) * (shape.head_size + shape.value_size());
  return Bytes(shape.sequences * shape.query_heads * (2.0 * scores + operands) *
               bytes_per_element(precision) * (pass == Pass::backward ? 2.0 : 1.0));
}

/// The measured time of a family with a rate of 1.
const MeasuredAttention* measured_row(const DeviceCosts& device, const AttentionShape& shape,
                                      Pass pass) {
  for (const MeasuredAttention& measured : device.attention_table) {
    if (measured.pass == pass && measured.shape == shape) return &measured;
  }
  return nullptr;
}

/// How the measured shapes of the same pass, as causal as `shape`, differ from the formula.
std::vector<MeasuredFactor> factors_like(const DeviceCosts& device, const AttentionShape& shape,
                                         Pass pass) {
  KernelFamily reference;
  reference.attention_rate.value = 1.0;
  std::vector<MeasuredFactor> factors;
  for (const MeasuredAttention& measured : device.attention_table) {
    if (measured.pass != pass || measured.shape.causal != shape.causal) continue;
    const Seconds formula = formula_cost(device, reference, measured.shape, pass).time;
    factors.push_back(
        {log_sizes(measured.shape), std::log(measured.time / formula), measured.spread});
  }
  return factors;
}

Cost unbounded_cost(const DeviceCosts& device, const KernelFamily& family,
                    const AttentionShape& shape, Pass pass) {
  // What was measured is the fastest.
  if (device.attention_kernels.contains(family.attention_kernel)) {
    return formula_cost(device, family, shape, pass);
  }
  const Estimate& rate = family.attention_rate;
  const AttentionShape held = with_whole_key_heads(shape);
  if (const MeasuredAttention* measured = measured_row(device, held, pass)) {
    const bool is_its_family = rate.value == 1.0;
    return {measured->time / rate.value,
            is_its_family ? CostStatus::exact : CostStatus::interpolated,
            is_its_family ? measured->spread : combined_spread({measured->spread, rate.spread})};
  }
  Cost cost = formula_cost(device, family, shape, pass);
  auto factors = factors_like(device, shape, pass);
  if (factors.empty()) return cost;
  if (const auto known = table_correction(log_sizes(held), std::move(factors))) {
    cost.time *= known->factor;
    // What windows, sinks, narrow values and other ranks' keys change only the formula knows.
    cost.spread = combined_spread({known->spread, shape.is_plain() ? rate.spread : cost.spread});
  } else {
    cost.status = CostStatus::extrapolated;
  }
  return cost;
}

}  // namespace

Cost fused_attention_cost(const DeviceCosts& device, const KernelFamily& family,
                          const AttentionShape& shape, Pass pass) {
  if (shape.forward_flops() == 0.0) return {};
  const Precision precision = precision_of(device);
  Cost cost = unbounded_cost(device, family, shape, pass);
  cost.time =
      max(cost.time, roofline_bound(device, Flops(fused_operations(pass) * shape.forward_flops()),
                                    precision, fused_traffic(shape, precision, pass)));
  return cost;
}

Cost activation_product_cost(const DeviceCosts& device, const KernelFamily& family, Flops work,
                             double inputs, Pass pass) {
  const Precision precision = precision_of(device);
  const KernelConstants kernel = slowest_kernel(device);
  const Estimate& peak = device.peak_flops.at(precision);
  const Estimate& exponent = kernel.head_exponent;
  const double head_log = log_of_head(inputs);
  const double rate = peak.value * kernel.efficiency.value * family.attention_rate.value *
                      std::exp(exponent.value * head_log) *
                      (pass == Pass::backward ? kernel.backward.value : 1.0);
  return {
      .time = max(work / FlopsPerSecond(rate), roofline_bound(device, work, precision, Bytes(0.0))),
      .status = CostStatus::interpolated,
      .spread =
          combined_spread({peak.spread, kernel.efficiency.spread, family.attention_rate.spread,
                           exponent.value * head_log * exponent.spread, kAssumedRate})};
}

Cost scan_cost(const DeviceCosts& device, Flops operations, Bytes traffic) {
  constexpr double kUnpaired = 0.5;
  const Precision precision =
      supports(device, Precision::fp32) ? Precision::fp32 : precision_of(device);
  const Estimate& peak = device.peak_flops.at(precision);
  const Cost moving = counted_pass_cost(device, traffic);
  const Seconds working = operations / FlopsPerSecond(kUnpaired * peak.value);
  return {.time = max(working, moving.time),
          .status = CostStatus::interpolated,
          .spread =
              combined_spread({working < moving.time ? moving.spread : peak.spread, kAssumedRate})};
}

Seconds head_product_time(Seconds multiplying, Seconds moving) {
  const double sum =
      std::pow(multiplying.count(), kProductMean) + std::pow(moving.count(), kProductMean);
  return Seconds(std::pow(sum, 1.0 / kProductMean));
}

std::optional<Seconds> multiplying_time(Seconds time, Seconds moving) {
  if (time <= moving) return std::nullopt;
  const double rest = std::pow(time.count(), kProductMean) - std::pow(moving.count(), kProductMean);
  return Seconds(std::pow(rest, 1.0 / kProductMean));
}

Cost unfused_attention_cost(const DeviceCosts& device, const KernelFamily& family,
                            const AttentionWork& attention, Pass pass, Precision precision) {
  const AttentionShape& shape = attention.shape;
  HEADWAY_CHECK(supports(device, precision), "a precision that the device does not have");
  const double scores = shape.sequences * shape.query_heads * shape.query_length * shape.key_length;
  if (scores == 0.0) return {};
  const bool is_backward = pass == Pass::backward;
  const bool is_misaligned = std::fmod(shape.head_size, 8.0) != 0.0;
  const Estimate& peak = device.peak_flops.at(precision);
  const Estimate& efficiency = device.gemm_efficiency.at(precision);
  const Estimate bytes = bytes_of_a_score(device, family, attention, pass, precision);

  // A mask hides scores but saves no work: the products run over the whole square.
  const double work =
      2.0 * scores * (shape.head_size + shape.value_size()) * (is_backward ? 2.0 : 1.0);
  const double memory_rate = device.memory_bandwidth.value * device.memory_efficiency.value;
  const Estimate& head_exponent = device.batched_gemm_head_exponent;
  const double head_log = std::log(std::min(1.0, shape.head_size / kFullHeadSize));
  double products = work / (peak.value * efficiency.value * device.batched_gemm_efficiency.value *
                            std::exp(head_exponent.value * head_log));
  if (is_misaligned) products *= device.misaligned_head_factor.value;
  const double copy_rate = device.memory_bandwidth.value *
                           device.copy_efficiency.value_or(device.memory_efficiency).value;
  const Bytes moved = product_bytes(shape, pass, precision);
  products = head_product_time(Seconds(products), Seconds(moved.count() / copy_rate)).count();
  const double products_spread =
      combined_spread({peak.spread, efficiency.spread, device.batched_gemm_efficiency.spread,
                       head_exponent.value * head_log * head_exponent.spread,
                       is_misaligned ? device.misaligned_head_factor.spread : 0.0});

  const double streaming = scores * bytes.value / memory_rate;
  const double streaming_spread = combined_spread(
      {bytes.spread, device.memory_bandwidth.spread, device.memory_efficiency.spread});

  return {.time = Seconds(products + streaming),
          .status = CostStatus::interpolated,
          .spread = spread_of_sum(products, products_spread, streaming, streaming_spread)};
}

}  // namespace headway
