#include "sim/programs/flows/nccl_costs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// Eight accelerators of 300 GB/s, NICs of 200 Gb/s behind PCIe that carries 24 GB/s.
NodeType node(bool reduces = false, HostProcessor processor = HostProcessor::amd) {
  NodeType type;
  type.accelerator = "a100-sxm-80gb";
  type.accelerators = 8;
  type.scale_up_bandwidth = 300_GBps;
  type.scale_up_reduces = reduces;
  type.processor = processor;
  type.nics = 8;
  type.nic_bandwidth = 25_GBps;
  type.nic_bus_bandwidth = 24_GBps;
  return type;
}

constexpr NcclPlace kTwoNodes{.domains = 2, .largest_domain = 8};

const NcclChoice& choice_of(const std::vector<NcclChoice>& choices, CollectiveAlgorithm algorithm,
                            NcclProtocol protocol) {
  const auto found = std::ranges::find_if(choices, [&](const NcclChoice& choice) {
    return choice.algorithm == algorithm && choice.protocol == protocol;
  });
  HEADWAY_CHECK(found != choices.end(), "no such choice");
  return *found;
}

TEST(NcclCosts, AnAllReduceRunsAsRingAndTreeAndWhereSwitchesReduceInThem) {
  EXPECT_EQ(nccl_choices(node(), CollectiveKind::all_reduce, kTwoNodes).size(), 6U);
  EXPECT_EQ(nccl_choices(node(true), CollectiveKind::all_reduce, kTwoNodes).size(), 7U);
  EXPECT_EQ(nccl_choices(node(true), CollectiveKind::all_gather, kTwoNodes).size(), 3U);
  EXPECT_EQ(nccl_choices(node(true), CollectiveKind::all_to_all, kTwoNodes).size(), 1U);
}

TEST(NcclCosts, ANicSendsNoMoreThanItsBusAndItsPacketsCarry) {
  const auto choices = nccl_choices(node(), CollectiveKind::all_reduce, kTwoNodes);
  const auto efficiency = [&](CollectiveAlgorithm algorithm, NcclProtocol protocol) {
    return choice_of(choices, algorithm, protocol).costs.scale_out_efficiency;
  };
  // 24 of 25 GB/s, 98 % of it data; half of that with LL, 92 % in a tree.
  EXPECT_DOUBLE_EQ(efficiency(CollectiveAlgorithm::ring, NcclProtocol::simple), 0.98 * 24 / 25);
  EXPECT_DOUBLE_EQ(efficiency(CollectiveAlgorithm::ring, NcclProtocol::ll), 0.98 * 0.5 * 24 / 25);
  EXPECT_DOUBLE_EQ(efficiency(CollectiveAlgorithm::tree, NcclProtocol::simple),
                   0.98 * 24 / 25 * 0.92);
}

TEST(NcclCosts, StepsOfARingTakeAsLongAsMessagesOfTheHost) {
  // On AMD 1.5 us for each with LL, and with Simple 2.8 more (3.4 less 0.6 of NCCL's latencies),
  // whose all-reduce takes 1.4 times that. NCCL counts 2 us, three of them with Simple.
  const auto amd = nccl_choices(node(), CollectiveKind::all_reduce, kTwoNodes);
  const auto& simple = choice_of(amd, CollectiveAlgorithm::ring, NcclProtocol::simple);
  const auto& ll = choice_of(amd, CollectiveAlgorithm::ring, NcclProtocol::ll);
  EXPECT_DOUBLE_EQ(ll.costs.scale_up_latency.count(), 1.5e-6);
  EXPECT_DOUBLE_EQ(ll.believed.scale_up_latency.count(), 2e-6);
  EXPECT_DOUBLE_EQ(simple.costs.scale_up_latency.count(), 1.4 * 4.3e-6);
  EXPECT_DOUBLE_EQ(simple.believed.scale_up_latency.count(), 1.4 * 6e-6);
  const auto gather = nccl_choices(node(), CollectiveKind::all_gather, kTwoNodes);
  EXPECT_DOUBLE_EQ(choice_of(gather, CollectiveAlgorithm::ring, NcclProtocol::simple)
                       .costs.scale_up_latency.count(),
                   4.3e-6);
  EXPECT_DOUBLE_EQ(choice_of(gather, CollectiveAlgorithm::ring, NcclProtocol::ll128)
                       .costs.scale_up_latency.count(),
                   2.8e-6);  // 1.3 more than with LL: 1.9 less 0.6
  const auto intel =
      nccl_choices(node(false, HostProcessor::intel), CollectiveKind::all_reduce, kTwoNodes);
  EXPECT_DOUBLE_EQ(choice_of(intel, CollectiveAlgorithm::ring, NcclProtocol::ll)
                       .believed.scale_up_latency.count(),
                   1e-6);
  // Inside one node there are no messages: 0.79 us, as fitted.
  const auto inside = nccl_choices(node(), CollectiveKind::all_reduce, {.largest_domain = 8});
  EXPECT_DOUBLE_EQ(
      choice_of(inside, CollectiveAlgorithm::ring, NcclProtocol::ll).costs.scale_up_latency.count(),
      0.79e-6);
}

TEST(NcclCosts, ARingOfSingleRanksTakesTheStepsOfATree) {
  const auto step = [](int largest_domain) {
    return nccl_choices(node(), CollectiveKind::all_gather,
                        {.domains = 2, .largest_domain = largest_domain})
        .front()
        .costs.scale_out_latency.count();
  };
  EXPECT_DOUBLE_EQ(step(1), 5.0e-6);  // of LL
  EXPECT_DOUBLE_EQ(step(2), 2.7e-6);
}

NodeType over(TransportKind transport) {
  NodeType type = node();
  type.transport = {.kind = transport, .costs = transport_costs(transport)};
  return type;
}

TEST(NcclCosts, ProtocolsNeedAnOrderWithinMessages) {
  const auto count = [](TransportKind transport) {
    return nccl_choices(over(transport), CollectiveKind::all_gather, kTwoNodes).size();
  };
  EXPECT_EQ(count(TransportKind::infiniband), 3U);
  EXPECT_EQ(count(TransportKind::efa), 3U);
  EXPECT_EQ(count(TransportKind::tcp), 2U);     // not LL128
  EXPECT_EQ(count(TransportKind::efa_v1), 1U);  // Simple alone
  // Inside a node nothing crosses the fabric.
  EXPECT_EQ(
      nccl_choices(over(TransportKind::efa_v1), CollectiveKind::all_gather, {.largest_domain = 8})
          .size(),
      3U);
  EXPECT_FALSE(knows_nccl_over(TransportKind::other));
}

TEST(NcclCosts, AStepComesLaterByWhatAMessageOfTheTransportTakes) {
  const auto later = [](TransportKind transport, NcclProtocol protocol) {
    const auto step = [&](const NodeType& type) {
      return choice_of(nccl_choices(type, CollectiveKind::all_gather, kTwoNodes),
                       CollectiveAlgorithm::ring, protocol)
          .costs.scale_out_latency.count();
    };
    return step(over(transport)) - step(over(TransportKind::infiniband));
  };
  EXPECT_NEAR(later(TransportKind::efa, NcclProtocol::ll), 17e-6, 1e-12);
  EXPECT_NEAR(later(TransportKind::efa, NcclProtocol::simple), 51e-6, 1e-12);
  EXPECT_NEAR(later(TransportKind::tcp, NcclProtocol::ll), 18e-6, 1e-12);
  EXPECT_NEAR(later(TransportKind::slingshot, NcclProtocol::ll), 0.0, 1e-12);
  EXPECT_NEAR(later(TransportKind::slingshot, NcclProtocol::simple), 65e-6, 1e-12);
  // NCCL does not know of it.
  const auto choices =
      nccl_choices(over(TransportKind::tcp), CollectiveKind::all_gather, kTwoNodes);
  EXPECT_DOUBLE_EQ(choices.front().believed.scale_out_latency.count(), 2.7e-6);
}

TEST(NcclCosts, StepsOfTreesComeLaterAsMuch) {
  const auto later = [](CollectiveKind kind, const NcclPlace& place, CollectiveAlgorithm algorithm,
                        NcclProtocol protocol) {
    const auto step = [&](TransportKind transport) {
      NodeType type = over(transport);
      type.scale_up_reduces = true;
      return choice_of(nccl_choices(type, kind, place), algorithm, protocol)
          .costs.scale_out_latency.count();
    };
    return step(TransportKind::efa) - step(TransportKind::infiniband);
  };
  const auto reducing = [&](CollectiveAlgorithm algorithm, NcclProtocol protocol) {
    return later(CollectiveKind::all_reduce, kTwoNodes, algorithm, protocol);
  };
  EXPECT_NEAR(reducing(CollectiveAlgorithm::tree, NcclProtocol::ll), 17e-6, 1e-12);
  EXPECT_NEAR(reducing(CollectiveAlgorithm::tree, NcclProtocol::simple), 51e-6, 1e-12);
  EXPECT_NEAR(reducing(CollectiveAlgorithm::nvls, NcclProtocol::simple), 51e-6, 1e-12);
  EXPECT_NEAR(later(CollectiveKind::all_gather, {.domains = 2, .largest_domain = 1},
                    CollectiveAlgorithm::pat, NcclProtocol::simple),
              51e-6, 1e-12);
}

TEST(NcclCosts, TheProtocolOfLinesTakesLongerToBeginOverTheNetwork) {
  // 14.0 us less LL's 6.6.
  const auto choices = nccl_choices(node(), CollectiveKind::all_gather, kTwoNodes);
  const auto more = [&](NcclProtocol protocol) {
    const NetworkCosts& costs = choice_of(choices, CollectiveAlgorithm::ring, protocol).costs;
    return (costs.scale_out_overhead - costs.scale_up_overhead).count();
  };
  EXPECT_NEAR(more(NcclProtocol::ll128), 7.4e-6, 1e-12);
  EXPECT_NEAR(more(NcclProtocol::ll), 0.0, 1e-12);
  // Simple does wherever it runs, by what tables of one node say.
  const auto inside = [&](NcclProtocol protocol) {
    return choice_of(choices, CollectiveAlgorithm::ring, protocol).costs.scale_up_overhead;
  };
  const Seconds simple = nccl_node_costs("a100-sxm-80gb")->simple_overhead;
  EXPECT_GT(simple, Seconds(0.0));
  EXPECT_NEAR((inside(NcclProtocol::simple) - inside(NcclProtocol::ll)).count(), simple.count(),
              1e-15);
}

TEST(NcclCosts, ASocketCarriesNoMoreThanACoreCopies) {
  const auto share = [](CollectiveKind kind) {
    return nccl_choices(over(TransportKind::tcp), kind, kTwoNodes)
        .back()
        .costs.scale_out_efficiency;
  };
  // 1.7 of 25 GB/s; to many peers over two of them.
  EXPECT_DOUBLE_EQ(share(CollectiveKind::all_gather), 1.7 / 25);
  EXPECT_DOUBLE_EQ(share(CollectiveKind::all_to_all), 2 * 1.7 / 25);
  NodeType slow = over(TransportKind::tcp);
  slow.nic_bandwidth = 1.25_GBps;
  slow.nic_bus_bandwidth = 1.25_GBps;
  EXPECT_DOUBLE_EQ(
      nccl_choices(slow, CollectiveKind::all_gather, kTwoNodes).back().costs.scale_out_efficiency,
      1460.0 / 1538);
}

TEST(NcclCosts, MessagesToManyPeersAreSlowerOnSomeTransports) {
  // 0.53 of 0.75, behind PCIe of 24 of 25 GB/s; a socket takes 6 us more to post to than 2.
  const auto messages = [](TransportKind transport) {
    return nccl_choices(over(transport), CollectiveKind::all_to_all, kTwoNodes).front().costs;
  };
  EXPECT_NEAR(messages(TransportKind::slingshot).scale_out_efficiency, 0.53 * 0.75 * 24 / 25,
              1e-12);
  EXPECT_NEAR(messages(TransportKind::tcp).message_overhead->count(), 8e-6, 1e-12);
  EXPECT_NEAR(messages(TransportKind::infiniband).message_overhead->count(), 2e-6, 1e-12);
}

TEST(NcclCosts, ATreeIsBoundByTheChannelsOfItsNics) {
  // Two NICs of a node of A100: two channels of 23.6 GB/s over two nodes, of 17.8 over more.
  NodeType two_nics = node();
  two_nics.nics = 2;
  const auto share = [&](int domains) {
    return choice_of(nccl_choices(two_nics, CollectiveKind::all_reduce,
                                  {.domains = domains, .largest_domain = 8}),
                     CollectiveAlgorithm::tree, NcclProtocol::simple)
        .costs.scale_up_efficiency;
  };
  EXPECT_DOUBLE_EQ(share(2), 2 * 23.6 / 300);
  EXPECT_DOUBLE_EQ(share(3), 2 * 17.8 / 300);
  // Two accelerators of a node use their own two of eight NICs.
  EXPECT_DOUBLE_EQ(choice_of(nccl_choices(node(), CollectiveKind::all_reduce,
                                          {.domains = 2, .largest_domain = 2}),
                             CollectiveAlgorithm::tree, NcclProtocol::simple)
                       .costs.scale_up_efficiency,
                   2 * 23.6 / 300);
  // Eight would carry 188.8 GB/s, a little less than a ring inside the node.
  EXPECT_DOUBLE_EQ(choice_of(nccl_choices(node(), CollectiveKind::all_reduce, kTwoNodes),
                             CollectiveAlgorithm::tree, NcclProtocol::simple)
                       .costs.scale_up_efficiency,
                   188.8 / 300);
}

TEST(NcclCosts, LowLatencyIsBoundByTheHostOverSeveralNodes) {
  // 22.5 GB/s on AMD at two nodes; alone 40 % of a ring's 63 % of 300 GB/s.
  const auto two = nccl_choices(node(), CollectiveKind::all_gather, kTwoNodes);
  EXPECT_DOUBLE_EQ(
      choice_of(two, CollectiveAlgorithm::ring, NcclProtocol::ll).costs.scale_up_efficiency,
      22.5 / 300.0);
  const auto one = nccl_choices(node(), CollectiveKind::all_gather, {.largest_domain = 8});
  EXPECT_DOUBLE_EQ(
      choice_of(one, CollectiveAlgorithm::ring, NcclProtocol::ll).costs.scale_up_efficiency,
      0.4 * 189.5 / 300.0);
}

TEST(NcclCosts, LinesAreFasterWhereNicsBoundThemAndTreesTakeTheirStep) {
  // Over nodes LL128 has 60 % of a ring's 189.5 GB/s, inside one 40 % as LL; NCCL counts the same
  // either way. A step of a tree inside a node takes 0.65 us more with it than with LL.
  const auto two = nccl_choices(node(), CollectiveKind::all_reduce, kTwoNodes);
  const auto one = nccl_choices(node(), CollectiveKind::all_reduce, {.largest_domain = 8});
  const auto& ring = choice_of(two, CollectiveAlgorithm::ring, NcclProtocol::ll128);
  EXPECT_DOUBLE_EQ(ring.costs.scale_up_efficiency, 0.6 * 189.5 / 300.0);
  EXPECT_DOUBLE_EQ(ring.believed.scale_up_efficiency, 0.4 * 189.5 / 300.0);
  EXPECT_DOUBLE_EQ(
      choice_of(one, CollectiveAlgorithm::ring, NcclProtocol::ll128).costs.scale_up_efficiency,
      0.4 * 189.5 / 300.0);
  const auto step = [&](NcclProtocol protocol) {
    return choice_of(two, CollectiveAlgorithm::tree, protocol).costs.scale_up_latency.count();
  };
  EXPECT_NEAR(step(NcclProtocol::ll128) - step(NcclProtocol::ll), 0.65e-6, 1e-12);
  EXPECT_NEAR(step(NcclProtocol::simple) - step(NcclProtocol::ll), 0.0, 1e-12);
}

TEST(NcclCosts, SwitchesThatReduceAreJoinedByTreesOfTheirOwn) {
  // Steps of 14 us of a tree between nodes, 92 % of what PCIe leaves of the NICs, the switches' own
  // rate inside and their overhead on top.
  NodeType h100 = node(true);
  h100.accelerator = "h100-sxm";
  h100.nic_bandwidth = 50_GBps;
  h100.nic_bus_bandwidth = 48_GBps;
  const auto nvls = [&](const NodeType& type) {
    return choice_of(nccl_choices(type, CollectiveKind::all_reduce, kTwoNodes),
                     CollectiveAlgorithm::nvls, NcclProtocol::simple)
        .costs;
  };
  const NcclNodeCosts& inside = *nccl_node_costs("h100-sxm");
  const NetworkCosts costs = nvls(h100);
  EXPECT_DOUBLE_EQ(costs.scale_out_latency.count(), 14e-6);
  EXPECT_DOUBLE_EQ(costs.scale_out_efficiency, 0.98 * 0.96 * 0.92);
  EXPECT_DOUBLE_EQ(costs.scale_up_efficiency, inside.switch_efficiency);
  EXPECT_DOUBLE_EQ(costs.scale_out_overhead.count(),
                   (inside.overhead + inside.switch_overhead).count());
  // Over EFA the step comes 51 us later; eight NICs of 100 GB/s have more than the 420 GB/s of what
  // trees between switches send.
  h100.transport = {.kind = TransportKind::efa, .costs = transport_costs(TransportKind::efa)};
  EXPECT_DOUBLE_EQ(nvls(h100).scale_out_latency.count(), 65e-6);
  h100.nic_bandwidth = 100_GBps;
  h100.nic_bus_bandwidth = 100_GBps;
  EXPECT_DOUBLE_EQ(nvls(h100).scale_out_efficiency, 0.98 * 420.0 / 800.0);
}

TEST(NcclCosts, GathersOfSingleRanksMayGoByParallelTrees) {
  const auto algorithms = [&](CollectiveKind kind, const NcclPlace& place) {
    int count = 0;
    for (const NcclChoice& choice : nccl_choices(node(), kind, place)) {
      if (choice.algorithm == CollectiveAlgorithm::pat) ++count;
    }
    return count;
  };
  const NcclPlace apart{.domains = 64, .largest_domain = 1};
  EXPECT_EQ(algorithms(CollectiveKind::all_gather, apart), 1);
  EXPECT_EQ(algorithms(CollectiveKind::reduce_scatter, apart), 1);
  EXPECT_EQ(algorithms(CollectiveKind::all_reduce, apart), 0);
  EXPECT_EQ(algorithms(CollectiveKind::all_gather, kTwoNodes), 0);
  EXPECT_EQ(algorithms(CollectiveKind::all_gather, {.largest_domain = 1}), 0);
  // Steps of 14 / 3.5 us, 2.8 us a rank on top, three quarters of a ring's rate.
  const auto choices = nccl_choices(node(), CollectiveKind::all_gather, apart);
  const auto& ring = choice_of(choices, CollectiveAlgorithm::ring, NcclProtocol::simple);
  const auto& trees = choice_of(choices, CollectiveAlgorithm::pat, NcclProtocol::simple);
  EXPECT_DOUBLE_EQ(trees.costs.scale_out_latency.count(), 4e-6);
  EXPECT_NEAR(trees.costs.scale_out_overhead.count() - ring.costs.scale_out_overhead.count(),
              64 * 2.8e-6, 1e-12);
  EXPECT_DOUBLE_EQ(trees.costs.scale_out_efficiency, 0.75 * ring.costs.scale_out_efficiency);
}

TEST(NcclCosts, ADomainOfSeveralNodesHasTheNicsOfAllOfThem) {
  // Nine accelerators stand on two nodes of two NICs, eight on one: channels of 23.6 GB/s each.
  NodeType two_nics = node();
  two_nics.nics = 2;
  const auto share = [&](int largest_domain) {
    return choice_of(nccl_choices(two_nics, CollectiveKind::all_reduce,
                                  {.domains = 2, .largest_domain = largest_domain}),
                     CollectiveAlgorithm::tree, NcclProtocol::simple)
        .costs.scale_up_efficiency;
  };
  EXPECT_DOUBLE_EQ(share(9), 4 * 23.6 / 300);
  EXPECT_DOUBLE_EQ(share(8), 2 * 23.6 / 300);
}

}  // namespace
}  // namespace headway
