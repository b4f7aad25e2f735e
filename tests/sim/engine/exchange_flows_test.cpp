#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/programs/build_workload.h"
#include "sim/programs/closed_form.h"
#include "sim/programs/joint_workload.h"
#include "sim/result/link_use.h"
#include "tests/sim/engine/single_iteration.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/random_job.h"

namespace headway {
namespace {

constexpr double kWithin = 1e-9;      // relative
constexpr double kNicRate = 50e9;     // bytes/s
constexpr double kExpertRate = 40e9;  // what software reaches of it with expert exchanges

/// Two layers of 1,000 channels, 1,024 tokens to a sequence, on nodes whose accelerators have a NIC
/// each. Exchanges take no latency, and are seen as a whole.
struct ExchangeJob {
  ExchangeJob() {
    profile.overlap.context_parallel_floor = estimate(1.0);
    profile.scale_out.latency = estimate(0.0);
    ExpertCosts costs;
    costs.grouped_efficiency = estimate(1.0);
    costs.grouped_half_rows = estimate(0.0);
    costs.permutation_bytes = estimate(0.0);
    costs.exchange_scale_up = estimate(1.0);
    costs.exchange_scale_out = estimate(kExpertRate / kNicRate);
    costs.exchange_overhead = estimate(0.0);
    costs.exchange_seen = estimate(1.0);
    costs.exchange_seen_overlapped = estimate(0.25);
    costs.layer_gap = estimate(0.0);
    costs.host_per_layer = estimate(0.0);
    profile.experts = costs;
    strategy.sequence_length = 1024;
    strategy.overlap_gradient_reduce = false;
  }

  /// Each token goes to four of so many experts, as many to every one.
  void add_experts(int ranks) {
    model.mixture_of_experts =
        MixtureOfExperts{.experts = ranks, .experts_per_token = 4, .expert_hidden = 500};
    strategy.expert_parallel = ranks;
  }
  void on_nodes(int nodes, int accelerators) {
    cluster_text.nodes = nodes;
    cluster_text.accelerators = cluster_text.nics = accelerators;
  }
  /// Leaf switches above so many nodes each, whose uplinks have 1/oversubscription of the rate.
  void on_racks(int nodes_a_rack, int oversubscription) {
    cluster_text.fabric = fmt::format(
        R"({{"kind": "clos", "attach": "rack", "nodes_per_unit": {}, "spine": {{}},
             "leaf": {{"oversubscription": {}}}}})",
        nodes_a_rack, oversubscription);
  }

  void build() {
    if (strategy.global_batch == 1) strategy.global_batch = strategy.data_parallel;
    cluster = cluster_of(cluster_text.text());
    placement.tensor = strategy.tensor_parallel;
    placement.context = strategy.context_parallel;
    placement.data = strategy.data_parallel;
    placement.pipeline = strategy.pipeline_parallel;
    built = build_workload(
        {layers_of(model), strategy, profile, *cluster, placement, CollectiveAlgorithm::ring});
  }
  void simulate() {
    build();
    timeline = simulate_workload(built.workload, cluster->topology, perturbation);
  }
  [[nodiscard]] double closed_form() const {
    return closed_form_time(built.workload, cluster->topology).count();
  }
  /// How long each exchange of a communicator took, in order.
  [[nodiscard]] std::vector<double> times(std::size_t communicator) const {
    std::vector<double> lasted;
    for (const Timeline::Collective& each : timeline.collectives[communicator]) {
      lasted.push_back(each.end - each.last_join);
    }
    return lasted;
  }
  /// The communicators whose name begins so.
  [[nodiscard]] std::vector<std::size_t> named(std::string_view name) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < built.workload.communicators.size(); ++i) {
      if (built.workload.communicators[i].name.starts_with(name)) found.push_back(i);
    }
    return found;
  }
  /// Every exchange of that name lasts so long.
  void expect_each_takes(std::string_view name, double seconds) const {
    ASSERT_FALSE(named(name).empty());
    for (const std::size_t communicator : named(name)) {
      const std::vector<double> lasted = times(communicator);
      ASSERT_FALSE(lasted.empty());
      for (const double one : lasted) EXPECT_NEAR(one, seconds, kWithin * seconds);
    }
  }
  /// No link carries more than it can.
  void expect_links_suffice() const {
    const std::vector<double> bytes = bytes_by_link(built.workload, timeline, cluster->topology);
    for (LinkId link = 0; link < cluster->topology.link_count(); ++link) {
      const double least =
          bytes[static_cast<std::size_t>(link)] / cluster->topology.link(link).capacity.count();
      EXPECT_LE(least, timeline.finish * (1.0 + kWithin));
    }
  }

  TransformerModel model = {.layers = 2,
                            .hidden = 1000,
                            .attention_heads = 8,
                            .kv_heads = 8,
                            .head_size = 125,
                            .ffn_hidden = 4000,
                            .vocabulary = 1000};
  Strategy strategy;
  Profile profile = even_profile();
  ClusterText cluster_text = {.nodes = 2, .accelerators = 8, .nics = 8};
  Placement placement;
  Perturbation perturbation;
  std::shared_ptr<const Cluster> cluster;
  BuiltWorkload built;
  Timeline timeline;
};

/// Of 1,024 tokens and 4 experts a rank routes so many bytes, in each direction and layer.
constexpr double kRouted = 1024.0 * 4.0 * 2000.0;
/// There and back in the two layers of a pass.
constexpr double kPassRouted = 2.0 * 2.0 * kRouted;
/// What tensor-parallel ranks of 16 send around their ring in a pass: 2 x 15/16 of the input, for
/// attention and for the MLP, in two layers.
constexpr double kPassReduced = 2.0 * 2.0 * 2.0 * 15.0 / 16.0 * 1024.0 * 1000.0 * 2.0;

class ExchangeFlows : public testing::Test {
 protected:
  ExchangeJob job;
};

TEST_F(ExchangeFlows, ExpertsTakeWhatNicsNeedOnAnIdleFabric) {
  job.add_experts(16);
  job.strategy.data_parallel = 16;
  job.simulate();
  // Half of the tokens are for the other node.
  job.expect_each_takes("expert exchange", 0.5 * kPassRouted / kExpertRate);
  EXPECT_NEAR(job.timeline.finish / job.closed_form(), 1.0, kWithin);
}

TEST_F(ExchangeFlows, WhatHidesGoesBesideTheCompute) {
  job.add_experts(16);
  job.strategy.data_parallel = 16;
  job.strategy.overlap_expert_exchange = true;
  job.simulate();
  const std::vector<double> times = job.times(job.named("expert exchange").front());
  ASSERT_EQ(times.size(), 4U);  // hidden, seen; forward, backward
  EXPECT_NEAR(times[0], 0.75 * 0.5 * kPassRouted / kExpertRate, 1e-12);
  EXPECT_NEAR(times[1], 0.25 * 0.5 * kPassRouted / kExpertRate, 1e-12);
  EXPECT_NEAR(job.timeline.finish / job.closed_form(), 1.0, kWithin);
}

TEST_F(ExchangeFlows, AnOversubscribedRackIsAsLongBusyAsItsBytesTake) {
  // Sixteen accelerators on eight nodes of two in two racks. A rank sends 8/16 of its bytes to the
  // other rack: eight ranks by uplinks with the rate of two NICs.
  job.on_nodes(8, 2);
  job.on_racks(4, 4);
  job.add_experts(16);
  job.strategy.data_parallel = 16;
  job.simulate();
  job.expect_each_takes("expert exchange", 8.0 * 0.5 * kPassRouted / (2.0 * kNicRate));
  job.expect_links_suffice();
}

/// The cable of a NIC at a tenth of its rate: for a while, and as a fault of the topology.
struct SlowCable {
  explicit SlowCable(const ExchangeJob& sound, std::size_t nic = 0) : episode(sound), fault(sound) {
    episode.build();
    const Topology& topology = episode.cluster->topology;
    const VertexId port = episode.cluster->endpoints[nic];
    for (const LinkId link : topology.links_from(port)) {
      for (const LinkId way : {link, Topology::reverse(link)}) {
        episode.perturbation.link_episodes.push_back({.link = way, .bandwidth_factor = 0.1});
      }
      fault.cluster_text.fabric.pop_back();
      fault.cluster_text.fabric +=
          fmt::format(R"(}}, "faults": [{{"cable": ["{}", "{}"], "bandwidth": "5 GB/s"}}])",
                      topology.name(port), topology.name(topology.link(link).to));
    }
    episode.simulate();
    fault.simulate();
  }
  void expect_each_takes(std::string_view name, double seconds) const {
    episode.expect_each_takes(name, seconds);
    fault.expect_each_takes(name, seconds);
    EXPECT_NEAR(episode.timeline.finish / fault.timeline.finish, 1.0, kWithin);
  }

  ExchangeJob episode;
  ExchangeJob fault;
};

TEST_F(ExchangeFlows, ASlowCableHoldsUpExpertsWhateverMakesItSlow) {
  job.add_experts(16);
  job.strategy.data_parallel = 16;
  SlowCable(job).expect_each_takes("expert exchange", 0.5 * kPassRouted / (0.1 * kNicRate));
}

TEST_F(ExchangeFlows, ASlowCableHoldsUpTensorParallelRings) {
  // Eight rings of an eighth of the bytes.
  job.strategy.tensor_parallel = 16;
  job.model.attention_heads = job.model.kv_heads = 16;
  SlowCable(job).expect_each_takes("tensor exchange", kPassReduced / 8.0 / (0.1 * kNicRate));
}

TEST_F(ExchangeFlows, ASlowCableHoldsUpRingAttention) {
  // 64 tokens' keys and values of 1,000 channels go 15 times round, backward 30; the ring comes
  // into the first node at its first rank.
  job.strategy.context_parallel = 16;
  const SlowCable slow(job);
  const double forward = 2.0 * 15.0 * (64.0 * 1000.0 * 2.0 * 2.0) / (0.1 * kNicRate);
  for (const ExchangeJob* each : {&slow.episode, &slow.fault}) {
    const std::vector<double> times = each->times(each->named("context exchange").front());
    ASSERT_EQ(times.size(), 2U);
    EXPECT_NEAR(times[0], forward, kWithin * forward);
    EXPECT_NEAR(times[1], 2.0 * forward, kWithin * forward);
  }
  EXPECT_NEAR(slow.episode.timeline.finish / slow.fault.timeline.finish, 1.0, kWithin);
}

TEST_F(ExchangeFlows, RanksThatAreScatteredStandAsOnSmallerNodes) {
  // Eight tensor-parallel ranks on four nodes, two on each: four apart on nodes of eight, or side
  // by side on nodes of two.
  job.model.layers = 4;
  job.strategy.tensor_parallel = 8;
  job.strategy.pipeline_parallel = 4;
  ExchangeJob small = job;
  job.on_nodes(4, 8);
  job.placement.order = {ParallelDimension::pipeline, ParallelDimension::context,
                         ParallelDimension::data, ParallelDimension::tensor};
  small.on_nodes(16, 2);
  job.simulate();
  small.simulate();
  // A layer a stage; two rings of half of 2 x 7/8 of the input each, twice.
  const double pass = 2.0 * 2.0 * 7.0 / 8.0 * 1024.0 * 1000.0 * 2.0 / 2.0 / kNicRate;
  job.expect_each_takes("tensor exchange", pass);
  small.expect_each_takes("tensor exchange", pass);
}

TEST_F(ExchangeFlows, GroupsThatStraddleARackOf72WaitForTheSmallerPart) {
  struct Case {
    int experts;
    double outside;  ///< of what the ranks of the smaller part send and get
  };
  for (const Case& each : {Case{16, 8.0 / 16.0}, Case{32, 24.0 / 32.0}, Case{64, 56.0 / 64.0},
                           Case{128, 72.0 / 128.0}}) {
    ExchangeJob straddling = job;
    straddling.on_nodes(2, 72);
    straddling.add_experts(each.experts);
    straddling.strategy.data_parallel = 128;
    straddling.simulate();
    // All groups but one stay inside a rack.
    ASSERT_EQ(straddling.named("expert exchange").size(), 1U) << each.experts;
    straddling.expect_each_takes("expert exchange", each.outside * kPassRouted / kExpertRate);
    // Gradients of experts and of everything else share the NICs, which serve one after the other
    // in the closed form.
    const double known = straddling.closed_form();
    EXPECT_GE(straddling.timeline.finish, known * (1.0 - kWithin)) << each.experts;
    EXPECT_LE(straddling.timeline.finish, 1.03 * known) << each.experts;
  }
}

TEST_F(ExchangeFlows, TensorAndContextGroupsStraddleARackOf72) {
  job.on_nodes(2, 72);
  job.strategy.data_parallel = 9;
  job.model.attention_heads = job.model.kv_heads = 16;
  ExchangeJob context = job;
  job.strategy.tensor_parallel = 16;
  job.simulate();
  // The group of ranks 64 to 79: eight rings.
  ASSERT_EQ(job.named("tensor exchange").size(), 1U);
  job.expect_each_takes("tensor exchange", kPassReduced / 8.0 / kNicRate);

  context.strategy.context_parallel = 16;
  context.simulate();
  ASSERT_EQ(context.named("context exchange").size(), 1U);
  const std::vector<double> times = context.times(context.named("context exchange").front());
  const double forward = 2.0 * 15.0 * (64.0 * 16.0 * 125.0 * 2.0 * 2.0) / kNicRate;
  EXPECT_NEAR(times.at(0), forward, kWithin * forward);
}

TEST_F(ExchangeFlows, TwoJobsOnOneFullUplinkHaveHalfOfItEach) {
  // Racks of four nodes of two; each job has eight accelerators, four below the middle rack. The
  // uplinks carry 4/8 of what four ranks send, with the rate of one NIC at 8:1.
  job.on_nodes(12, 2);
  job.on_racks(4, 8);
  job.add_experts(8);
  job.strategy.data_parallel = 8;
  ExchangeJob other = job;
  job.placement.first_accelerator = 4;
  other.placement.first_accelerator = 12;
  job.simulate();
  const double alone = 4.0 * 0.5 * kPassRouted / kNicRate;
  job.expect_each_takes("expert exchange", alone);
  other.build();
  const JointPart parts[] = {{&job.built.workload, 1}, {&other.built.workload, 1}};
  const JointWorkload joint = joint_workload(parts);
  const Timeline together = simulate_workload(joint.workload, job.cluster->topology, {});
  for (std::size_t i = 0; i < joint.workload.communicators.size(); ++i) {
    if (!joint.workload.communicators[i].name.starts_with("expert exchange")) continue;
    for (const Timeline::Collective& each : together.collectives[i]) {
      EXPECT_NEAR(each.end - each.last_join, 2.0 * alone, kWithin * alone);
    }
  }
}

TEST_F(ExchangeFlows, TrafficOfOthersIsFeltByTensorParallelRanks) {
  // Eight NICs get as much of a flow of 320 GB/s as of the rings: of each 50 GB/s, 25.
  job.strategy.tensor_parallel = 16;
  job.model.attention_heads = job.model.kv_heads = 16;
  job.on_nodes(3, 8);
  job.build();
  std::vector<std::int32_t> senders;
  std::vector<std::int32_t> receivers;
  for (std::int32_t i = 0; i < 8; ++i) {
    senders.push_back(16 + i);
    receivers.push_back(i);
  }
  BackgroundFlow others{.plan =
                            transfer_plan(*job.cluster, ideal_network_costs(job.cluster->node_type),
                                          senders, receivers)};
  others.plan.rate_cap = 40_GBps;
  job.perturbation.background.push_back(others);
  job.simulate();
  job.expect_each_takes("tensor exchange", kPassReduced / 8.0 / (0.5 * kNicRate));
}

TEST_F(ExchangeFlows, OneSlowCableIsFeltByTheStageThatUsesIt) {
  // Eight stages of 16 ranks, 16 micro-batches of one sequence: the last one, which has the slow
  // cable, sets the pace; the others are gone through once. Tokens go to all experts, so that what
  // stages send each other is little beside it.
  job.model.layers = 8;
  job.add_experts(16);
  job.model.mixture_of_experts->experts_per_token = 16;
  job.strategy.pipeline_parallel = 8;
  job.strategy.data_parallel = 16;
  job.strategy.global_batch = 16 * 16;
  job.on_nodes(16, 8);
  job.simulate();
  const double even = job.timeline.finish;
  const double crossing = 4.0 * 0.5 * kPassRouted / 2.0;  // of the one layer of a pass
  const SlowCable slow(job, 14 * 8);
  const double longer = crossing / (0.1 * kNicRate) - crossing / kExpertRate;
  EXPECT_NEAR(slow.episode.timeline.finish - even, 32.0 * longer, 0.05 * 32.0 * longer);
}

TEST_F(ExchangeFlows, NoLinkCarriesMoreThanItCanOfRandomJobs) {
  int crossing = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const RandomJob random = random_job(seed);
    const Workload workload = random.workload();
    for (const Communicator& communicator : workload.communicators) {
      if (is_exchange(communicator)) ++crossing;
    }
    const Topology& topology = random.cluster->topology;
    const Timeline timeline = simulate_workload(workload, topology, random.perturbation);
    const std::vector<double> bytes = bytes_by_link(workload, timeline, topology);
    for (LinkId link = 0; link < topology.link_count(); ++link) {
      const double least =
          bytes[static_cast<std::size_t>(link)] / topology.link(link).capacity.count();
      EXPECT_LE(least, timeline.finish * (1.0 + kWithin)) << "seed " << seed;
    }
  }
  EXPECT_GT(crossing, 20);
}

}  // namespace
}  // namespace headway
