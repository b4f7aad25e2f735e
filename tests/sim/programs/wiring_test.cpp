// Whether what programs name is what is there: ways lead to whom they say, communicators have as
// many members as join them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/programs/build_workload.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"
#include "tests/support/small_job.h"
#include "tests/support/synchronisation_reading.h"

namespace headway {
namespace {

/// Nodes of one accelerator around a switch: link 2 i leaves node i, link 2 i + 1 reaches it.
Workload workload_of(const Strategy& strategy, int layers,
                     const std::optional<MixtureOfExperts>& mixture = std::nullopt) {
  TransformerModel fields = thousand_parameter_fields(layers, 10);
  fields.mixture_of_experts = mixture;
  Profile profile = round_profile();
  if (mixture) profile.experts.emplace();
  const int ranks = strategy.pipeline_parallel * strategy.data_parallel;
  const Placement placement{.data = strategy.data_parallel, .pipeline = strategy.pipeline_parallel};
  return build_workload({layers_of(fields), strategy, profile,
                         *cluster_of(ClusterText{.nodes = ranks}.text()), placement, std::nullopt})
      .workload;
}

bool loads(const FlowPlan& plan, std::int32_t link) {
  return std::ranges::any_of(plan.links, [&](const LinkLoad& load) { return load.link == link; });
}

void expect_ways_lead_to_peers(const Workload& workload) {
  int sent = 0;
  for (std::size_t id = 0; id < workload.groups.size(); ++id) {
    const RankGroup& group = workload.groups[id];
    for (const Operation& operation :
         workload.programs[static_cast<std::size_t>(group.program)].operations) {
      if (operation.kind != OperationKind::send) continue;
      ++sent;
      const RankGroup& peer = workload.groups.at(id + static_cast<std::size_t>(operation.peer));
      EXPECT_EQ(peer.replica, group.replica);
      const FlowPlan& plan = workload.plans.at(
          static_cast<std::size_t>(group.paths.at(static_cast<std::size_t>(operation.path))));
      EXPECT_TRUE(loads(plan, 2 * group.accelerators.front())) << "from group " << id;
      EXPECT_TRUE(loads(plan, 2 * peer.accelerators.front() + 1)) << "from group " << id;
    }
  }
  EXPECT_GT(sent, 0);
}

void expect_as_many_members_as_join(const Workload& workload) {
  std::vector<int> joined(workload.communicators.size(), 0);
  for (const RankGroup& group : workload.groups) {
    for (const std::int32_t id : group.communicators) {
      if (id >= 0) ++joined.at(static_cast<std::size_t>(id));
    }
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const Communicator& communicator = workload.communicators[i];
    EXPECT_EQ(communicator.members, joined[i]) << communicator.name;
    EXPECT_GE(communicator.plan, 0);
    EXPECT_LT(communicator.plan, std::ssize(workload.plans)) << communicator.name;
  }
}

Strategy four_stages(std::string_view schedule, int virtual_stages) {
  Strategy strategy;
  strategy.pipeline_parallel = 4;
  strategy.data_parallel = 2;
  strategy.virtual_stages = virtual_stages;
  strategy.schedule = schedule_named(schedule);
  strategy.global_batch = 2 * 8;
  strategy.sequence_length = 64;
  return strategy;
}

TEST(Wiring, MessagesGoToTheStageBeforeAndTheOneBehind) {
  for (const auto& [schedule, chunks] : {std::pair{"gpipe", 1},
                                         {"1f1b", 1},
                                         {"1f1b", 2},
                                         {"zb_h1", 1},
                                         {"zb_v", 2},
                                         {"dualpipe", 1}}) {
    SCOPED_TRACE(schedule);
    const Workload workload = workload_of(four_stages(schedule, chunks), 8);
    expect_ways_lead_to_peers(workload);
    expect_as_many_members_as_join(workload);
  }
}

TEST(Wiring, CommunicatorsHaveTheirMembers) {
  Strategy strategy = four_stages("1f1b", 1);
  strategy.pipeline_parallel = 2;
  strategy.data_parallel = 6;
  strategy.global_batch = 6 * 4;
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::gradients}) {
    strategy.sharding = sharding;
    expect_as_many_members_as_join(workload_of(strategy, 4));
  }
  strategy.expert_parallel = 3;
  expect_as_many_members_as_join(workload_of(
      strategy, 4, MixtureOfExperts{.experts = 6, .experts_per_token = 1, .expert_hidden = 5}));
  strategy.expert_parallel = 1;
  strategy.sharding = Sharding::none;
  for (const char* scheme :
       {R"({"scheme": "local_steps", "islands": 2, "every": 10})",
        R"({"scheme": "local_steps", "islands": 6, "every": 10, "fragments": 2})"}) {
    strategy.synchronisation = synchronisation_of(scheme);
    expect_as_many_members_as_join(workload_of(strategy, 4));
  }
}

TEST(Wiring, IslandsAverageWhoHaveTheSamePlaceAndGatherInsideThem) {
  // Two islands of three replicas.
  Strategy strategy;
  strategy.data_parallel = 6;
  strategy.global_batch = 6;
  strategy.sequence_length = 64;
  strategy.synchronisation =
      synchronisation_of(R"({"scheme": "local_steps", "islands": 2, "every": 10})");
  const Workload workload = workload_of(strategy, 4);
  std::map<std::string, std::set<std::set<int>>> replicas;
  for (std::size_t id = 0; id < workload.communicators.size(); ++id) {
    std::set<int> members;
    for (const RankGroup& group : workload.groups) {
      const bool joins = std::ranges::count(group.communicators, static_cast<std::int32_t>(id)) > 0;
      if (joins) members.insert(group.replica);
    }
    replicas[workload.communicators[id].name].insert(members);
  }
  using Sets = std::set<std::set<int>>;
  EXPECT_EQ(replicas.at("average of islands, stage 0"), (Sets{{0, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(replicas.at("average in an island, stage 0"), (Sets{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(replicas.at("gradient reduce, stage 0"), (Sets{{0, 1, 2}, {3, 4, 5}}));
  for (const RankGroup& group : workload.groups) {
    EXPECT_EQ(group.local.steps, 10);
    EXPECT_EQ(group.local.place, group.replica % 3);
    EXPECT_TRUE(group.local.meets_others);
  }
}

TEST(Wiring, AnIslandOfOneRankGroupMeetsNobodyBetweenAverages) {
  Strategy strategy;
  strategy.data_parallel = 4;
  strategy.global_batch = 4;
  strategy.sequence_length = 64;
  strategy.synchronisation =
      synchronisation_of(R"({"scheme": "local_steps", "every": 10, "fragments": 2})");
  for (const RankGroup& group : workload_of(strategy, 4).groups) {
    EXPECT_EQ(group.local.steps, 5);
    EXPECT_FALSE(group.local.meets_others);
  }
  strategy.pipeline_parallel = 2;
  for (const RankGroup& group : workload_of(strategy, 4).groups) {
    EXPECT_TRUE(group.local.meets_others);
  }
}

}  // namespace
}  // namespace headway
