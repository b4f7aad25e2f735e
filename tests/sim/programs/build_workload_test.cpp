#include "sim/programs/build_workload.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/known_jobs.h"
#include "sim/programs/stage_program.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Which communicator a group's program calls so.
std::int32_t communicator_of(const Workload& workload, std::size_t group, std::string_view name) {
  const RankGroup& of = workload.groups[group];
  const Program& program = workload.programs[static_cast<std::size_t>(of.program)];
  return of.communicators.at(static_cast<std::size_t>(program.place_of(name)));
}

/// tp 2, cp 2, pp 2, dp 2 on 4 nodes of 4 accelerators with a NIC each.
class BuildWorkload : public testing::Test {
 protected:
  BuildWorkload() {
    model = thousand_parameter_layers(4, 10);
    strategy.tensor_parallel = 2;
    strategy.context_parallel = 2;
    strategy.pipeline_parallel = 2;
    strategy.data_parallel = 2;
    strategy.global_batch = 8;
    strategy.sequence_length = 64;
  }

  [[nodiscard]] BuiltWorkload built(
      std::optional<CollectiveAlgorithm> algorithm = std::nullopt) const {
    const Placement placement{.tensor = strategy.tensor_parallel,
                              .context = strategy.context_parallel,
                              .data = strategy.data_parallel,
                              .pipeline = strategy.pipeline_parallel};
    return build_workload(
        {model, strategy, profile, *cluster_of(cluster.text()), placement, algorithm});
  }

  Model model;
  Strategy strategy;
  Profile profile = round_profile();
  ClusterText cluster = {.nodes = 4, .accelerators = 4, .nics = 4};
};

TEST_F(BuildWorkload, AGroupIsTheRanksThatComputeInLockstep) {
  // Order: tensor, context, data, pipeline. Groups stand replica by replica, stage by stage.
  const Workload workload = built().workload;
  ASSERT_EQ(workload.groups.size(), 4U);
  EXPECT_EQ(workload.ranks_per_group, 4);
  EXPECT_THAT(workload.groups[0].accelerators, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(workload.groups[1].accelerators, ElementsAre(8, 9, 10, 11));
  EXPECT_THAT(workload.groups[2].accelerators, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(workload.groups[2].replica, 1);
  EXPECT_EQ(workload.groups[3].stage, 1);
  EXPECT_EQ(workload.programs.size(), 2U);
  EXPECT_THAT(workload.notes, IsEmpty());
}

TEST_F(BuildWorkload, EveryStageReducesAmongItsReplicas) {
  const Workload workload = built().workload;
  ASSERT_EQ(workload.communicators.size(), 2U);
  EXPECT_EQ(workload.communicators[0].name, "gradient reduce, stage 0");
  EXPECT_EQ(workload.communicators[0].members, 2);
  EXPECT_EQ(workload.groups[0].communicators, workload.groups[2].communicators);
  EXPECT_THAT(workload.groups[1].communicators, ElementsAre(1));
}

TEST_F(BuildWorkload, SoftwareTakesLongerOverUpdatesThanTheirBytesDo) {
  strategy.sharding = Sharding::optimizer;
  profile.kernel_families[strategy.kernel_family].gradient_traffic.value = 1.5;
  const Workload workload = built().workload;
  ASSERT_FALSE(workload.communicators.empty());
  for (const Communicator& communicator : workload.communicators) {
    const bool is_of_updates = communicator.name.starts_with("gradient reduce") ||
                               communicator.name.starts_with("parameter gather");
    EXPECT_DOUBLE_EQ(workload.plans[static_cast<std::size_t>(communicator.plan)].sent,
                     is_of_updates ? 1.0 / 1.5 : 1.0)
        << communicator.name;
  }
  EXPECT_EQ(workload.plans[static_cast<std::size_t>(workload.groups[0].paths[0])].sent, 1.0);
}

TEST_F(BuildWorkload, SoftwareMayMoveMoreThanTheGradientsWhereItSharesStatesOut) {
  strategy.sharding = Sharding::optimizer;
  const auto reduced = [&] {
    const BuiltWorkload job = built();
    Bytes sum;
    for (const Operation& operation : job.workload.programs[1].operations) {
      if (operation.kind == OperationKind::join) sum += operation.amount;
    }
    return sum;
  };
  const Bytes before = reduced();
  EXPECT_GT(before, Bytes(0.0));
  profile.kernel_families[strategy.kernel_family].gradient_traffic.value = 1.5;
  EXPECT_DOUBLE_EQ(reduced() / before, 1.5);
  strategy.sharding = Sharding::none;
  const Bytes whole = reduced();
  profile.kernel_families[strategy.kernel_family].gradient_traffic.value = 1.0;
  EXPECT_EQ(reduced(), whole);
}

// A NIC of 1 GB/s whose connections carry a tenth of that: two flows that meet there have a
// connection each, and a transfer alone no more than one.
TEST_F(BuildWorkload, ANicCarriesWhatItsConnectionsCarryTogether) {
  cluster.nic_bandwidth = "1 GB/s";
  cluster.fabric = R"({"kind": "single_switch", "transport": "tcp", "transport_costs":
      {"goodput": 1.0, "connection_bandwidth": "100 MB/s"}})";
  profile.kind = "published";
  EXPECT_DOUBLE_EQ(built().workload.nic_efficiency, 0.2);
}

// A tensor-parallel group over two nodes, whose place and exchanges are known the second time.
TEST_F(BuildWorkload, WhatIsKnownOfCollectivesIsTheSameAgain) {
  strategy.tensor_parallel = 8;
  strategy.context_parallel = 1;
  strategy.pipeline_parallel = 1;
  model = layers_of({.name = "small",
                     .layers = 2,
                     .hidden = 16,
                     .attention_heads = 8,
                     .kv_heads = 8,
                     .head_size = 2,
                     .ffn_hidden = 32,
                     .vocabulary = 16});
  const auto cluster_built = cluster_of(cluster.text());
  const Placement placement{.tensor = 8, .data = 2};
  KnownJobs known;
  const auto build = [&](KnownJobs* of) {
    return build_workload({model, strategy, profile, *cluster_built, placement, std::nullopt,
                           WorkloadExtent::whole, of})
        .workload;
  };
  const Workload plain = build(nullptr);
  for (int time = 0; time < 2; ++time) {
    const Workload again = build(&known);
    ASSERT_EQ(again.plans.size(), plain.plans.size());
    for (std::size_t i = 0; i < plain.plans.size(); ++i) {
      EXPECT_EQ(again.plans[i].latency, plain.plans[i].latency);
      EXPECT_EQ(again.plans[i].links.size(), plain.plans[i].links.size());
    }
    EXPECT_EQ(again.communicators.size(), plain.communicators.size());
  }
}

// What is known of one order of ranks, or of rings, says nothing of others.
TEST_F(BuildWorkload, WhatIsKnownOfAPlacementAndAnAlgorithmIsOfThoseAlone) {
  using enum ParallelDimension;
  const auto cluster_built = cluster_of(cluster.text());
  KnownJobs known;
  const auto plans = [&](std::vector<ParallelDimension> order, CollectiveAlgorithm algorithm,
                         KnownJobs* of) {
    const Placement placement{
        .order = std::move(order), .tensor = 2, .context = 2, .data = 2, .pipeline = 2};
    return build_workload({model, strategy, profile, *cluster_built, placement, algorithm,
                           WorkloadExtent::one_replica, of})
        .workload.plans;
  };
  const auto same = [](const auto& one, const auto& other) {
    return std::ranges::equal(one, other, [](const FlowPlan& left, const FlowPlan& right) {
      return left.latency == right.latency && left.rate_cap == right.rate_cap &&
             left.nic_rate == right.nic_rate;
    });
  };
  const std::vector<ParallelDimension> usual = {tensor, context, data, pipeline};
  const std::vector<ParallelDimension> turned = {tensor, pipeline, context, data};
  const auto rings = plans(usual, CollectiveAlgorithm::ring, &known);
  for (const auto& [order, algorithm] : {std::pair{turned, CollectiveAlgorithm::ring},
                                         std::pair{usual, CollectiveAlgorithm::tree}}) {
    const auto expected = plans(order, algorithm, nullptr);
    EXPECT_FALSE(same(rings, expected));
    EXPECT_TRUE(same(plans(order, algorithm, &known), expected));
  }
}

TEST_F(BuildWorkload, AShardedOptimizerHasAGatherBesides) {
  strategy.sharding = Sharding::optimizer;
  const Workload workload = built().workload;
  ASSERT_EQ(workload.communicators.size(), 4U);
  EXPECT_EQ(workload.communicators[0].kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(workload.communicators[1].kind, CollectiveKind::all_gather);
  EXPECT_EQ(workload.communicators[1].name, "parameter gather, stage 0");
}

TEST_F(BuildWorkload, CopiesOfShardedParametersReduceInsideAndBetweenThem) {
  // 16 ranks in four shard groups, a node each: replicas 0 to 3, 4 to 7, ... gather together, and
  // replicas 1, 5, 9 and 13 hold the same part.
  strategy = {.data_parallel = 16, .global_batch = 16, .sequence_length = 64};
  strategy.sharding = Sharding::full;
  strategy.shard_group = 4;
  const Workload workload = built().workload;
  ASSERT_EQ(workload.communicators.size(), 4U * 2U + 4U);
  const auto of = [&](std::size_t replica, std::string_view name) {
    return communicator_of(workload, replica, name);
  };
  EXPECT_EQ(of(0, kParameterGather), of(3, kParameterGather));
  EXPECT_NE(of(3, kParameterGather), of(4, kParameterGather));
  EXPECT_EQ(of(1, kReplicaReduce), of(13, kReplicaReduce));
  EXPECT_NE(of(1, kReplicaReduce), of(2, kReplicaReduce));
  const auto& inside = workload.communicators[static_cast<std::size_t>(of(4, kGradientReduce))];
  EXPECT_EQ(inside.kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(inside.members, 4);
  const auto& between = workload.communicators[static_cast<std::size_t>(of(1, kReplicaReduce))];
  EXPECT_EQ(between.name, "gradient reduce between copies, stage 0");
  EXPECT_EQ(between.members, 4);
}

TEST_F(BuildWorkload, GroupsThatShareOutTheOptimizerGatherApartAndReduceTogether) {
  // 16 ranks, groups of four in a node each: one all-reduce of gradients, as every group needs all
  // sums, and a gather a group, whose parameters do not leave the node.
  strategy = {.data_parallel = 16, .global_batch = 16, .sequence_length = 64};
  strategy.sharding = Sharding::optimizer;
  strategy.shard_group = 4;
  const Workload workload = built(CollectiveAlgorithm::ring).workload;
  ASSERT_EQ(workload.communicators.size(), 1U + 4U);
  const auto of = [&](std::size_t replica, std::string_view name) {
    return static_cast<std::size_t>(communicator_of(workload, replica, name));
  };
  EXPECT_EQ(of(0, kGradientReduce), of(15, kGradientReduce));
  const Communicator& reduce = workload.communicators[of(0, kGradientReduce)];
  EXPECT_EQ(reduce.kind, CollectiveKind::all_reduce);
  EXPECT_EQ(reduce.members, 16);
  EXPECT_EQ(of(4, kParameterGather), of(7, kParameterGather));
  EXPECT_NE(of(3, kParameterGather), of(4, kParameterGather));
  const Communicator& gather = workload.communicators[of(4, kParameterGather)];
  EXPECT_EQ(gather.members, 4);
  EXPECT_FALSE(workload.plans[static_cast<std::size_t>(gather.plan)].crosses_fabric);
  EXPECT_TRUE(workload.plans[static_cast<std::size_t>(reduce.plan)].crosses_fabric);
}

TEST_F(BuildWorkload, WholeTensorsAreReducedEverywhereAndBroadcast) {
  strategy.sharding = Sharding::optimizer;
  strategy.optimizer_shards = OptimizerShards::tensors;
  const Workload workload = built().workload;
  ASSERT_EQ(workload.communicators.size(), 4U);
  EXPECT_EQ(workload.communicators[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(workload.communicators[1].kind, CollectiveKind::broadcast);
}

TEST_F(BuildWorkload, AnOptimizerThatEveryRankHoldsWholeGathersNothing) {
  strategy = {.data_parallel = 16, .global_batch = 16, .sequence_length = 64};
  strategy.sharding = Sharding::optimizer;
  strategy.shard_group = 1;
  const Workload workload = built().workload;
  ASSERT_EQ(workload.communicators.size(), 1U);
  EXPECT_EQ(workload.communicators[0].kind, CollectiveKind::all_reduce);
}

TEST_F(BuildWorkload, ADoubledPipelineReducesOverTheStagesOpposite) {
  strategy.schedule = schedule_named("dualpipe");
  strategy.global_batch = 16;
  const Workload workload = built().workload;
  ASSERT_EQ(workload.communicators.size(), 2U);
  EXPECT_EQ(workload.communicators[0].members, 4);  // two replicas of stages 0 and 1
  for (const std::size_t stage : {0, 1}) {
    const auto own = static_cast<std::int32_t>(stage);
    EXPECT_EQ(communicator_of(workload, stage, kGradientReduce), own);
    EXPECT_EQ(communicator_of(workload, stage, of_other_copy(kGradientReduce)), 1 - own);
  }
}

TEST_F(BuildWorkload, ADoubledPipelineReducesItsExpertsOverTheStagesOpposite) {
  TransformerModel fields = thousand_parameter_fields(4);
  fields.mixture_of_experts =
      MixtureOfExperts{.experts = 4, .experts_per_token = 1, .expert_hidden = 5};
  model = layers_of(fields);
  ExpertCosts costs;
  costs.exchange_scale_up = costs.exchange_scale_out = {1.0};
  profile.experts = costs;
  strategy.schedule = schedule_named("dualpipe");
  strategy.sequence_parallel = true;
  strategy.expert_parallel = 2;
  strategy.global_batch = 16;
  const Workload workload = built().workload;
  const auto at = [&](std::size_t stage, std::string_view name) {
    return communicator_of(workload, stage, name);
  };
  for (const std::size_t stage : {0, 1}) {
    EXPECT_EQ(at(stage, of_other_copy(kExpertReduce)), at(1 - stage, kExpertReduce));
    const auto id = static_cast<std::size_t>(at(stage, kExpertReduce));
    EXPECT_EQ(workload.communicators[id].name,
              fmt::format("expert gradient reduce, stage {}", stage));
    EXPECT_EQ(workload.communicators[id].members, 4);  // two replicas of stages 0 and 1
  }
}

TEST_F(BuildWorkload, ATiedEmbeddingJoinsTheEndsOfEachReplica) {
  model.tied = true;
  const Workload workload = built().workload;
  ASSERT_EQ(workload.communicators.size(), 4U);
  EXPECT_EQ(workload.communicators[3].name, "tied embedding, replica 1");
  EXPECT_EQ(workload.communicators[3].members, 2);
  EXPECT_EQ(communicator_of(workload, 2, kTiedEmbedding), 3);
  EXPECT_EQ(communicator_of(workload, 3, kTiedEmbedding), 3);
}

TEST_F(BuildWorkload, StagesTransferByTheNicsOfTheirRanks) {
  // Four senders to four receivers in another node, NIC by NIC: eight links of weight 1.
  const Workload workload = built().workload;
  ASSERT_EQ(workload.groups[0].paths.size(), 2U);
  const FlowPlan& plan =
      workload.plans[static_cast<std::size_t>(workload.groups[0].paths[kPathToNext])];
  EXPECT_EQ(plan.links.size(), 8U);
  for (const LinkLoad& load : plan.links) EXPECT_EQ(load.weight, 1.0);
}

TEST_F(BuildWorkload, ASingleStageNeedsNoPaths) {
  strategy.pipeline_parallel = 1;
  const Workload workload = built().workload;
  for (const RankGroup& group : workload.groups) EXPECT_THAT(group.paths, IsEmpty());
}

/// Which of its ways the first gradients take: ring, then tree, where both are to choose from.
std::int32_t first_reduce_way(const Workload& workload) {
  for (const Operation& operation : workload.programs.front().operations) {
    const bool reduces = operation.kind == OperationKind::join &&
                         operation.path == workload.programs.front().place_of(kGradientReduce);
    if (reduces) return operation.way;
  }
  return -1;
}

TEST_F(BuildWorkload, TheFasterAlgorithmReducesUnlessOneIsNamed) {
  // 64 nodes of one accelerator. A ring of 64 takes 126 steps of 2 us and moves 63/32 messages, a
  // double tree 12 steps and 2 messages: the ring wins from 228 us x 50 GB/s x 32 = 365 MB on, and
  // the gradients of this model, in one message, are smaller.
  strategy = {.data_parallel = 64, .global_batch = 64, .sequence_length = 64};
  cluster = {.nodes = 64};
  EXPECT_EQ(first_reduce_way(built().workload), 1);
  EXPECT_EQ(first_reduce_way(built(CollectiveAlgorithm::ring).workload), 0);
  strategy.sharding = Sharding::optimizer;  // a reduce-scatter has no tree
  EXPECT_EQ(first_reduce_way(built().workload), 0);
}

TEST_F(BuildWorkload, WaysThatNobodyTakesLoadNoLinks) {
  strategy = {.data_parallel = 64, .global_batch = 64, .sequence_length = 64};
  cluster = {.nodes = 64};
  const Workload workload = built().workload;
  const Communicator& reduce = workload.communicators.front();
  EXPECT_TRUE(workload.plans[static_cast<std::size_t>(reduce.plan)].links.empty());
  EXPECT_FALSE(workload.plans[static_cast<std::size_t>(reduce.plan) + 1].links.empty());
}

TEST_F(BuildWorkload, ExchangesBeyondADomainHaveCommunicators) {
  strategy.tensor_parallel = 8;
  strategy.context_parallel = 1;
  strategy.pipeline_parallel = 1;
  const Workload workload = built().workload;
  const Communicator& exchange = workload.communicators.back();
  EXPECT_EQ(exchange.name, "tensor exchange, stage 0");
  EXPECT_EQ(exchange.members, 1);
  EXPECT_EQ(exchange.cause, Cause::tensor_parallel);
  EXPECT_TRUE(workload.notes.empty());
}

}  // namespace
}  // namespace headway
