#include "sim/validate/measured/step_job.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/refuse.h"
#include "sim/network/routing/shortest_routing.h"

namespace headway {
namespace {

/// Bytes of an element that a pass moves at least, as layers have them (of 16 bits; these are twice
/// as wide): an activation reads one and writes one, its gradient and that of the loss read two and
/// write one.
constexpr double kActivationBytes = 2.0 * kWorkingElement;
constexpr double kGradientBytes = 3.0 * kWorkingElement;
constexpr double kElementBytes = 4.0;

Layer square_layer(double width, bool input_gradient) {
  Layer layer{.name = "layer", .input = width, .output = width};
  layer.products.push_back({.name = "product",
                            .part = Part::mlp,
                            .outputs = width,
                            .inputs = width,
                            .input_gradient = input_gradient});
  layer.passes.push_back({.name = "activation",
                          .forward = width * kActivationBytes,
                          .backward = width * kGradientBytes});
  return layer;
}

/// What multiplies at that rate, and waits for nothing else.
DeviceCosts emulated_device(double flops_per_s) {
  constexpr double kNoLimit = 1e30;
  DeviceCosts device;
  device.peak_flops[Precision::fp32].value = flops_per_s;
  device.gemm_efficiency[Precision::fp32].value = 1.0;
  device.memory_bandwidth.value = kNoLimit;
  device.memory_efficiency.value = 1.0;
  return device;
}

/// What was measured of collectives wherever it was: a rank's link is a cable or the machine's
/// memory.
ScopeCosts measured_links(const Profile& profile) {
  ScopeCosts links;
  links.bandwidth_efficiency.value = 1.0;
  for (const ScopeCosts* scope : {&profile.scale_up, &profile.scale_out}) {
    links.collectives.insert(links.collectives.end(), scope->collectives.begin(),
                             scope->collectives.end());
    if (scope->burst) links.burst = max(links.burst.value_or(Bytes(0.0)), *scope->burst);
  }
  return links;
}

/// The rate at which each of a pair or ring of ranks sends.
BytesPerSecond measured_rate(const Profile& profile, CollectiveKind kind, Bytes message,
                             int ranks) {
  for (const ScopeCosts* scope : {&profile.scale_up, &profile.scale_out}) {
    const auto cost = measured_collective_cost(scope->collectives, kind, message, ranks);
    if (!cost) continue;
    const CollectiveVolume volume = collective_volume(kind, CollectiveAlgorithm::ring, ranks);
    return volume.bytes_factor * message / cost->time;
  }
  refuse(fmt::format("profile {} holds no {} of {:.0f} bytes among {} ranks", profile.name,
                     collective_name(kind), message.count(), ranks),
         "calibrate the machine with as many ranks; a formula would not test the profile");
}

/// A node for each rank, around one switch.
void add_star(Cluster& cluster, int ranks, BytesPerSecond rate) {
  cluster.name = "links of the ranks";
  cluster.nodes = ranks;
  cluster.node_type.nic_bandwidth = rate;
  cluster.node_type.nearest_nic = {0};
  for (int rank = 0; rank < ranks; ++rank) {
    cluster.endpoints.push_back(cluster.topology.add_endpoint("rank" + std::to_string(rank)));
  }
  const VertexId middle = cluster.topology.add_switch("switch", 0);
  for (const VertexId endpoint : cluster.endpoints) {
    cluster.topology.add_cable(endpoint, middle, rate, Seconds(0.0));
  }
  cluster.routing = shortest_routing(cluster.topology);
}

Strategy step_strategy(const TrainingStep& step, int ranks, const Profile& profile) {
  const int replicas = ranks / step.pipeline_stages;
  Strategy strategy{.pipeline_parallel = step.pipeline_stages,
                    .data_parallel = replicas,
                    .schedule = schedule_named("gpipe"),
                    .micro_batch = step.batch / step.micro_batches,
                    .global_batch = std::int64_t{step.batch} * replicas};
  strategy.overlap_gradient_reduce = step.overlap;
  strategy.fused_gradient_reduce = false;
  strategy.gradient_norm = false;
  strategy.precision = Precision::fp32;
  strategy.kernel_family = profile.kernel_families.begin()->first;
  return strategy;
}

}  // namespace

Model step_model(const TrainingStep& step) {
  Model model{.name = step.id, .has_tokens = false};
  const double width = step.width;
  append_layers(model, square_layer(width, false));
  if (step.layers > 1) append_layers(model, square_layer(width, true), step.layers - 1);
  model.first.name = "input";
  model.last = {.name = "loss", .input = width};
  model.last.passes.push_back({.name = "loss", .forward = width * kGradientBytes});
  return model;
}

void fill_step_job(StepJob& job, const TrainingStep& step, int ranks, const Profile& profile) {
  HEADWAY_CHECK(unrunnable_reason(step, ranks).empty(), "a step that cannot be run");
  job.model = step_model(step);
  job.strategy = step_strategy(step, ranks, profile);
  job.profile = profile;
  job.profile.overlap.gradient_reduce_floor.value = 0.0;
  job.profile.scale_up = {};
  job.profile.scale_out = measured_links(profile);
  if (step.emulated_flops_per_s > 0.0) {
    job.profile.device = emulated_device(step.emulated_flops_per_s);
  }
  job.placement = {.order = {ParallelDimension::pipeline, ParallelDimension::data},
                   .data = job.strategy.data_parallel,
                   .pipeline = job.strategy.pipeline_parallel};

  const double rows = static_cast<double>(job.strategy.micro_batch);
  const Bytes gradient(kElementBytes * step.width * step.width);
  BytesPerSecond link(1.0);  // of links that nothing uses, any rate will do
  if (job.strategy.pipeline_parallel > 1) {
    job.message_rate = measured_rate(profile, CollectiveKind::send_receive,
                                     Bytes(kElementBytes * rows * step.width), 2);
    link = max(link, job.message_rate);
  }
  if (job.strategy.data_parallel > 1) {
    link = max(link, measured_rate(profile, CollectiveKind::all_reduce, gradient,
                                   job.strategy.data_parallel));
  }
  add_star(job.cluster, ranks, link);
}

}  // namespace headway
