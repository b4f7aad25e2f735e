#include "sim/programs/stage_costs/host_cost.h"

#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

/// Kernels of the layer that a family's time of the host stands for: a transformer's forward pass.
constexpr double kTypicalKernels = 14.0;
/// Issuing a collective takes the host this much of what a kernel does: layers of two
/// tensor-parallel ranks take 0.2 ms longer than those of one, for six collectives (vTrain,
/// data/ground_truth_single.csv, the shortest micro-batches).
constexpr double kCollectiveKernels = 0.5;
/// Of an adapter: two products and a sum.
constexpr double kAdapterKernels = 3.0;
/// Issuing a backward pass takes the host this much longer than the forward pass; fitted for both
/// kinds of layers.
constexpr double kBackwardHost = 1.5;
constexpr double kBackwardExpertHost = 1.2;
constexpr double kBackwardExpertGap = 1.5;

/// Power of the mean that stands for the longer of two times: where device and host take equally
/// long, a pass takes 9 % longer than either. Layers of vTrain's small jobs turn from one to the
/// other within a doubling of the micro-batch.
constexpr double kSharpness = 8.0;

/// What CUDA graphs leave of the gaps between kernels, of the host's time, and of both of experts.
/// Of a whole iteration the host launches one.
struct GraphShares {
  double gaps = 1.0;
  double host = 1.0;
  double experts = 1.0;
};
GraphShares graph_shares(const Strategy& strategy, const Profile& profile) {
  if (strategy.cuda_graph == CudaGraph::none) return {};
  HEADWAY_CHECK(profile.cuda_graphs.has_value(), "CUDA graphs are not in the profile");
  const GraphCosts& graphs = *profile.cuda_graphs;
  return {.gaps = graphs.launch_gap.value,
          .host = strategy.cuda_graph == CudaGraph::full ? 0.0 : graphs.host_layer.value,
          .experts = strategy.cuda_graph == CudaGraph::full ? graphs.expert_full.value
                                                            : graphs.expert_layer.value};
}

/// Collectives that a layer issues in its forward pass: a sum over ranks each, or a gathering and a
/// scattered sum.
double tensor_collectives(const Strategy& strategy, const Layer& layer) {
  if (strategy.tensor_parallel == 1) return 0.0;
  double collectives = 0.0;
  for (const TensorExchange& exchange : layer.exchanges) {
    collectives += (strategy.sequence_parallel ? 1.0 : 0.0) + (exchange.only_enters ? 0.0 : 1.0);
  }
  return collectives;
}

/// Kernels of the adapters beside a layer's matrices.
double adapter_kernels(const Strategy& strategy, const Layer& layer) {
  if (!trains_adapters(strategy)) return 0.0;
  return kAdapterKernels *
         static_cast<double>(adapted_products(layer, strategy.lora_targets).size());
}

}  // namespace

HostCosts host_costs(const Strategy& strategy, const Profile& profile, const KernelFamily& family,
                     const Layer& layer) {
  const GraphShares shares = graph_shares(strategy, profile);
  const Seconds gap(shares.gaps * family.launch_gap.value);
  HostCosts costs{.forward_gaps = layer.launches.forward * gap,
                  .backward_gaps = layer.launches.backward * gap};
  if (!layer.routing) {
    const double kernels =
        (layer.launches.forward + kCollectiveKernels * tensor_collectives(strategy, layer) +
         adapter_kernels(strategy, layer)) /
        kTypicalKernels;
    const double issued = strategy.fused_operators ? 1.0 : layer.separate_issue;
    costs.forward = issued * kernels * Seconds(shares.host * family.host_per_layer.value);
    costs.backward = kBackwardHost * costs.forward;
    return costs;
  }
  HEADWAY_CHECK(profile.experts.has_value(), "experts are not in the profile");
  const Seconds expert_gap(shares.experts * profile.experts->layer_gap.value);
  costs.forward_gaps += expert_gap;
  costs.backward_gaps += kBackwardExpertGap * expert_gap;
  costs.forward = Seconds(shares.experts * profile.experts->host_per_layer.value);
  costs.backward = kBackwardExpertHost * costs.forward;
  return costs;
}

Seconds host_excess(Seconds device, Seconds host) {
  if (device.count() <= 0.0) return host;
  const double ratio = host / device;
  return device * (std::pow(1.0 + std::pow(ratio, kSharpness), 1.0 / kSharpness) - 1.0);
}

}  // namespace headway
