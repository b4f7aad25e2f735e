#include "sim/programs/stage_costs/fabric_share.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"

namespace headway {
namespace {

/// Sixteen accelerators on eight nodes of two, each with its own NIC; four nodes below each of two
/// leaf switches, whose uplinks have `1 / oversubscription` of the rate of the eight NICs.
FabricShares shares(const Strategy& strategy, int oversubscription) {
  ClusterText cluster = {.nodes = 8, .accelerators = 2, .nics = 2};
  cluster.fabric = R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "spine": {},
                       "leaf": {"oversubscription": )" +
                   std::to_string(oversubscription) + "}}";
  const Placement placement{.tensor = strategy.tensor_parallel,
                            .context = strategy.context_parallel,
                            .data = strategy.data_parallel,
                            .pipeline = strategy.pipeline_parallel};
  const std::shared_ptr<const Cluster> built = cluster_of(cluster.text());
  return fabric_shares(exchange_plans(strategy, *built, placement), *built);
}

TEST(FabricShare, ExpertsSendHalfOfWhatNicsCarryToTheOtherLeaf) {
  // A rank sends 1/16 of its bytes to each of 16: NICs carry 14/16, and the leaf's uplinks 8/16 of
  // eight ranks. At 4:1 they have the rate of two NICs: (14/16) / (8 * 8/16 / 2) = 7/16.
  const Strategy strategy{.data_parallel = 16, .expert_parallel = 16};
  EXPECT_DOUBLE_EQ(shares(strategy, 4).experts, 7.0 / 16.0);
  EXPECT_DOUBLE_EQ(shares(strategy, 2).experts, 7.0 / 8.0);
  EXPECT_EQ(shares(strategy, 1).experts, 1.0);
  EXPECT_EQ(shares(strategy, 4).tensor, 1.0);
  EXPECT_EQ(shares(strategy, 4).context, 1.0);
}

TEST(FabricShare, GroupsBelowOneLeafDoNotMeetTheUplinks) {
  EXPECT_EQ(shares({.data_parallel = 16, .expert_parallel = 8}, 4).experts, 1.0);
}

TEST(FabricShare, GroupsOfAllStagesExchangeAtOnce) {
  // Stages of eight ranks below a leaf each: nothing crosses, though the job does.
  EXPECT_EQ(shares({.pipeline_parallel = 2, .data_parallel = 8, .expert_parallel = 8}, 4).experts,
            1.0);
  // Two tensor-parallel ranks stay inside a node; experts split over both leaves as above.
  EXPECT_DOUBLE_EQ(
      shares({.tensor_parallel = 2, .data_parallel = 8, .expert_parallel = 16}, 4).experts,
      7.0 / 16.0);
}

TEST(FabricShare, ARingCrossesALeafOnceEachWay) {
  // Of the eight ranks below a leaf one sends on to the other leaf: at 8:1 as fast as its NIC.
  EXPECT_EQ(shares({.context_parallel = 16}, 8).context, 1.0);
  // Two rings, one for each tensor-parallel rank, share that uplink.
  EXPECT_DOUBLE_EQ(shares({.tensor_parallel = 2, .context_parallel = 8}, 8).context, 0.5);
}

TEST(FabricShare, SwappedHeadsAreAnExchange) {
  const Strategy strategy{.context_parallel = 16,
                          .context_parallel_method = ContextParallelMethod::all_to_all};
  EXPECT_DOUBLE_EQ(shares(strategy, 4).context, 7.0 / 16.0);
}

TEST(FabricShare, TensorParallelRingsCrossOnEachRail) {
  // Two rings carry half each: together the rate of two NICs.
  EXPECT_EQ(shares({.tensor_parallel = 16}, 4).tensor, 1.0);
  EXPECT_DOUBLE_EQ(shares({.tensor_parallel = 16}, 8).tensor, 0.5);
}

}  // namespace
}  // namespace headway
