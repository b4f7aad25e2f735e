#include <gtest/gtest.h>

#include "tests/sim/network/read_text.h"
#include "routes.h"

namespace headway {
namespace {

/// The greatest load of a link when every endpoint sends to the one `shift` places further on its
/// rail (or among all, where nodes attach by rack).
int load_of_shift(const Cluster& cluster, bool by_rail, int shift) {
  const int rails = by_rail ? cluster.node_type.nics : 1;
  const int places = static_cast<int>(cluster.endpoints.size()) / rails;
  LinkLoads loads;
  for (int place = 0; place < places; ++place) {
    for (int rail = 0; rail < rails; ++rail) {
      const int to = (place + shift) % places;
      add_flow(cluster, cluster.endpoints[static_cast<std::size_t>(place * rails + rail)],
               cluster.endpoints[static_cast<std::size_t>(to * rails + rail)], loads);
    }
  }
  return most_loaded(loads);
}

int load_of_worst_shift(const Cluster& cluster, bool by_rail) {
  const int rails = by_rail ? cluster.node_type.nics : 1;
  const int places = static_cast<int>(cluster.endpoints.size()) / rails;
  int most = 0;
  for (int shift = 1; shift < places; ++shift) {
    most = std::max(most, load_of_shift(cluster, by_rail, shift));
  }
  return most;
}

/// A fabric without oversubscription and all of its places taken.
struct FullFabric {
  const char* name;
  int nodes;
  int nics;
  bool by_rail;
  const char* fabric;
};

const FullFabric kFullFabrics[] = {
    {"two tiers, racks", 16, 2, false,
     R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "leaf": {}, "spine": {}})"},
    {"two tiers, racks, two cables a pair", 16, 2, false,
     R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "leaf": {},
         "spine": {"cables_per_pair": 2}})"},
    {"two tiers, rails", 24, 3, true,
     R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 6, "leaf": {}, "spine": {}})"},
    {"two tiers, rails, three cables a pair", 24, 3, true,
     R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 6, "leaf": {},
         "spine": {"switches": 2}})"},
    {"two tiers, faster uplinks", 16, 1, false,
     R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "leaf": {"uplinks": 4},
         "spine": {"bandwidth": "400 Gb/s"}})"},
    {"three tiers, racks", 32, 1, false,
     R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "units_per_pod": 4, "leaf": {},
         "spine": {}, "core": {}})"},
    {"three tiers, racks, parallel cables", 48, 1, false,
     R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 4, "units_per_pod": 3, "leaf": {},
         "spine": {"cables_per_pair": 2}, "core": {"cables_per_pair": 3}})"},
    {"three tiers, rails", 32, 4, true,
     R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 4, "units_per_pod": 2, "leaf": {},
         "spine": {}, "core": {}})"},
    {"three tiers, rails, parallel cables", 32, 4, true,
     R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 4, "units_per_pod": 2, "leaf": {},
         "spine": {"cables_per_pair": 2}, "core": {"cables_per_pair": 4}})"},
    {"three tiers, rails, a shared plane", 32, 4, true,
     R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 4, "units_per_pod": 2, "leaf": {},
         "spine": {}, "core": {"cables_per_pair": 2, "switches": 8}})"},
    {"three tiers, spines by rail", 36, 2, true,
     R"({"kind": "clos", "attach": "rail", "nodes_per_unit": 4, "units_per_pod": 3, "leaf": {},
         "spine": {"group": "rail", "cables_per_pair": 2}, "core": {"switches": 6}})"},
};

TEST(DModK, ShiftsOverAFullFabricLoadNoLinkTwice) {
  for (const FullFabric& full : kFullFabrics) {
    SCOPED_TRACE(full.name);
    const auto cluster = cluster_of(topology_text(full.nodes, full.nics, full.fabric));
    ASSERT_NE(cluster, nullptr);
    EXPECT_EQ(load_of_worst_shift(*cluster, full.by_rail), 1);
  }
}

TEST(DModK, TheSixteenThousandAcceleratorDesignCarriesShiftsWithoutContention) {
  // As the SuperPOD of 64 units, with a fourth of the nodes in each unit and of the switches.
  const auto cluster = cluster_of(topology_text(512, 8, R"({"kind": "clos", "attach": "rail",
      "nodes_per_unit": 8, "units_per_pod": 4, "pods": 16, "leaf": {}, "spine": {"uplinks": 32},
      "core": {"switches": 64}})"));
  for (const int shift : {1, 7, 8, 31, 32, 33, 100, 256, 511}) {
    EXPECT_EQ(load_of_shift(*cluster, true, shift), 1) << shift;
  }
}

TEST(DModK, TwoToOneOversubscriptionLoadsUplinksExactlyTwice) {
  // A shift by a whole leaf moves every flow over the spines: 8 flows over 4 uplinks.
  const auto two_tiers = cluster_of(topology_text(32, 1, R"({"kind": "clos", "attach": "rack",
      "nodes_per_unit": 8, "leaf": {"oversubscription": 2}, "spine": {}})"));
  EXPECT_EQ(load_of_shift(*two_tiers, false, 8), 2);
  EXPECT_EQ(load_of_worst_shift(*two_tiers, false), 2);

  const auto rails = cluster_of(topology_text(32, 4, R"({"kind": "clos", "attach": "rail",
      "nodes_per_unit": 8, "leaf": {"oversubscription": 2}, "spine": {"switches": 2}})"));
  EXPECT_EQ(load_of_shift(*rails, true, 8), 2);
  EXPECT_EQ(load_of_worst_shift(*rails, true), 2);

  const auto at_the_core = cluster_of(topology_text(32, 1, R"({"kind": "clos", "attach": "rack",
      "nodes_per_unit": 4, "units_per_pod": 4, "leaf": {}, "spine": {"oversubscription": 2},
      "core": {}})"));
  EXPECT_EQ(load_of_shift(*at_the_core, false, 16), 2);
  EXPECT_EQ(load_of_worst_shift(*at_the_core, false), 2);
}

TEST(DModK, TwoToOneOversubscriptionUsesAllUplinksAlike) {
  const auto cluster = cluster_of(topology_text(32, 1, R"({"kind": "clos", "attach": "rack",
      "nodes_per_unit": 8, "leaf": {"oversubscription": 2}, "spine": {}})"));
  LinkLoads loads;
  for (int i = 0; i < 32; ++i) add_flow(*cluster, i, (i + 8) % 32, loads);
  // 4 leaves x 4 spines, up and down, all loaded by 2; 32 endpoint cables, up and down, by 1.
  int twice = 0;
  for (const auto& [link, flows] : loads) twice += flows == 2 ? 1 : 0;
  EXPECT_EQ(twice, 32);
  EXPECT_EQ(loads.size(), 32U + 64U);
}

TEST(DModK, PathsAreAsShortAsTheTreeAllows) {
  const auto cluster = cluster_of(topology_text(16, 2, R"({"kind": "clos", "attach": "rail",
      "nodes_per_unit": 2, "units_per_pod": 2, "leaf": {}, "spine": {}, "core": {}})"));
  const auto hops = [&](const char* from, const char* to) {
    return route_of(*cluster, cluster->topology.find(from), cluster->topology.find(to)).size();
  };
  EXPECT_EQ(hops("node0/nic0", "node0/nic0"), 0U);
  EXPECT_EQ(hops("node0/nic0", "node1/nic0"), 2U);  // same leaf
  EXPECT_EQ(hops("node0/nic0", "node0/nic1"), 4U);  // the other rail
  EXPECT_EQ(hops("node0/nic0", "node2/nic0"), 4U);  // same pod
  EXPECT_EQ(hops("node0/nic0", "node4/nic0"), 6U);  // another pod
}

TEST(DModK, RailsAreImagesOfEachOther) {
  // Two tiers: the same spine and the same cable for every rail, so the ports are equal hop by hop.
  // (The spine's own port differs: it counts the leaves of all rails.)
  const auto cluster = cluster_of(topology_text(12, 3, R"({"kind": "clos", "attach": "rail",
      "nodes_per_unit": 4, "leaf": {}, "spine": {"switches": 2}})"));
  const Topology& topology = cluster->topology;
  for (int from = 0; from < 12; ++from) {
    for (int to = 0; to < 12; ++to) {
      const auto first = route_of(*cluster, from * 3, to * 3);
      for (int rail = 1; rail < 3; ++rail) {
        const auto route = route_of(*cluster, from * 3 + rail, to * 3 + rail);
        ASSERT_EQ(route.size(), first.size());
        for (std::size_t i = 0; i < route.size(); ++i) {
          const Link& image = topology.link(route[i].link);
          const Link& original = topology.link(first[i].link);
          ASSERT_EQ(topology.tier(image.to), topology.tier(original.to));
          if (topology.tier(image.from) != 1) {
            ASSERT_EQ(image.from_port, original.from_port);
          }
          if (topology.tier(image.to) == 1) {
            ASSERT_EQ(image.to, original.to);
          }
        }
      }
    }
  }
}

TEST(DModK, FlowsOfAPairTakeTheSamePath) {
  const auto cluster = cluster_of(topology_text(16, 2, kFullFabrics[0].fabric));
  std::vector<LinkShare> one;
  std::vector<LinkShare> other;
  cluster->routing->append_route(0, 31, 1, one);
  cluster->routing->append_route(0, 31, 2, other);
  EXPECT_EQ(one, other);
}

TEST(DModK, AppendsToWhatIsThere) {
  const auto cluster = cluster_of(topology_text(16, 2, kFullFabrics[0].fabric));
  std::vector<LinkShare> route{{.link = 77, .share = 0.5}};
  cluster->routing->append_route(0, 1, 0, route);
  ASSERT_EQ(route.size(), 3U);
  EXPECT_EQ(route[0], (LinkShare{.link = 77, .share = 0.5}));
}

}  // namespace
}  // namespace headway
