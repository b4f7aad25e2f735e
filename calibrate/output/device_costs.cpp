#include "calibrate/output/device_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "calibrate/output/attention_fit.h"
#include "calibrate/output/estimates.h"
#include "calibrate/output/fused_attention_fit.h"
#include "calibrate/output/gemm_fit.h"
#include "calibrate/output/memory_fit.h"
#include "calibrate/output/training_fit.h"
#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/layers/layer.h"

namespace headway {
namespace {

/// Kernels whose mean is what a profile calls memory traffic: those of a transformer layer.
const std::vector<MemoryKernel> kLayerKernels = {
    MemoryKernel::layer_norm,    MemoryKernel::rms_norm, MemoryKernel::softmax, MemoryKernel::gelu,
    MemoryKernel::gelu_backward, MemoryKernel::swiglu,   MemoryKernel::rotary};

double median_launch(const std::vector<MeasuredPoint>& points, bool in_graph, double& spread) {
  for (const MeasuredPoint& point : points) {
    const auto* launch = std::get_if<LaunchPoint>(&point.point);
    if (launch == nullptr || launch->in_graph != in_graph) continue;
    spread = point.measured.spread();
    return point.measured.time.count();
  }
  return 0.0;
}

void add_memory(DeviceFindings& found, const Calibration& calibration) {
  const Offer& offer = calibration.offer;
  DeviceCosts& costs = found.costs;
  costs.memory_curve = streaming_curve(calibration.points, offer.activation_bytes);
  if (costs.memory_curve.points.empty()) {
    // What a machine computes and what it moves stand within a factor of a few; a half is enough
    // doubt to be seen in every interval.
    const double per_flop = 0.1;
    const double most = costs.peak_flops.begin()->second.value * per_flop;
    costs.memory_bandwidth =
        assumed(most, 1.0, "a tenth of a byte for each operation; not measured");
    costs.memory_efficiency = assumed(0.7, 0.5, "not measured");
    return;
  }
  const StreamingRate rate = streaming_rate(costs.memory_curve);
  const double known = offer.memory_bytes_per_s;
  const double peak = std::max(known, rate.most_bytes_per_s);
  costs.memory_bandwidth =
      estimate(peak, peak == known ? 0.0 : costs.memory_curve.spread,
               peak == known ? offer.peak_source
                             : "measured: the fastest streaming pass, a cache's included");
  costs.memory_efficiency =
      estimate(rate.sustained_bytes_per_s / peak, rate.residual.median + costs.memory_curve.spread,
               "measured: rate of the largest streaming passes over the fastest");
  found.residuals.push_back("memory: " + error_text(rate.residual));
  if (rate.held_out) found.held_out.push_back("memory: " + error_text(*rate.held_out));
  found.ranges.push_back(fmt::format("passes {} to {}",
                                     short_text(costs.memory_curve.points.front().size),
                                     short_text(costs.memory_curve.points.back().size)));
}

/// The slower way of the largest copies to and from pinned memory.
void add_host_bandwidth(DeviceCosts& costs, const Calibration& calibration) {
  std::map<CopyKind, std::pair<double, double>> largest;  // bytes, and their rate
  double spread = 0.0;
  for (const MeasuredPoint& point : calibration.points) {
    const auto* copy = std::get_if<CopyPoint>(&point.point);
    if (copy == nullptr) continue;
    const auto bytes = static_cast<double>(copy->bytes);
    auto& [most, rate] = largest[copy->kind];
    if (bytes <= most) continue;
    most = bytes;
    rate = bytes / point.measured.time.count();
    spread = std::max(spread, point.measured.spread());
  }
  const auto in = largest.find(CopyKind::host_to_device);
  const auto out = largest.find(CopyKind::device_to_host);
  if (in == largest.end() || out == largest.end()) return;
  costs.host_bandwidth = estimate(std::min(in->second.second, out->second.second), spread,
                                  "measured: the largest copies from and to pinned memory");
}

/// Bytes an element that `kernel` moves at the sustained rate: its traffic times how much more than
/// a streaming pass it takes.
Estimate effective_bytes(const DeviceFindings& found, const Calibration& calibration,
                         MemoryKernel kernel, double fallback, const char* what) {
  const double activation = calibration.offer.activation_bytes;
  const auto ratio =
      traffic_ratio(calibration.points, found.costs.memory_curve, activation, {kernel});
  if (!ratio) return assumed(fallback, 0.3, fmt::format("{} was not measured", what));
  return estimate(ratio->value * traffic_bytes_per_element(kernel, activation), ratio->spread,
                  fmt::format("measured: {} against a streaming pass", what));
}

/// The optimizer updates millions of parameters at a time; what a short burst after a wait takes
/// says nothing about its traffic (optimizer_curve holds it).
Calibration with_large_updates(Calibration calibration) {
  constexpr std::size_t kLarge = 1U << 20U;
  std::erase_if(calibration.points, [](const MeasuredPoint& point) {
    const auto* memory = std::get_if<MemoryPoint>(&point.point);
    return memory != nullptr && memory->kernel == MemoryKernel::adam && memory->elements < kLarge;
  });
  return calibration;
}

/// Passes as long as those of a layer. What starts and ends a kernel is not the same in all, and
/// much of a short one: a device's times of short passes differ by 2 and more at the same traffic.
std::vector<MeasuredPoint> layer_passes(const Calibration& calibration) {
  constexpr std::size_t kLarge = 1U << 22U;
  std::vector<MeasuredPoint> passes = calibration.points;
  if (!calibration.offer.launches) return passes;  // a core runs them itself
  std::erase_if(passes, [](const MeasuredPoint& point) {
    const auto* const memory = std::get_if<MemoryPoint>(&point.point);
    return memory == nullptr || memory->elements < kLarge;
  });
  return passes;
}

/// Products so long that their clock fell are brought to that of the others, of which the profile's
/// sustained rate is then taken off: in training both have one clock.
void unthrottle(std::vector<MeasuredGemm>& table, const SustainedRun& run,
                const std::vector<MeasuredPoint>& points) {
  const double slower = run.alone() / run.lasting() / sustained_rate(run, points);
  for (MeasuredGemm& row : table) {
    if (row.time >= kThrottled) row.time = row.time / std::max(1.0, slower);
  }
}

void add_gemm(DeviceFindings& found, const Calibration& calibration) {
  const Offer& offer = calibration.offer;
  DeviceCosts& costs = found.costs;
  costs.gemm_table = gemm_table(calibration.points);
  if (calibration.sustained) {
    unthrottle(costs.gemm_table, *calibration.sustained, calibration.points);
  }
  if (costs.gemm_table.empty()) {
    throw EnvironmentError(
        "no matrix product was measured, and a profile cannot be made without one");
  }
  for (MeasuredGemm& row : costs.gemm_table) {
    row.time = Seconds(rounded(row.time.count()));
    row.spread = rounded(row.spread, 3);
  }
  costs.multiprocessors = offer.multiprocessors;
  const auto curve = streaming_curve(calibration.points, offer.activation_bytes);
  // Without a measured rate no product counts as bound by memory.
  const double memory_rate = curve.points.empty() ? 1e30 : streaming_rate(curve).most_bytes_per_s;
  const GemmFit fit = fitted_gemm(costs.gemm_table, offer.multiprocessors, memory_rate);
  for (const auto& [precision, rate] : fit.rate) {
    double most = rate;
    for (const MeasuredGemm& row : costs.gemm_table) {
      if (row.precision == precision) most = std::max(most, row.shape.flops() / row.time.count());
    }
    const auto known = offer.peak_flops.find(precision);
    const bool is_known = known != offer.peak_flops.end() && known->second >= most;
    // A measured product must not be faster than the peak, which estimate() rounds to six digits,
    // off by up to 5e-6.
    const double peak = is_known ? known->second : most * (1.0 + 1e-5);
    costs.peak_flops[precision] =
        estimate(peak, is_known ? 0.0 : 0.05,
                 is_known ? offer.peak_source : "measured: the fastest product");
    costs.gemm_efficiency[precision] =
        estimate(std::min(1.0, rate / peak), std::max(0.01, fit.residual.median),
                 "measured: fitted to the table of products");
  }
  const double doubt = std::max(0.05, fit.residual.median);
  const std::string source = "measured: fitted to the table of products";
  costs.gemm_inner_half = estimate(fit.inner_half, doubt, source);
  costs.gemm_quantisation = offer.multiprocessors > 1
                                ? estimate(fit.quantisation, doubt, source)
                                : estimate(0.0, 0.0, "derived: one core has no waves of tiles");
  costs.gemm_overhead = estimate(fit.overhead, doubt, source);
  found.residuals.push_back("gemm formula: " + error_text(fit.residual));
}

/// Numbers of GPUs, for what was not measured.
constexpr double kSequenceHalf = 200.0;
constexpr double kHeadExponent = 0.3;

/// Without a measurement fused attention's numbers lean on the products'.
void assume_fused_attention(DeviceCosts& costs) {
  const Estimate& gemm = costs.gemm_efficiency.begin()->second;
  costs.attention_efficiency =
      assumed(0.5 * gemm.value, 0.5, "half of the measured efficiency of products");
  costs.attention_backward =
      assumed(0.8, 0.3, "backward attention reaches four fifths of the rate");
  costs.attention_sequence_half = assumed(kSequenceHalf, 0.5, "as on GPUs");
  costs.attention_head_exponent = assumed(kHeadExponent, 0.5, "as on GPUs");
}

void add_fused_attention(DeviceFindings& found, const Calibration& calibration) {
  DeviceCosts& costs = found.costs;
  assume_fused_attention(costs);
  const auto precision = attention_precision(costs);
  if (!precision) return;
  costs.attention_table = attention_table(calibration.points);
  const auto fit = fitted_attention(costs.attention_table, kSequenceHalf, kHeadExponent);
  if (!fit) return;
  double& peak = costs.peak_flops.at(*precision).value;
  const double peak_of_products = peak;
  for (const MeasuredAttention& row : costs.attention_table) {
    // As with products: nothing measured is above the peak.
    const double operations = fused_operations(row.pass) * row.shape.forward_flops();
    peak = std::max(peak, rounded(operations / row.time.count() * (1.0 + 1e-5)));
  }
  double& of_products = costs.gemm_efficiency.at(*precision).value;
  of_products = rounded(of_products * peak_of_products / peak);
  const std::string source = "measured: fitted to the table of attention";
  const double doubt = std::max(0.02, fit->residual.median);
  costs.attention_efficiency = estimate(std::min(1.0, fit->rate / peak), doubt, source);
  if (fit->backward) costs.attention_backward = estimate(*fit->backward, doubt, source);
  if (fit->sequence_half) {
    costs.attention_sequence_half = estimate(*fit->sequence_half, std::max(0.1, doubt), source);
  }
  if (fit->head_exponent) {
    costs.attention_head_exponent = estimate(*fit->head_exponent, std::max(0.1, doubt), source);
  }
  found.residuals.push_back("attention formula: " + error_text(fit->residual));
  if (const auto error = held_out_attention_error(costs)) {
    found.held_out.push_back("attention: " + error_text(*error));
  }
  const auto [least, most] = std::minmax_element(
      costs.attention_table.begin(), costs.attention_table.end(),
      [](const auto& a, const auto& b) { return a.shape.key_length < b.shape.key_length; });
  found.ranges.push_back(fmt::format("attention over {} to {} positions", least->shape.key_length,
                                     most->shape.key_length));
}

void add_attention(DeviceFindings& found, const Calibration& calibration) {
  DeviceCosts& costs = found.costs;
  const double activation_bytes = calibration.offer.activation_bytes;
  add_fused_attention(found, calibration);
  costs.attention_context_factor = assumed(1.0, 0.2, "as without context parallelism");
  const std::string of_heads = "measured: products of heads at once against large ones";
  const auto batched = fitted_batched(calibration.points, costs);
  costs.batched_gemm_efficiency =
      batched ? estimate(std::min(1.0, batched->largest.value), batched->largest.spread, of_heads)
              : assumed(0.5, 0.5, "half of what large products reach");
  if (batched && batched->head_exponent) {
    costs.batched_gemm_head_exponent =
        estimate(std::clamp(*batched->head_exponent, 0.0, 2.0), 0.2, of_heads);
  }
  costs.misaligned_head_factor = assumed(2.0, 0.5, "as on GPUs");
  // Softmax reads and writes scores, dropout too and writes its mask; backward, dropout reads both,
  // softmax its result and a gradient, and each writes a gradient: 9 and 11 bytes of 2-byte scores.
  costs.unfused_forward_bytes = assumed(4.5 * activation_bytes, 0.4, "traffic a score, unfused");
  costs.unfused_backward_bytes = assumed(5.5 * activation_bytes, 0.4, "traffic a score, unfused");
}

void add_family(DeviceFindings& found, const Calibration& calibration) {
  KernelFamily& family = found.family;
  const auto ratio = traffic_ratio(layer_passes(calibration), found.costs.memory_curve,
                                   calibration.offer.activation_bytes, kLayerKernels);
  family.memory_traffic =
      ratio ? estimate(ratio->value, ratio->spread,
                       "measured: norms, softmax, activations and rotary against a streaming pass")
            : assumed(1.0, 0.3, "layer kernels were not measured");
  const Estimate loss =
      effective_bytes(found, calibration, MemoryKernel::vocabulary_loss, 0.0, "the loss");
  if (loss.value > 0.0) {
    family.loss_traffic = estimate(
        loss.value / (kCrossEntropyForward + kCrossEntropyBackward), loss.spread,
        fmt::format(
            "measured: loss and gradient of {} words in one kernel against a streaming pass",
            kVocabularyRow));
  }
  family.attention_rate = estimate(1.0, 0.0, "reference: attention_efficiency is this family's");
  double spread = 0.0;
  if (!calibration.offer.launches) {
    const std::string source = "derived: the core runs its kernels itself, nothing is launched";
    family.launch_gap = family.host_per_layer = family.step_overhead = estimate(0.0, 0.0, source);
    return;
  }
  const double gap = median_launch(calibration.points, true, spread);
  family.launch_gap = gap > 0.0 ? estimate(gap, spread, "measured: between two kernels of a graph")
                                : assumed(1.5e-6, 0.5, "launches were not measured");
  const double host = median_launch(calibration.points, false, spread);
  // A transformer layer's forward pass is about a dozen kernels (norm, four projections with their
  // element-wise neighbours, attention, two residuals).
  family.host_per_layer =
      host > 0.0 ? estimate(12.0 * host, 0.5, "derived: 12 measured launches from the host")
                 : assumed(5e-5, 0.5, "launches were not measured");
  family.step_overhead = assumed(1e-3, 1.0, "data loading and optimizer's host work; not measured");
}

void add_training(DeviceFindings& found, const Calibration& calibration) {
  DeviceCosts& costs = found.costs;
  if (const auto rate = block_scaled_rate(calibration.points)) {
    costs.recipe_rate[Scaling::mxfp8] =
        estimate(std::min(1.0, rate->value), std::max(0.01, rate->spread),
                 "measured: products with a scale for each 32 against one for the tensor");
  }
  const double streaming = costs.memory_bandwidth.value * costs.memory_efficiency.value;
  if (const auto bytes = accumulation_bytes(calibration.points, streaming)) {
    costs.gradient_accumulation_bytes =
        estimate(bytes->value, bytes->spread,
                 "measured: gradients of weights that are added up in fp32 against plain ones");
  }
  const auto fit = fitted_experts(calibration.points, costs);
  if (!fit) return;
  const std::string source = "measured: products of 8 and 64 experts in one call";
  found.experts.emplace();
  found.experts->grouped_efficiency =
      estimate(fit->efficiency, std::max(0.02, fit->residual.median), source);
  found.experts->grouped_half_rows =
      estimate(fit->half_rows, std::max(0.1, fit->residual.median), source);
  found.residuals.push_back("experts formula: " + error_text(fit->residual));
}

}  // namespace

DeviceFindings device_findings(const Calibration& calibration) {
  DeviceFindings found;
  add_gemm(found, calibration);
  add_memory(found, calibration);
  DeviceCosts& costs = found.costs;
  const Offer& offer = calibration.offer;
  add_host_bandwidth(costs, calibration);
  costs.memory_bytes = estimate(offer.memory_bytes, 0.02, "what the system reports");
  costs.optimizer_bytes = effective_bytes(found, with_large_updates(calibration),
                                          MemoryKernel::adam, 34.0, "a fused Adam step");
  costs.optimizer_curve = optimizer_curve(calibration.points);
  const bool casts = std::any_of(
      calibration.points.begin(), calibration.points.end(), [](const MeasuredPoint& point) {
        const auto* memory = std::get_if<MemoryPoint>(&point.point);
        return memory != nullptr && memory->kernel == MemoryKernel::cast_transpose;
      });
  costs.cast_bytes = casts ? effective_bytes(found, calibration, MemoryKernel::cast_transpose, 4.0,
                                             "casting to 8 bits with the transpose")
                           : effective_bytes(found, calibration, MemoryKernel::quantise, 4.0,
                                             "quantising to 8 bits");
  add_training(found, calibration);
  add_attention(found, calibration);
  add_family(found, calibration);
  if (const auto error = held_out_gemm_error(costs)) {
    found.held_out.push_back("gemm: " + error_text(*error));
  }
  GemmShape least = costs.gemm_table.front().shape;
  GemmShape most = least;
  for (const MeasuredGemm& row : costs.gemm_table) {
    least = {std::min(least.m, row.shape.m), std::min(least.n, row.shape.n),
             std::min(least.k, row.shape.k)};
    most = {std::max(most.m, row.shape.m), std::max(most.n, row.shape.n),
            std::max(most.k, row.shape.k)};
  }
  found.ranges.push_back(fmt::format("products m {} to {}, n {} to {}, k {} to {}", least.m, most.m,
                                     least.n, most.n, least.k, most.k));
  return found;
}

}  // namespace headway
