#include "sim/programs/stage_costs/expert_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"
#include "sim/layers/parameters.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/programs/build_workload.h"
#include "sim/programs/stage_costs/host_cost.h"
#include "sim/programs/stage_program.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

/// 16 experts of which 4 are met, 1,000 channels; 16 ranks on 2 nodes of 8.
class ExpertCostTest : public testing::Test {
 protected:
  ExpertCostTest() {
    model = {.layers = 2,
             .hidden = 1000,
             .attention_heads = 8,
             .kv_heads = 8,
             .head_size = 125,
             .ffn_hidden = 4000,
             .mixture_of_experts =
                 MixtureOfExperts{.experts = 16, .experts_per_token = 4, .expert_hidden = 500}};
    strategy.sequence_length = 1024;
    strategy.global_batch = 16;
    strategy.data_parallel = 16;
    strategy.expert_parallel = 16;
    ExpertCosts costs;
    costs.grouped_efficiency = estimate(1.0);
    costs.grouped_half_rows = estimate(0.0);
    costs.permutation_bytes = estimate(0.0);
    costs.exchange_scale_up = estimate(0.5);
    costs.exchange_scale_out = estimate(0.8);
    costs.exchange_overhead = estimate(20e-6);
    costs.exchange_seen = estimate(0.9);
    costs.exchange_seen_overlapped = estimate(0.2);
    costs.layer_gap = estimate(0.0);
    costs.host_per_layer = estimate(0.0);
    profile.experts = costs;
    profile.cuda_graphs = GraphCosts{.launch_gap = estimate(0.5),
                                     .host_layer = estimate(0.2),
                                     .expert_layer = estimate(0.4),
                                     .expert_full = estimate(0.1)};
  }

  [[nodiscard]] RankShape shard() const {
    return {.sequence_length = 1024,
            .tensor_parallel = static_cast<double>(strategy.tensor_parallel),
            .sequence_parallel = strategy.sequence_parallel,
            .expert_parallel = static_cast<double>(strategy.expert_parallel),
            .expert_tensor_parallel = static_cast<double>(strategy.expert_tensor_parallel)};
  }
  [[nodiscard]] Layer with_experts() const { return transformer_layer(model, {.experts = true}); }
  [[nodiscard]] ExpertTraffic traffic() const {
    return expert_traffic(with_experts(), strategy, places()[ExchangeKind::experts], shard());
  }
  [[nodiscard]] ExchangePlaces places() const {
    return best_places(strategy, *cluster_of(cluster.text()), Placement{}.order);
  }
  [[nodiscard]] ExpertExchange exchange() const {
    const auto built_cluster = cluster_of(cluster.text());
    const ExchangePlaces standing = places();
    return expert_exchange(with_experts(), shard(),
                           {strategy, profile, built_cluster->node_type, standing}, compute);
  }
  [[nodiscard]] double seen() const {
    const ExpertExchange exchange = this->exchange();
    return (exchange.seen + exchange.slices).count();
  }

  TransformerModel model;
  Strategy strategy;
  Profile profile = round_profile();
  ClusterText cluster = {.nodes = 2, .accelerators = 8, .nics = 8};
  Seconds compute = 1_s;  // long enough to hide whatever can hide

  /// Rows of 2,000 bytes for each of 1,024 tokens and 4 experts.
  const double routed = 1024.0 * 4.0 * 2000.0;
};

TEST_F(ExpertCostTest, EveryTokenGoesToItsExperts) {
  EXPECT_DOUBLE_EQ(traffic().exchanged.count(), 15.0 / 16.0 * routed);
  // Half of the copies go to the other node.
  EXPECT_DOUBLE_EQ(traffic().across_domains.count(), routed / 2.0);
}

TEST_F(ExpertCostTest, TheSmallerPartOfAGroupIsTheBusiest) {
  // Four of 16 ranks alone: 12/16 of what they route goes to the others, and comes from them.
  const GroupPlace uneven{.members = {12, 4}};
  const auto across = [&] {
    return expert_traffic(with_experts(), strategy, uneven, shard()).across_domains.count();
  };
  EXPECT_DOUBLE_EQ(across(), 12.0 / 16.0 * routed);
  // One copy a domain: 1 - (3/4)^4 = 175/256 of the tokens of 12 ranks go to the four.
  strategy.expert_dispatch = ExpertDispatch::deduplicated;
  EXPECT_DOUBLE_EQ(across(), 12.0 / 4.0 * 175.0 / 256.0 * 1024.0 * 2000.0);
}

TEST_F(ExpertCostTest, RanksOnNodesOfTheirOwnExchangeByTheirNicsAlone) {
  // 15 of 16 parts there and back at 0.8 of 50 GB/s; a scale-up fabric of 1 GB/s joins nobody.
  cluster = {.nodes = 16, .accelerators = 1, .nics = 1, .scale_up_bandwidth = "1 GB/s"};
  EXPECT_NEAR(exchange().transfer.count(), 2.0 * 15.0 / 16.0 * routed / (0.8 * 50e9), 1e-12);
}

TEST_F(ExpertCostTest, OneCopyANodeCrossesTheFabric) {
  // Four experts at random on two nodes: 2 (1 - 1/16) nodes are visited, half of them the other
  // one: 15/16 of a copy a token instead of 2.
  strategy.expert_dispatch = ExpertDispatch::deduplicated;
  EXPECT_DOUBLE_EQ(traffic().exchanged.count(), 15.0 / 16.0 * routed);
  EXPECT_DOUBLE_EQ(traffic().across_domains.count(), 15.0 / 16.0 * 1024.0 * 2000.0);
}

TEST_F(ExpertCostTest, RoutersThatChooseGroupsVisitFewerNodes) {
  strategy.expert_dispatch = ExpertDispatch::deduplicated;
  const auto across = [&](double groups, double per_token, const GroupPlace& place) {
    Layer layer = with_experts();
    layer.routing->groups = groups;
    layer.routing->groups_per_token = per_token;
    return expert_traffic(layer, strategy, place, shard()).across_domains.count();
  };
  // Two of four groups, two on each node: 1 of 6 pairs is all here, 4 have one here, and then one
  // of four experts is in it 15/16 of the time: 4/6 x 15/16 + 1/6 = 19/24.
  const GroupPlace halves{.members = {8, 8}};
  EXPECT_NEAR(across(4.0, 2.0, halves), 19.0 / 24.0 * 1024.0 * 2000.0, 1e-6);
  // One of two groups, half of one on each node: chosen half of the time, met by 15/16 of tokens.
  const GroupPlace quarters{.members = {4, 4, 4, 4}};
  EXPECT_NEAR(across(2.0, 1.0, quarters), 12.0 / 4.0 * 15.0 / 32.0 * 1024.0 * 2000.0, 1e-6);
  // All groups are no choice.
  EXPECT_NEAR(across(1.0, 1.0, quarters), 12.0 / 4.0 * 175.0 / 256.0 * 1024.0 * 2000.0, 1e-6);
  EXPECT_NEAR(across(4.0, 4.0, quarters), 12.0 / 4.0 * 175.0 / 256.0 * 1024.0 * 2000.0, 1e-6);
  // A group and a half on the larger node, a half on the other.
  const GroupPlace uneven{.members = {12, 4}};
  EXPECT_NEAR(across(2.0, 1.0, uneven), 12.0 / 4.0 * 15.0 / 32.0 * 1024.0 * 2000.0, 1e-6);
}

TEST_F(ExpertCostTest, AGroupInsideADomainUsesNoNic) {
  strategy.expert_parallel = 8;
  EXPECT_DOUBLE_EQ(traffic().exchanged.count(), 7.0 / 8.0 * routed);
  EXPECT_EQ(traffic().across_domains, 0_B);
  // There and back, at half of 400 GB/s, 20 us each; 0.9 of it is seen.
  EXPECT_NEAR(seen(), 2 * 0.9 * (20e-6 + 7.0 / 8.0 * routed / 200e9), 1e-15);
  strategy.overlap_expert_exchange = true;
  EXPECT_NEAR(seen(), 2 * 0.2 * (20e-6 + 7.0 / 8.0 * routed / 200e9), 1e-15);
}

TEST_F(ExpertCostTest, WhatHidesIsStillOnTheWire) {
  strategy.overlap_expert_exchange = true;
  const double shown = 2 * 0.2 * (20e-6 + routed / 2.0 / 40e9);
  EXPECT_NEAR(seen(), shown, 1e-15);
  // There and back at the NICs' full 50 GB/s, of which compute covers a tenth.
  const double on_wire = 2 * routed / 2.0 / 50e9;
  compute = Seconds(0.1 * on_wire);
  EXPECT_NEAR(seen(), 0.9 * on_wire, 1e-15);
}

TEST_F(ExpertCostTest, AGroupOfSeveralDomainsWaitsForItsNics) {
  // NICs of 50 GB/s, of which 40 are reached, take longer for half of the copies than the fabric
  // inside for all of them.
  EXPECT_NEAR(seen(), 2 * 0.9 * (20e-6 + routed / 2.0 / 40e9), 1e-15);
}

TEST_F(ExpertCostTest, OneCopyANodeLeavesTheFabricInsideBusiest) {
  // 15/64 of what is routed crosses at 40 GB/s, 15/16 goes on inside at 100 GB/s: 1 / 170.7 and
  // 1 / 106.7 of a second a gigabyte.
  strategy.expert_dispatch = ExpertDispatch::deduplicated;
  profile.experts->exchange_scale_up = estimate(0.25);
  EXPECT_NEAR(seen(), 2 * 0.9 * (20e-6 + 15.0 / 16.0 * routed / 100e9), 1e-15);
}

TEST_F(ExpertCostTest, RanksThatSplitAnExpertShareTheirRows) {
  strategy.expert_parallel = 1;
  strategy.expert_tensor_parallel = 2;
  // An all-gather of both ranks' rows and a reduce-scatter of as much: half of 2 x routed each.
  EXPECT_NEAR(seen(), 2 * (0.5e-6 * 0 + routed / 400e9), 1e-15);
  const auto sent = [&] { return exchange().slice_bytes.count(); };
  EXPECT_NEAR(sent(), 2.0 * 0.5 * (2.0 * routed), 1e-3);
  // Of four, three quarters of all rows, twice.
  strategy.expert_tensor_parallel = 4;
  EXPECT_NEAR(sent(), 2.0 * 0.75 * (4.0 * routed), 1e-3);
}

TEST_F(ExpertCostTest, GraphsLeaveAShareOfGapsAndHostTime) {
  profile.experts->layer_gap = estimate(100e-6);
  profile.experts->host_per_layer = estimate(4e-3);
  const KernelFamily family = [] {
    KernelFamily made = plain_family();
    made.launch_gap = estimate(1e-6);
    made.host_per_layer = estimate(1e-3);
    return made;
  }();
  const auto costs = [&](CudaGraph graph, bool experts) {
    strategy.cuda_graph = graph;
    return host_costs(strategy, profile, family, transformer_layer(model, {.experts = experts}));
  };
  EXPECT_DOUBLE_EQ(costs(CudaGraph::none, true).forward_gaps.count(), 14e-6 + 100e-6);
  EXPECT_DOUBLE_EQ(costs(CudaGraph::none, true).backward_gaps.count(), 24e-6 + 150e-6);
  EXPECT_DOUBLE_EQ(costs(CudaGraph::none, true).backward.count(), 1.2 * 4e-3);
  EXPECT_DOUBLE_EQ(costs(CudaGraph::layer, true).forward_gaps.count(), 7e-6 + 40e-6);
  EXPECT_DOUBLE_EQ(costs(CudaGraph::layer, true).forward.count(), 1.6e-3);
  EXPECT_DOUBLE_EQ(costs(CudaGraph::full, true).forward.count(), 0.4e-3);
  EXPECT_DOUBLE_EQ(costs(CudaGraph::full, false).forward_gaps.count(), 7e-6);
  EXPECT_DOUBLE_EQ(costs(CudaGraph::none, false).forward.count(), 1e-3);
  EXPECT_DOUBLE_EQ(costs(CudaGraph::layer, false).forward.count(), 0.2e-3);
  EXPECT_DOUBLE_EQ(costs(CudaGraph::layer, false).backward.count(), 0.3e-3);
  // Of a captured iteration the host launches one graph.
  EXPECT_EQ(costs(CudaGraph::full, false).backward, 0_s);
}

TEST_F(ExpertCostTest, AMixtureIsRecomputedWithItsExchange) {
  // 4,096 rows through the one expert of a rank: two products of 4.096 G operations at 50 TFLOP/s,
  // 4 bytes an inner element at 0.5 TB/s; the router before them.
  strategy.recompute = Recompute::modules;
  strategy.recompute_modules = {RecomputePart::moe};
  const StageCost costs =
      stage_cost(layers_of(model), strategy, profile, *cluster_of(cluster.text()));
  const LayerCost& layer = costs.layer();
  const Seconds router = gemm_cost(profile.device, {1024, 16, 1000}, Precision::bf16).time;
  EXPECT_NEAR(layer.recompute.total().count(),
              router.count() + 2.0 * 4.096e9 / 50e12 + 4.0 * 4096 * 500 / 0.5e12 +
                  layer.forward[Cause::expert_parallel].count(),
              1e-12);
  EXPECT_GT(layer.forward[Cause::expert_parallel], 0_s);
}

TEST_F(ExpertCostTest, ASharedExpertIsRecomputedWithTheExchangeOfItsRanks) {
  model.mixture_of_experts->shared_expert_hidden = 300;
  strategy.recompute = Recompute::modules;
  strategy.recompute_modules = {RecomputePart::shared_experts};
  strategy.tensor_parallel = 2;
  strategy.data_parallel = 8;
  const StageCost costs =
      stage_cost(layers_of(model), strategy, profile, *cluster_of(cluster.text()));
  const LayerCost& layer = costs.layer();
  const auto product = [&](double n, double k) {
    return gemm_cost(profile.device, {1024, n, k}, Precision::bf16).time.count();
  };
  EXPECT_NEAR(layer.recompute.total().count(),
              product(150, 1000) + product(1000, 150) + 4.0 * 1024 * 150 / 0.5e12 +
                  0.5 * layer.forward[Cause::tensor_parallel].count(),
              1e-12);
}

TEST_F(ExpertCostTest, LayersOfAKindCostTheSame) {
  model.mixture_of_experts->leading_dense_layers = 1;
  const auto built_cluster = cluster_of(cluster.text());
  const StageCost cost = stage_cost(layers_of(model), strategy, profile, *built_cluster);
  EXPECT_EQ(cost.layer().forward[Cause::expert_parallel], 0_s);
  EXPECT_NEAR(cost.layer(1).forward[Cause::expert_parallel].count(), seen(), 1e-15);
}

TEST_F(ExpertCostTest, ExpertGradientsAreReducedOverTheirOwnReplicas) {
  // Groups of 4: ranks 0, 4, 8 and 12 hold the same experts. Everything else has 16 replicas.
  strategy.expert_parallel = 4;
  strategy.overlap_gradient_reduce = false;
  Placement placement;
  placement.data = 16;
  const auto built_cluster = cluster_of(cluster.text());
  const BuiltWorkload built = build_workload(
      {layers_of(model), strategy, profile, *built_cluster, placement, CollectiveAlgorithm::ring});
  double shared = 0.0;
  double experts = 0.0;
  const Program& program = built.workload.programs.front();
  for (const Operation& operation : program.operations) {
    if (operation.kind != OperationKind::join) continue;
    (operation.path == program.place_of(kExpertReduce) ? experts : shared) +=
        operation.amount.count();
  }
  const Parameters layer = parameters(with_experts());
  const Parameters counts = parameters(layers_of(model));
  // Rings of 4 and of 16, gradients of 4 bytes: 2 layers of a quarter of the experts each.
  EXPECT_DOUBLE_EQ(experts, 2.0 * 3.0 / 4.0 * 4.0 * 2.0 * layer.experts() / 4.0);
  const double others = 2.0 * layer.shared() + counts.of(Part::embedding) +
                        counts.of(Part::positions) + counts.of(Part::head);
  EXPECT_NEAR(shared, 2.0 * 15.0 / 16.0 * 4.0 * others, 1e-6 * shared);
  EXPECT_THAT(built.workload.communicators.back().name, "expert gradient reduce, stage 0");
}

TEST_F(ExpertCostTest, ExpertsWithoutReplicasReduceNothing) {
  Placement placement;
  placement.data = 16;
  const auto built_cluster = cluster_of(cluster.text());
  const BuiltWorkload built = build_workload(
      {layers_of(model), strategy, profile, *built_cluster, placement, CollectiveAlgorithm::ring});
  // Of everything else, and of the tokens that go from node to node.
  ASSERT_EQ(built.workload.communicators.size(), 2U);
  EXPECT_EQ(built.workload.communicators.back().name, "expert exchange, stage 0");
}

TEST_F(ExpertCostTest, PredictionLayersStandBehindTheLast) {
  const auto built_cluster = cluster_of(cluster.text());
  const StageCost without = stage_cost(layers_of(model), strategy, profile, *built_cluster);
  model.multi_token_prediction_layers = 1;
  const StageCost with = stage_cost(layers_of(model), strategy, profile, *built_cluster);
  // A layer more, the head and the loss again, and a product of 1,024 x 1,000 x 2,000.
  const double more = with.head_forward.total().count() - without.head_forward.total().count();
  const double known =
      without.layer().forward.total().count() + without.head_forward.total().count();
  const Cost join = gemm_cost(profile.device, {.m = 1024, .n = 1000, .k = 2000}, Precision::bf16);
  // Norms and residuals: 20 bytes of each element at 0.5 TB/s.
  EXPECT_NEAR(more, known + join.time.count() + 20.0 * 1024 * 1000 / 0.5e12, 1e-12);
}

TEST_F(ExpertCostTest, AnExchangeHidesBesideThePassesOfAnotherMicroBatch) {
  // NICs of 1 GB/s have half of the copies there and back; in the mean of the two passes hides as
  // much as one forward and one backward pass compute, halved.
  strategy.overlap_expert_exchange = true;
  cluster.nic_bandwidth = "1 GB/s";
  const StageCost stage =
      stage_cost(layers_of(model), strategy, profile, *cluster_of(cluster.text()));
  const LayerCost& layer = stage.layers.front();
  const double beside =
      0.5 * (layer.forward[Cause::compute] + layer.backward[Cause::compute]).count();
  EXPECT_NEAR(layer.forward[Cause::expert_parallel].count(), 2 * routed / 2.0 / 1e9 - beside, 1e-9);
}

}  // namespace
}  // namespace headway
