#include "sim/programs/stage_costs/exchange_plans.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/jobs/strategy.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/programs/build_workload.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

/// Four nodes of two accelerators with a NIC each, below one switch.
class ExchangePlansTest : public testing::Test {
 protected:
  ExchangePlansTest() {
    model = {.layers = 2,
             .hidden = 1000,
             .attention_heads = 8,
             .kv_heads = 4,
             .head_size = 125,
             .ffn_hidden = 4000,
             .vocabulary = 1000};
    strategy.sequence_length = 1024;
    ExpertCosts costs;
    costs.grouped_efficiency = estimate(1.0);
    costs.exchange_scale_up = estimate(1.0);
    costs.exchange_scale_out = estimate(0.5);
    costs.exchange_seen = estimate(0.8);
    costs.exchange_seen_overlapped = estimate(0.2);
    profile.experts = costs;
    profile.overlap.context_parallel_floor = estimate(0.1);
  }

  void add_experts() {
    model.mixture_of_experts =
        MixtureOfExperts{.experts = 8, .experts_per_token = 4, .expert_hidden = 500};
    strategy.data_parallel = 8;
    strategy.global_batch = 8;
    strategy.expert_parallel = 8;
  }

  /// Of cables that leave a NIC, in order.
  [[nodiscard]] std::vector<double> sent() const {
    const auto cluster = cluster_of(ClusterText{.nodes = 4, .accelerators = 2, .nics = 2}.text());
    const Placement placement{.tensor = strategy.tensor_parallel,
                              .context = strategy.context_parallel,
                              .data = strategy.data_parallel,
                              .pipeline = strategy.pipeline_parallel};
    const Workload workload =
        build_workload({layers_of(model), strategy, profile, *cluster, placement, std::nullopt})
            .workload;
    std::map<std::int32_t, double> flows;  // bytes, by communicator
    for (const RankGroup& group : workload.groups) {
      std::map<std::int32_t, double> of_group;
      for (const Operation& operation :
           workload.programs[static_cast<std::size_t>(group.program)].operations) {
        if (operation.kind != OperationKind::join) continue;
        of_group[group.communicators[static_cast<std::size_t>(operation.path)]] +=
            operation.amount.count();
      }
      for (const auto& [communicator, amount] : of_group) flows[communicator] = amount;
    }
    std::map<LinkId, double> links;
    for (const auto& [id, amount] : flows) {
      const Communicator& communicator = workload.communicators[static_cast<std::size_t>(id)];
      if (!is_exchange(communicator)) continue;
      for (const LinkLoad& load :
           workload.plans[static_cast<std::size_t>(communicator.plan)].links) {
        links[load.link] += load.weight * amount;
      }
    }
    std::vector<double> bytes;
    for (const auto& [link, carried] : links) {
      const Topology& topology = cluster->topology;
      if (!topology.is_switch(topology.link(link).from)) bytes.push_back(carried);
    }
    return bytes;
  }
  void expect_each_sends(std::size_t senders, double bytes) const {
    const std::vector<double> all = sent();
    ASSERT_EQ(all.size(), senders);
    for (const double one : all) EXPECT_NEAR(one, bytes, 1e-9 * bytes);
  }

  TransformerModel model;
  Strategy strategy;
  Profile profile = round_profile();
};

constexpr double kInput = 1024.0 * 1000.0 * 2.0;  // a layer's, in 16 bits

TEST_F(ExchangePlansTest, WhatStaysInsideANodeCrossesNothing) {
  strategy.tensor_parallel = 2;
  strategy.context_parallel = 1;
  EXPECT_TRUE(sent().empty());
}

TEST_F(ExchangePlansTest, EveryTokenGoesToItsExpertsAndBackInBothPasses) {
  add_experts();
  // 1,024 tokens to 4 experts each; 6 of 8 experts are on other nodes. There and back, forward and
  // backward, in 2 layers.
  const double crossing = 6.0 / 8.0 * 4.0 * kInput;
  expect_each_sends(8, 2.0 * 2.0 * 2.0 * crossing);
  // Two micro-batches as much again; where whole layers are recomputed the forward pass once more.
  strategy.global_batch = 16;
  expect_each_sends(8, 2.0 * 8.0 * crossing);
  strategy.recompute = Recompute::full;
  expect_each_sends(8, 2.0 * 12.0 * crossing);
  // Of the first layer only.
  strategy.recompute_layers = 1;
  expect_each_sends(8, 2.0 * 10.0 * crossing);
}

TEST_F(ExchangePlansTest, ABusyExpertTakesFromTheOthers) {
  add_experts();
  strategy.expert_imbalance = 4.0;
  expect_each_sends(8, 8.0 * 6.0 / 8.0 * 4.0 * kInput);
}

TEST_F(ExchangePlansTest, WhatHidesCrossesAsMuch) {
  add_experts();
  strategy.overlap_expert_exchange = true;
  expect_each_sends(8, 2.0 * 2.0 * 2.0 * 6.0 / 8.0 * 4.0 * kInput);
}

TEST_F(ExchangePlansTest, OneCopyANodeCrossesTheFabric) {
  // Four nodes; of four experts at random 4 (1 - (3/4)^4) are visited, three quarters of them are
  // others: (175/64) x 3/4 copies instead of 3.
  add_experts();
  strategy.expert_dispatch = ExpertDispatch::deduplicated;
  expect_each_sends(8, 8.0 * 175.0 / 64.0 * 3.0 / 4.0 * kInput);
}

TEST_F(ExchangePlansTest, DenseLayersSendNoTokensAway) {
  add_experts();
  model.mixture_of_experts->leading_dense_layers = 1;
  expect_each_sends(8, 4.0 * 6.0 / 8.0 * 4.0 * kInput);
}

TEST_F(ExchangePlansTest, EveryStageSendsWhatItsLayersDo) {
  // Two layers on the first stage, one on the second.
  add_experts();
  model.layers = 3;
  strategy.pipeline_parallel = 2;
  strategy.data_parallel = 4;
  strategy.expert_parallel = 4;
  strategy.global_batch = 4;
  // 2 of 4 experts' ranks are on the other node.
  const double layer = 4.0 * 2.0 / 4.0 * 4.0 * kInput;
  const std::vector<double> all = sent();
  ASSERT_EQ(all.size(), 8U);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    EXPECT_NEAR(all[rank], (rank < 4 ? 2.0 : 1.0) * layer, 1e-3);
  }
}

TEST_F(ExchangePlansTest, ARingOfKeysAndValuesCrossesWhereANodeEnds) {
  strategy.context_parallel = 8;
  // 128 tokens of 4 x 125 channels, twice, 2 bytes; 7 times forward, 14 times backward, 2 layers.
  // The second rank of each node sends to the next node.
  expect_each_sends(4, 2.0 * 21.0 * (128.0 * 500.0 * 2.0 * 2.0));
}

TEST_F(ExchangePlansTest, SwappedHeadsGoToAllOtherNodes) {
  strategy.context_parallel = 4;
  strategy.context_parallel_method = ContextParallelMethod::all_to_all;
  // Queries and output of 1,000 channels, keys and values of 500, for 256 tokens; half to the other
  // node. Forward and backward, in 2 layers.
  expect_each_sends(4, 2.0 * 2.0 * 0.5 * (256.0 * 3000.0 * 2.0));
}

TEST_F(ExchangePlansTest, TensorParallelRingsRunOnEachRail) {
  strategy.tensor_parallel = 8;
  // Two exchanges a pass of 2 x 7/8 of the input, on two rails; forward and backward, 2 layers.
  const double pass = 2.0 * 2.0 * 7.0 / 8.0 * kInput / 2.0;
  expect_each_sends(8, 2.0 * 2.0 * pass);
  // Backward, the parts of the inputs are gathered once more: 7/8 of it twice.
  strategy.sequence_parallel = true;
  strategy.overlap_tensor_parallel_backward = true;
  expect_each_sends(8, 2.0 * 2.5 * pass);
}

TEST_F(ExchangePlansTest, PredictionLayersSendTooOnTheLastStage) {
  add_experts();
  model.multi_token_prediction_layers = 1;
  expect_each_sends(8, 12.0 * 6.0 / 8.0 * 4.0 * kInput);
}

TEST_F(ExchangePlansTest, PooledRowsGoToAllOtherNodes) {
  // Of what a rank pools an eighth is each other's: to six of eight ranks beyond its own node.
  const auto cluster = cluster_of(ClusterText{.nodes = 4, .accelerators = 2, .nics = 2}.text());
  const std::vector<std::vector<std::int32_t>> all = {{0, 1, 2, 3, 4, 5, 6, 7}};
  const FlowPlan plan =
      exchange_plan(ExchangeKind::tables, layers_of(model), strategy, *cluster, all);
  int senders = 0;
  for (const LinkLoad& load : plan.links) {
    if (cluster->topology.is_switch(cluster->topology.link(load.link).from)) continue;
    EXPECT_NEAR(load.weight, 6.0 / 8.0, 1e-12);
    ++senders;
  }
  EXPECT_EQ(senders, 8);
  EXPECT_EQ(plan.latency, 0_s);
}

}  // namespace
}  // namespace headway
