// What of the exchanges inside a layer is a flow over the fabric: all of its bytes, at the rate at
// which the layer's time counts them.
#include "sim/layers/tables.h"
#include "sim/programs/stage_costs/pass_traffic.h"
#include "tests/sim/programs/stage_costs/stage_cost_fixture.h"

namespace headway {
namespace {

/// Nodes whose NICs carry 10 GB/s, 90 % of it data.
class LayerFlows : public StageCostTest {
 protected:
  LayerFlows() {
    cluster.nic_bandwidth = "10 GB/s";
    profile.scale_out.bandwidth_efficiency = estimate(0.9);
  }
  void one_accelerator_a_node(int nodes) {
    cluster.nodes = nodes;
    cluster.accelerators = cluster.nics = 1;
  }
  /// Software that takes a quarter longer for everything.
  void slow_release() {
    profile.kernel_families[strategy.kernel_family].releases["slow"] = estimate(1.25);
    strategy.software_release = "slow";
  }
};

/// Half of the bytes of an all-to-all of two stay, three quarters of one of four leave: 4 swaps of
/// 1,024 / 4 tokens x 1,024 x 2 bytes = 0.5 MiB.
TEST_F(LayerFlows, SwapsLeaveAtTheRateOfWhatLeaves) {
  strategy.context_parallel = 4;
  strategy.context_parallel_method = ContextParallelMethod::all_to_all;
  one_accelerator_a_node(4);
  const LayerCost layer = cost().layer();
  const double swaps = 4.0 * 0.75 * 0.5 * kMi / 9e9;
  EXPECT_NEAR(layer.forward[Cause::context_parallel].count(), swaps, 1e-12);
  for (const PassFlows* pass : {&layer.forward_flows, &layer.backward_flows}) {
    const ExchangeFlow& flow = pass->of[ExchangeKind::context];
    EXPECT_NEAR(flow.seen.count(), 4.0 * 0.5 * kMi, 1e-3);
    EXPECT_EQ(flow.hidden, Bytes(0.0));
    EXPECT_NEAR(flow.seen_time.count(), swaps, 1e-12);
    EXPECT_EQ(pass->awaited[Cause::context_parallel], flow.seen_time);
    EXPECT_EQ(flow.window, 0_s);
  }
}

/// Keys and values of three others, 2 x 0.5 MiB each, beside attention of 256 tokens of 1,024.
TEST_F(LayerFlows, RingAttentionHasAttentionAsItsWindow) {
  strategy.context_parallel = 4;
  profile.overlap.context_parallel_floor = estimate(0.25);
  one_accelerator_a_node(4);
  const double window = 1.1 * attention / 4.0;
  const LayerCost layer = cost().layer();
  const ExchangeFlow& forward = layer.forward_flows.of[ExchangeKind::context];
  EXPECT_NEAR((forward.seen + forward.hidden).count(), 3.0 * kMi, 1e-3);
  EXPECT_NEAR(forward.window.count(), window, 1e-12);
  EXPECT_LE(forward.hidden_time.count(), window);
  EXPECT_NEAR(forward.seen_time.count(), layer.forward[Cause::context_parallel].count(), 1e-12);
  const ExchangeFlow& backward = layer.backward_flows.of[ExchangeKind::context];
  EXPECT_NEAR((backward.seen + backward.hidden).count(), 6.0 * kMi, 1e-3);
  EXPECT_NEAR(backward.window.count(), 2.0 * window, 1e-12);
}

/// They are sent inside of what is checkpointed.
TEST_F(LayerFlows, KeysGoRoundAgainWithAttentionThatRunsAgain) {
  for (const ContextParallelMethod method :
       {ContextParallelMethod::ring, ContextParallelMethod::all_to_all}) {
    strategy.context_parallel = 4;
    strategy.context_parallel_method = method;
    strategy.recompute = Recompute::modules;
    strategy.recompute_modules = {RecomputePart::core_attn};
    one_accelerator_a_node(4);
    const LayerCost layer = cost().layer();
    const ExchangeFlow& forward = layer.forward_flows.of[ExchangeKind::context];
    const ExchangeFlow& again = layer.recompute_flows.of[ExchangeKind::context];
    EXPECT_GT(forward.seen + forward.hidden, Bytes(0.0));
    EXPECT_EQ(again.seen, forward.seen);
    EXPECT_EQ(again.hidden, forward.hidden);
    const Seconds sent = layer.forward[Cause::context_parallel];
    EXPECT_GT(sent, 0_s);
    const double kernel = layer.recompute[Cause::recompute].count() - sent.count();
    strategy.recompute_modules = {RecomputePart::mlp};
    EXPECT_EQ(cost().layer().recompute_flows.of[ExchangeKind::context].seen, Bytes(0.0));
    const double in_parts = method == ContextParallelMethod::ring ? 1.1 : 1.0;
    EXPECT_NEAR(kernel, in_parts * attention / 4.0, 1e-12);
  }
}

/// Two all-reduces of 2 MiB of 16: 2 x 15/16 of each, at 90 % of eight NICs.
TEST_F(LayerFlows, AllReducesAreAwaitedWhole) {
  model.attention_heads = 16;
  model.kv_heads = 16;
  strategy.tensor_parallel = 16;
  const LayerCost layer = cost().layer();
  const ExchangeFlow& flow = layer.forward_flows.of[ExchangeKind::tensor];
  EXPECT_NEAR(flow.seen.count(), 2.0 * 30.0 / 16.0 * 2.0 * kMi, 1e-3);
  EXPECT_NEAR(flow.seen_time.count(), 2.0 * 30.0 / 16.0 * 2.0 * kMi / 72e9, 1e-12);
  // Nothing else crosses.
  for (const ExchangeKind kind : kAllExchanges) {
    if (kind != ExchangeKind::tensor) {
      EXPECT_EQ(layer.forward_flows.of[kind].seen, Bytes(0.0));
    }
  }
}

/// Everything as much longer, the same bytes, where all that may hide does.
TEST_F(LayerFlows, OfAReleaseThatIsSlowerGoSlower) {
  cluster.nic_bandwidth = "400 GB/s";
  strategy.context_parallel = 4;
  profile.overlap.context_parallel_floor = estimate(0.25);
  one_accelerator_a_node(4);
  const LayerCost usual = cost().layer();
  slow_release();
  const LayerCost slow = cost().layer();
  const ExchangeFlow& before = usual.forward_flows.of[ExchangeKind::context];
  const ExchangeFlow& after = slow.forward_flows.of[ExchangeKind::context];
  EXPECT_NEAR(after.hidden / before.hidden, 1.0, 1e-12);
  EXPECT_NEAR(after.seen / before.seen, 1.0, 1e-12);
  EXPECT_NEAR(after.hidden_time / before.hidden_time, 1.25, 1e-12);
  EXPECT_NEAR(after.seen_time / before.seen_time, 1.25, 1e-12);
  EXPECT_NEAR(after.window / before.window, 1.25, 1e-12);
  EXPECT_NEAR(slow.forward.total() / usual.forward.total(), 1.25, 1e-12);
}

/// Two ranks share every expert, on a node each: rows of 2,048 bytes for each of 1,024 tokens are
/// gathered from both, and reduced and scattered.
TEST_F(LayerFlows, RowsOfSplitExpertsAreAwaitedWhole) {
  model.mixture_of_experts =
      MixtureOfExperts{.experts = 4, .experts_per_token = 1, .expert_hidden = 512};
  strategy.expert_tensor_parallel = 2;
  strategy.data_parallel = 2;
  profile.experts.emplace();
  one_accelerator_a_node(2);
  const LayerCost layer = cost().layer();
  for (const PassFlows* pass : {&layer.forward_flows, &layer.backward_flows}) {
    const ExchangeFlow& flow = pass->of[ExchangeKind::expert_slices];
    EXPECT_NEAR(flow.seen.count(), 2.0 * 0.5 * 2.0 * 2.0 * kMi, 1e-3);
    EXPECT_EQ(flow.hidden, Bytes(0.0));
    EXPECT_NEAR(flow.seen_time.count(), 4.0 * kMi / 9e9, 1e-12);
  }
}

/// A table on each of two nodes, whose lookups come a pass late by what the layer's own products do
/// not cover: of 1,024 samples a row of 1,024 x 2 bytes from either table, half of it crosses.
TEST_F(LayerFlows, LookupsHideBehindWhatDoesNotNeedThem) {
  Model tables = layers_of(model);
  tables.kinds[0].tables.assign(2, {1e6, 1024.0, 1.0});
  strategy.sequence_length = 1;
  strategy.micro_batch = 1024;
  strategy.data_parallel = 2;
  strategy.global_batch = 2048;
  one_accelerator_a_node(2);
  const auto pass = [&] {
    return stage_cost(tables, strategy, profile, *cluster_of(cluster.text())).layer();
  };
  Model none = tables;
  none.kinds[0].tables.clear();
  const LayerCost without =
      stage_cost(none, strategy, profile, *cluster_of(cluster.text())).layer();
  const LayerCost with = pass();
  // The products take longer than the exchange.
  EXPECT_EQ(with.forward[Cause::embedding_exchange], 0_s);
  EXPECT_GT(with.forward_flows.of[ExchangeKind::tables].hidden, Bytes(0.0));
  cluster.nic_bandwidth = "1 GB/s";
  const double exchange = 0.5 * (2.0 * 1024.0 * 2048.0) / 0.9e9 + 1e-6;
  const LayerCost slow = pass();
  EXPECT_NEAR(slow.forward[Cause::embedding_exchange].count(),
              exchange - without.forward[Cause::compute].count(), 1e-9);
  EXPECT_NEAR(slow.backward[Cause::embedding_exchange].count(),
              std::max(0.0, exchange - without.backward[Cause::compute].count()), 1e-9);
}

}  // namespace
}  // namespace headway
