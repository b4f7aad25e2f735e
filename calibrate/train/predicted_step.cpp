#include "calibrate/train/predicted_step.h"

#include <algorithm>
#include <vector>

#include "calibrate/measure/statistics.h"
#include "kernels/memory_kernel.h"
#include "sim/base/diagnostic.h"
#include "sim/profile/kernel_cost.h"

namespace headway {
namespace {

/// Seconds of each operation of a layer, undisturbed.
struct LayerCosts {
  double forward = 0.0;          ///< product and activation
  double weight_gradient = 0.0;  ///< activation's gradient and product
  double input_gradient = 0.0;
  double all_reduce = 0.0;
  double update = 0.0;
};

double product(const TrainingStep& step, const Profile& profile, const GemmShape& shape) {
  if (step.emulated_flops_per_s > 0.0) return shape.flops() / step.emulated_flops_per_s;
  return gemm_cost(profile.device, shape, Precision::fp32).time.count();
}

double pass(const TrainingStep& step, const Profile& profile, double bytes) {
  if (step.emulated_flops_per_s > 0.0) return 0.0;
  const KernelFamily& family = profile.kernel_families.begin()->second;
  return memory_pass_cost(profile.device, family, Bytes(bytes)).time.count();
}

double all_reduce(const Profile& profile, Bytes message, int ranks) {
  if (ranks < 2) return 0.0;
  for (const ScopeCosts* scope : {&profile.scale_up, &profile.scale_out}) {
    const auto cost =
        measured_collective_cost(scope->collectives, CollectiveKind::all_reduce, message, ranks);
    if (cost) return cost->time.count();
  }
  throw EnvironmentError("the profile holds no all-reduce of this size among so many ranks");
}

LayerCosts layer_costs(const TrainingStep& step, int ranks, const Profile& profile) {
  const double b = step.batch;
  const double d = step.width;
  const auto traffic = [b, d](MemoryKernel kernel) {
    return b * d * traffic_bytes_per_element(kernel, 4.0);
  };
  LayerCosts costs;
  costs.forward =
      product(step, profile, {b, d, d}) + pass(step, profile, traffic(MemoryKernel::gelu));
  costs.weight_gradient =
      product(step, profile, {d, d, b}) + pass(step, profile, traffic(MemoryKernel::gelu_backward));
  costs.input_gradient = product(step, profile, {b, d, d});
  costs.all_reduce = all_reduce(profile, Bytes(4.0 * d * d), ranks);
  // The profile's bytes of the optimizer already count what the family's factor stands for.
  const double family = profile.kernel_families.begin()->second.memory_traffic.value;
  costs.update = pass(step, profile, d * d * profile.device.optimizer_bytes.value / family);
  return costs;
}

double one_step(const TrainingStep& step, int ranks, const LayerCosts& costs, int index) {
  const auto layers = static_cast<std::size_t>(step.layers);
  std::vector<double> ready(layers, 0.0);  // when the last rank has the gradient of a layer
  double computed = 0.0;
  double slowest = 0.0;
  for (int rank = 0; rank < ranks; ++rank) {
    const double factor = compute_factor(step, rank, index);
    slowest = std::max(slowest, factor);
    double time = factor * costs.forward * step.layers;
    for (std::size_t layer = layers; layer-- > 0;) {
      time += factor * costs.weight_gradient;
      ready[layer] = std::max(ready[layer], time);
      if (layer > 0) time += factor * costs.input_gradient;
    }
    computed = std::max(computed, time);
  }
  double network = step.overlap ? 0.0 : computed;
  for (std::size_t layer = layers; layer-- > 0;) {
    network = std::max(network, ready[layer]) + costs.all_reduce;
  }
  return std::max(computed, network) + slowest * costs.update * step.layers;
}

}  // namespace

double predicted_step_time(const TrainingStep& step, int ranks, const Profile& profile) {
  const LayerCosts costs = layer_costs(step, ranks, profile);
  std::vector<double> times;
  for (int index = 0; index < step.steps; ++index) {
    times.push_back(one_step(step, ranks, costs, index));
  }
  return median(std::move(times));
}

}  // namespace headway
