#pragma once

#include <algorithm>
#include <memory>

#include "sim/models/transformer/transformer_layers.h"
#include "sim/programs/build_workload.h"
#include "sim/programs/perturbation/perturbation.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/random_numbers.h"
#include "tests/support/round_profile.h"

namespace headway {

/// A training job drawn at random: parallel in every way, on a fabric that may be oversubscribed.
struct RandomJob {
  TransformerModel fields;  ///< of the model
  Model model;
  Strategy strategy;
  Profile profile;
  Placement placement;
  Perturbation perturbation;
  ClusterText cluster_text;
  std::shared_ptr<const Cluster> cluster;

  bool in_racks = false;  ///< two nodes a leaf, one uplink for two ports

  /// Builds the cluster anew, after a change of its text.
  void build_cluster() { cluster = cluster_of(cluster_text.text()); }
  /// As many nodes as the strategy needs, and its ranks on them.
  void build_for_strategy() {
    const int of_node = cluster_text.accelerators;
    cluster_text.nodes = std::max((strategy.ranks() + of_node - 1) / of_node, 2);
    if (in_racks) {
      cluster_text.nodes += cluster_text.nodes % 2;
      cluster_text.fabric = fmt::format(
          R"({{"kind": "clos", "attach": "rack", "nodes_per_unit": 2, "units": {},
              "leaf": {{"oversubscription": 2}}, "spine": {{}}}})",
          cluster_text.nodes / 2);
    }
    build_cluster();
    placement = {.tensor = strategy.tensor_parallel,
                 .context = strategy.context_parallel,
                 .data = strategy.data_parallel,
                 .pipeline = strategy.pipeline_parallel};
  }
  [[nodiscard]] Workload workload() const {
    return build_workload({model, strategy, profile, *cluster, placement, std::nullopt}).workload;
  }
};

inline Strategy random_strategy(RandomNumbers& random) {
  Strategy strategy;
  strategy.tensor_parallel = 1 << random.below(3);
  strategy.context_parallel = 1 + random.below(2);
  strategy.pipeline_parallel = 1 << random.below(3);
  strategy.data_parallel = 1 + random.below(4);
  if (strategy.pipeline_parallel > 1) strategy.virtual_stages = 1 + random.below(2);
  const int micro_batches = strategy.pipeline_parallel * (1 + random.below(3));
  strategy.global_batch = micro_batches * strategy.data_parallel;
  strategy.sequence_length = 4096;
  strategy.sequence_parallel = random.chance(0.5);
  strategy.tensor_parallel_overlap = random.chance(0.3);
  strategy.overlap_tensor_parallel_backward = !strategy.tensor_parallel_overlap;
  strategy.fused_attention = random.chance(0.7);
  strategy.recompute = static_cast<Recompute>(random.below(3));
  strategy.sharding = static_cast<Sharding>(
      random.below(strategy.pipeline_parallel == 1 && strategy.virtual_stages == 1 ? 3 : 2));
  strategy.overlap_gradient_reduce = random.chance(0.7);
  strategy.overlap_parameter_gather = random.chance(0.7);
  strategy.overlap_pipeline_transfers = random.chance(0.7);
  if (random.chance(0.5)) strategy.gradient_bucket = Bytes(random.between(1e8, 2e9));
  if (random.chance(0.2) && strategy.virtual_stages == 1) {
    strategy.schedule = schedule_named("gpipe");
  }
  return strategy;
}

inline RandomJob random_job(std::uint64_t seed) {
  RandomNumbers random(seed);
  RandomJob job;
  job.strategy = random_strategy(random);
  const Strategy& strategy = job.strategy;
  job.fields = {.name = "random",
                .layers = strategy.chunks() * (1 + random.below(3)) + random.below(2),
                .hidden = 4096,
                .attention_heads = 32,
                .kv_heads = random.chance(0.5) ? 32 : 8,
                .head_size = 128,
                .ffn_hidden = 16384,
                .gated_mlp = random.chance(0.5),
                .vocabulary = 32000,
                .tied_embeddings = random.chance(0.4)};
  job.model = layers_of(job.fields);
  job.profile = round_profile();
  job.profile.overlap.gradient_reduce_floor = estimate(random.chance(0.5) ? 0.2 : 0.0);
  job.profile.overlap.sharded_interference = estimate(random.chance(0.5) ? 0.1 : 0.0);
  job.profile.overlap.context_parallel_floor = estimate(0.2);
  job.profile.overlap.tensor_parallel_overlapped = estimate(0.4);
  job.profile.scale_out = {estimate(random.between(0.7, 1.0)), estimate(3e-6), estimate(5e-6), {}};

  const int accelerators = 1 << random.below(4);
  job.cluster_text = {.accelerators = accelerators,
                      .nics = std::max(1, accelerators >> random.below(2)),
                      .nic_bandwidth = "5 GB/s"};
  job.in_racks = random.chance(0.6);
  job.build_for_strategy();
  job.perturbation.seed = seed;
  if (random.chance(0.5)) job.perturbation.device_spread = 0.03;
  if (random.chance(0.5)) job.perturbation.jitter.spread = 0.02;
  return job;
}

}  // namespace headway
