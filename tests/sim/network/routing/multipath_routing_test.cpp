#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "routes.h"
#include "sim/network/analysis/max_min_rates.h"
#include "tests/sim/network/read_text.h"

namespace headway {
namespace {

using testing::HasSubstr;

/// `leaves` leaves of `nics` single-NIC nodes under as many spines, none oversubscribed.
std::shared_ptr<const Cluster> two_tiers(int nics, int leaves, const std::string& routing) {
  return cluster_of(topology_text(
      nics * leaves, 1,
      fmt::format(R"({{"kind": "clos", "attach": "rack", "nodes_per_unit": {}, "leaf": {{}},
                      "spine": {{}}}})",
                  nics),
      R"(, "routing": )" + routing));
}

/// The load of each link when every endpoint sends `distance` places on. `flow` tells apart
/// connections of the same pairs.
std::vector<double> loads_of_shift(const Cluster& cluster, int distance, std::uint64_t flow = 0) {
  std::vector<double> loads(static_cast<std::size_t>(cluster.topology.link_count()), 0.0);
  const int endpoints = cluster.topology.endpoint_count();
  std::vector<LinkShare> route;
  for (VertexId from = 0; from < endpoints; ++from) {
    route.clear();
    cluster.routing->append_route(from, (from + distance) % endpoints, flow, route);
    for (const LinkShare& hop : route) loads[static_cast<std::size_t>(hop.link)] += hop.share;
  }
  return loads;
}

struct Collisions {
  double mean_use = 0.0;  ///< of a link between switches
  double worst = 0.0;     ///< load of the fullest one, averaged over draws
};

Collisions collisions(int nics, int leaves, int queue_pairs) {
  const int draws = std::clamp(400'000 / (nics * leaves * queue_pairs), 4, 3000);
  const auto cluster =
      two_tiers(nics, leaves, fmt::format(R"({{"kind": "ecmp", "queue_pairs": {}}})", queue_pairs));
  Collisions result;
  for (int draw = 0; draw < draws; ++draw) {
    double use = 0.0;
    double worst = 0.0;
    const std::vector<double> loads =
        loads_of_shift(*cluster, nics, static_cast<std::uint64_t>(draw));
    for (std::size_t link = 0; link < loads.size(); ++link) {
      const double load = loads[link];
      const Link& ends = cluster->topology.link(static_cast<LinkId>(link));
      if (!cluster->topology.is_switch(ends.from) || !cluster->topology.is_switch(ends.to)) {
        continue;
      }
      use += std::min(load, 1.0);
      worst = std::max(worst, load);
    }
    result.mean_use += use / (2.0 * nics * leaves) / draws;
    result.worst += worst / draws;
  }
  return result;
}

/// Monte-Carlo of hashing by another program: sub-flows pick a spine each, uniformly. With one
/// sub-flow the mean is 1 - 1/e in the limit.
struct Published {
  int nics;
  int leaves;
  int queue_pairs;
  double mean_use;
  double worst;
};
const Published kPublished[] = {
    {8, 2, 1, 0.66, 3.0},     {8, 2, 4, 0.82, 1.9},     {8, 2, 16, 0.91, 1.43},
    {8, 2, 64, 0.95, 1.22},   {32, 16, 1, 0.64, 5.0},   {32, 16, 4, 0.81, 2.8},
    {32, 16, 16, 0.90, 1.84}, {32, 16, 64, 0.95, 1.40}, {64, 32, 1, 0.64, 5.9},
    {64, 32, 4, 0.80, 3.1},   {64, 32, 16, 0.90, 1.93}, {64, 32, 64, 0.95, 1.46},
};

TEST(EcmpRouting, CollidesAsOftenAsHashingDoes) {
  for (const Published& row : kPublished) {
    SCOPED_TRACE(fmt::format("{} x {}, {} queue pairs", row.nics, row.leaves, row.queue_pairs));
    const Collisions found = collisions(row.nics, row.leaves, row.queue_pairs);
    EXPECT_NEAR(found.mean_use / row.mean_use, 1.0, 0.03) << found.mean_use;
    EXPECT_NEAR(found.worst / row.worst, 1.0, 0.03) << found.worst;
  }
}

TEST(EcmpRouting, AFlowIsSpreadOverItsQueuePairs) {
  const auto cluster = two_tiers(8, 2, R"({"kind": "ecmp", "queue_pairs": 4})");
  double sent = 0.0;
  double received = 0.0;
  for (const LinkShare& hop : route_of(*cluster, 0, 12)) {
    EXPECT_EQ(hop.share, 0.25);
    if (cluster->topology.link(hop.link).from == 0) sent += hop.share;
    if (cluster->topology.link(hop.link).to == 12) received += hop.share;
  }
  EXPECT_EQ(sent, 1.0);
  EXPECT_EQ(received, 1.0);
}

TEST(EcmpRouting, SeedsAndFlowsDrawAnewAndRepeat) {
  const auto one = two_tiers(32, 2, R"({"kind": "ecmp", "seed": 7})");
  const auto same = two_tiers(32, 2, R"({"kind": "ecmp", "seed": 7})");
  const auto other = two_tiers(32, 2, R"({"kind": "ecmp", "seed": 8})");
  int differ = 0;
  int flows_differ = 0;
  for (VertexId from = 0; from < 32; ++from) {
    EXPECT_EQ(route_of(*one, from, from + 32), route_of(*same, from, from + 32));
    differ += route_of(*one, from, from + 32) != route_of(*other, from, from + 32) ? 1 : 0;
    std::vector<LinkShare> second;
    one->routing->append_route(from, from + 32, 1, second);
    flows_differ += second != route_of(*one, from, from + 32) ? 1 : 0;
  }
  // Each has 31 chances in 32 to differ.
  EXPECT_GT(differ, 24);
  EXPECT_GT(flows_differ, 24);
}

TEST(EcmpRouting, PolarisedSwitchesRepeatTheirChoice) {
  // Three tiers of 4 and 4 ways up: the same function picks spine k, then core k again, so of 16
  // ways only 4 are ever taken. (2 pods of 4 leaves of 4 nodes.)
  const auto ways_taken = [](const std::string& routing) {
    const auto cluster = cluster_of(topology_text(
        32, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "units_per_pod": 4,
                   "leaf": {}, "spine": {}, "core": {}})",
        R"(, "routing": )" + routing));
    std::map<LinkId, int> up;
    for (VertexId from = 0; from < 4; ++from) {
      for (VertexId to = 16; to < 32; ++to) ++up[route_of(*cluster, from, to)[2].link];
    }
    return up.size();
  };
  EXPECT_EQ(ways_taken(R"({"kind": "ecmp", "polarised": true})"), 4U);
  // 64 draws of 16: one is missed with probability 16 (15/16)^64 = 26 %, two or more rarely.
  EXPECT_GE(ways_taken(R"({"kind": "ecmp"})"), 14U);
}

TEST(AdaptiveRouting, EveryLinkOfAFullShiftCarriesTheSame) {
  const auto cluster = two_tiers(8, 4, R"({"kind": "adaptive"})");
  for (const double load : loads_of_shift(*cluster, 8)) {
    EXPECT_NEAR(load, load > 0.0 ? 1.0 : 0.0, 1e-12);
  }
}

TEST(AdaptiveRouting, SlowCablesGetAsMuchLess) {
  // Of four spines one is reached by a cable of a quarter of the rate, seen from the first leaf
  // right behind it, from the second one behind the spine: 4/13 by each of the others, 1/13 by it.
  const auto cluster = cluster_of(topology_text(
      8, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "leaf": {}, "spine": {}})",
      R"(, "routing": {"kind": "adaptive"},
          "faults": [{"cable": ["leaf/unit0", "spine/1"], "bandwidth": "25 Gb/s"}])"));
  for (const auto& [from, to] : {std::pair(0, 7), std::pair(7, 0)}) {
    std::map<double, int> shares;
    for (const LinkShare& hop : route_of(*cluster, from, to)) ++shares[std::round(13 * hop.share)];
    EXPECT_EQ(shares, (std::map<double, int>{{13.0, 2}, {4.0, 6}, {1.0, 2}}));
  }
  for (const LinkShare& hop : route_of(*cluster, 0, 1)) EXPECT_EQ(hop.share, 1.0);
}

/// Nine groups of four switches with two endpoints each, every two groups joined by one cable.
std::shared_ptr<const Cluster> dragonfly(const std::string& routing) {
  return cluster_of(topology_text(
      72, 1, R"({"kind": "dragonfly", "switches_per_group": 4, "endpoints_per_switch": 2,
                 "global_cables_per_switch": 2})",
      R"(, "routing": )" + routing));
}

/// The shares of links that `flows` together load at the full rate of NICs, and on how many links.
std::map<double, int> relieved(const Cluster& cluster,
                               const std::vector<std::pair<VertexId, VertexId>>& flows) {
  std::map<LinkId, double> sums;
  for (const auto& [from, to] : flows) {
    for (const LinkShare& hop : route_of(cluster, from, to)) sums[hop.link] += hop.share;
  }
  std::vector<LinkShare> loads;
  for (const auto& [link, load] : sums) loads.push_back({.link = link, .share = load});
  EXPECT_TRUE(cluster.routing->sees_load());
  cluster.routing->relieve(cluster.topology, cluster.node_type.nic_bandwidth, loads);
  std::map<double, int> shares;
  for (const LinkShare& load : loads) ++shares[std::round(1000.0 * load.share) / 1000.0];
  return shares;
}

TEST(AdaptiveRouting, OfADragonflyFillsTheShortestPathsFirst) {
  const auto adaptive = dragonfly(R"({"kind": "adaptive"})");
  // One flow to the next switch has the cable; endpoint, cable, endpoint.
  EXPECT_EQ(relieved(*adaptive, {{0, 2}}), (std::map<double, int>{{1.0, 3}}));
  // Of two one goes by the cable, half of the other by each of the other two switches.
  EXPECT_EQ(relieved(*adaptive, {{0, 2}, {1, 3}}), (std::map<double, int>{{1.0, 5}, {0.5, 4}}));
  EXPECT_EQ(relieved(*dragonfly(R"({"kind": "valiant", "share": 0})"), {{0, 2}, {1, 3}}),
            (std::map<double, int>{{1.0, 5}, {0.5, 4}}));
}

TEST(AdaptiveRouting, OfADragonflyGoesAroundCrowdedCablesBetweenGroups) {
  // All eight endpoints of a group send to the next one, over one cable: seven of the eight go
  // through other groups, one each, and every cable between groups carries no more than one.
  const auto cluster = dragonfly(R"({"kind": "adaptive"})");
  std::vector<std::pair<VertexId, VertexId>> flows;
  for (VertexId from = 0; from < 8; ++from) flows.emplace_back(from, from + 8);
  const std::map<double, int> shares = relieved(*cluster, flows);
  EXPECT_LT(shares.rbegin()->first, 3.0);
}

TEST(AdaptiveRouting, FlowletsFillHalfOfTheLinksAndTheSlowestAThird) {
  // Of shifts that take 90 us where packets are spread: 176 in the mean, 269 in the slowest flow.
  const auto packets = two_tiers(8, 4, R"({"kind": "adaptive"})");
  EXPECT_EQ(packets->routing->efficiency(), 0.95);
  EXPECT_EQ(packets->routing->least_efficiency(), 0.95);
  const auto flowlets = two_tiers(8, 4, R"({"kind": "adaptive", "spread": "flowlets"})");
  EXPECT_DOUBLE_EQ(flowlets->routing->efficiency(), 90.0 / 176.0);
  EXPECT_DOUBLE_EQ(flowlets->routing->least_efficiency(), 90.0 / 269.0);
  const auto measured =
      two_tiers(8, 4, R"({"kind": "adaptive", "spread": "flowlets", "efficiency": 0.88})");
  EXPECT_DOUBLE_EQ(measured->routing->efficiency(), 0.88);
  EXPECT_DOUBLE_EQ(measured->routing->least_efficiency(), 0.88 * 176.0 / 269.0);
}

TEST(AdaptiveRouting, AFullShiftReachesTheEfficiency) {
  for (const double efficiency : {0.95, 0.98, 1.0}) {
    const auto cluster =
        two_tiers(8, 4, fmt::format(R"({{"kind": "adaptive", "efficiency": {}}})", efficiency));
    std::vector<std::vector<LinkShare>> routes;
    for (VertexId from = 0; from < 32; ++from) {
      routes.push_back(route_of(*cluster, from, (from + 8) % 32));
    }
    for (const BytesPerSecond rate :
         max_min_rates(cluster->topology, routes, cluster->routing->efficiency())) {
      EXPECT_NEAR(rate / 100_Gbps, efficiency, 1e-12);
    }
    // Alone, a flow has all spines for itself: its NIC is the limit.
    EXPECT_EQ(max_min_rates(cluster->topology, std::span(routes).first(1), efficiency)[0],
              100_Gbps);
  }
}

TEST(AdaptiveRouting, SpreadsOverThreeTiersAndBack) {
  // 4 spines, 4 cores each: 1/4 on each way to a spine, 1/16 on each to a core, then back.
  const auto cluster = cluster_of(topology_text(
      32, 1, R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "units_per_pod": 4,
                 "leaf": {}, "spine": {}, "core": {}})",
      R"(, "routing": {"kind": "adaptive"})"));
  std::map<double, int> links;
  for (const LinkShare& hop : route_of(*cluster, 0, 31)) ++links[hop.share];
  EXPECT_EQ(links, (std::map<double, int>{{1.0, 2}, {0.25, 8}, {0.0625, 32}}));
}

TEST(AdaptiveRouting, ClosedFormAndSearchAgree) {
  // A cable that is down makes it search; far from it nothing changes.
  const std::string clos = R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 2,
      "units_per_pod": 2, "leaf": {"uplinks": 4}, "spine": {"cables_per_pair": 2},
      "core": {"switches": 8}})";
  const std::string routing = R"(, "routing": {"kind": "adaptive"})";
  const auto closed = cluster_of(topology_text(12, 2, clos, routing));
  const auto searched = cluster_of(topology_text(
      12, 2, clos,
      routing + R"(, "faults": [{"cable": ["core/plane0/0", "spine/pod2/0"], "number": 0}])"));
  ASSERT_NE(closed, nullptr);
  ASSERT_NE(searched, nullptr);
  const auto shares = [](const Cluster& cluster, VertexId from, VertexId to) {
    std::map<LinkId, double> sums;
    for (const LinkShare& hop : route_of(cluster, from, to)) sums[hop.link] += hop.share;
    return sums;
  };
  for (VertexId from = 0; from < 16; ++from) {
    for (VertexId to = 0; to < 16; ++to) {
      EXPECT_EQ(shares(*closed, from, to), shares(*searched, from, to)) << from << " " << to;
    }
  }
}

TEST(MultipathRouting, WrongSettingsAreReported) {
  EXPECT_THAT(problem_of(topology_text(2, 1, R"({"kind": "single_switch"})",
                                       R"(, "routing": {"kind": "ecmp", "queue_pairs": 0})")),
              HasSubstr("/routing/queue_pairs"));
  EXPECT_THAT(problem_of(topology_text(2, 1, R"({"kind": "single_switch"})",
                                       R"(, "routing": {"kind": "adaptive", "efficiency": 1.5})")),
              HasSubstr("/routing/efficiency"));
  EXPECT_THAT(problem_of(topology_text(2, 1, R"({"kind": "single_switch"})",
                                       R"(, "routing": {"kind": "valiant", "share": 0.5})")),
              HasSubstr("valiant routes dragonfly fabrics only"));
}

TEST(HashedFlows, AreThoseOfEcmpAlone) {
  for (const char* kind : {"ecmp", "adaptive", "shortest"}) {
    const auto cluster = two_tiers(4, 4, fmt::format(R"({{"kind": "{}"}})", kind));
    EXPECT_EQ(cluster->routing->hashes_flows(), std::string_view(kind) == "ecmp") << kind;
  }
}

}  // namespace
}  // namespace headway
