#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/sim/network/read_text.h"
#include "routes.h"

namespace headway {
namespace {

using Random = std::mt19937;

int between(Random& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
}

struct RandomFabric {
  int nodes;
  int nics;
  std::string text;
};

/// A Clos fabric of any shape, mostly oversubscribed and partly filled.
RandomFabric random_clos(Random& random) {
  const int nics = between(random, 1, 3);
  const int nodes_per_unit = between(random, 1, 5);
  const int units_per_pod = between(random, 1, 3);
  const int spines = between(random, 1, 4);
  const int leaf_cables = between(random, 1, 3);
  const int planes = random() % 2 == 0 ? spines : 1;
  const int cores = between(random, 1, 3);
  const int core_cables = between(random, 1, 2);
  const bool by_rail = random() % 2 == 0;
  const bool has_core = random() % 2 == 0;
  const bool spines_by_rail = by_rail && has_core && random() % 2 == 0;

  std::string text = fmt::format(
      R"({{"kind": "clos", "attach": "{}", "nodes_per_unit": {}, "leaf": {{"uplinks": {}}},)",
      by_rail ? "rail" : "rack", nodes_per_unit, spines * leaf_cables);
  if (has_core) {
    text += fmt::format(
        R"("units_per_pod": {}, "spine": {{"cables_per_pair": {}, "group": "{}", "uplinks": {}}},)"
        R"("core": {{"cables_per_pair": {}, "switches": {}}}}})",
        units_per_pod, leaf_cables, spines_by_rail ? "rail" : "pod", cores * core_cables,
        core_cables, planes * cores);
  } else {
    text += fmt::format(R"("spine": {{"cables_per_pair": {}}}}})", leaf_cables);
  }
  return {.nodes = between(random, 1, 24), .nics = nics, .text = text};
}

TEST(RouteInvariants, EveryRouteOfAClosFabricIsAValleyFreePath) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const RandomFabric fabric = random_clos(random);
    for (const char* routing : {"d-mod-k", "shortest"}) {
      SCOPED_TRACE(fmt::format("seed {}, {}: {}", seed, routing, fabric.text));
      const auto cluster =
          cluster_of(topology_text(fabric.nodes, fabric.nics, fabric.text,
                                   fmt::format(R"(, "routing": {{"kind": "{}"}})", routing)));
      ASSERT_NE(cluster, nullptr);
      for (const VertexId a : cluster->endpoints) {
        for (const VertexId b : cluster->endpoints) {
          ASSERT_NO_FATAL_FAILURE(expect_path(*cluster, a, b));
          ASSERT_NO_FATAL_FAILURE(expect_valley_free(*cluster, a, b));
        }
      }
    }
  }
}

/// With latencies that tell tiers apart.
std::string with_latencies(std::string fabric) {
  for (const auto& [tier, latency] : {std::pair("leaf", 11), {"spine", 130}, {"core", 1700}}) {
    const std::string begin = fmt::format(R"("{}": {{)", tier);
    const std::size_t at = fabric.find(begin);
    if (at == std::string::npos) continue;
    fabric.insert(at + begin.size(),
                  fmt::format(R"("cable_latency": "{} ns", "switch_latency": "{} ns", )", latency,
                              3 * latency));
  }
  return fabric;
}

TEST(RouteInvariants, RoutesOfAClassHaveTheSameLatenciesAndShares) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const RandomFabric fabric = random_clos(random);
    const std::string text = with_latencies(fabric.text);
    for (const char* routing : {R"("d-mod-k")", R"("adaptive")", R"("ecmp", "queue_pairs": 3)"}) {
      SCOPED_TRACE(fmt::format("seed {}, {}: {}", seed, routing, text));
      const auto cluster = cluster_of(topology_text(
          fabric.nodes, fabric.nics, text, fmt::format(R"(, "routing": {{"kind": {}}})", routing)));
      ASSERT_NE(cluster, nullptr);
      std::map<int, std::vector<std::pair<Seconds, double>>> of_class;
      for (const VertexId a : cluster->endpoints) {
        for (const VertexId b : cluster->endpoints) {
          const std::optional<int> number = cluster->routing->route_class(a, b);
          ASSERT_TRUE(number.has_value());
          std::vector<std::pair<Seconds, double>> hops;
          for (const LinkShare& hop : route_of(*cluster, a, b)) {
            hops.emplace_back(cluster->topology.latency(hop.link), hop.share);
          }
          const auto [known, is_new] = of_class.emplace(*number, hops);
          EXPECT_EQ(known->second, hops) << way_of(*cluster, a, b);
        }
      }
      EXPECT_LE(of_class.size(), 4U);
    }
  }
}

TEST(RouteInvariants, DModKIsAsShortAsAnyPath) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const RandomFabric fabric = random_clos(random);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, fabric.text));
    const auto computed = cluster_of(topology_text(fabric.nodes, fabric.nics, fabric.text));
    const auto searched = cluster_of(topology_text(fabric.nodes, fabric.nics, fabric.text,
                                                   R"(, "routing": {"kind": "shortest"})"));
    for (const VertexId a : computed->endpoints) {
      for (const VertexId b : computed->endpoints) {
        ASSERT_EQ(route_of(*computed, a, b).size(), route_of(*searched, a, b).size());
      }
    }
  }
}

/// A connected graph of endpoints on switches: a random tree of switches and some more cables.
RandomFabric random_graph(Random& random) {
  const int switches = between(random, 1, 10);
  const int nodes = between(random, 1, 12);
  std::vector<std::string> endpoints;
  std::vector<std::string> switch_list;
  std::vector<std::string> cables;
  const auto cable_to_switch = [&](const std::string& from, int to) {
    cables.push_back(fmt::format(R"({{"from": "{}", "to": "s{}"}})", from, to));
  };
  for (int i = 0; i < switches; ++i) {
    switch_list.push_back(fmt::format(R"({{"name": "s{}"}})", i));
    if (i > 0) cable_to_switch(fmt::format("s{}", i), between(random, 0, i - 1));
  }
  for (int i = between(random, 0, 8); i > 0 && switches > 1; --i) {
    const int a = between(random, 1, switches - 1);
    cable_to_switch(fmt::format("s{}", a), between(random, 0, a - 1));
  }
  for (int i = 0; i < nodes; ++i) {
    endpoints.push_back(fmt::format(R"({{"name": "n{0}", "node": "n{0}"}})", i));
    cable_to_switch(fmt::format("n{}", i), between(random, 0, switches - 1));
  }
  return {.nodes = nodes,
          .nics = 1,
          .text = fmt::format(
              R"({{"kind": "graph", "endpoints": [{}], "switches": [{}], "cables": [{}]}})",
              fmt::join(endpoints, ", "), fmt::join(switch_list, ", "), fmt::join(cables, ", "))};
}

/// Hops between all vertices by the method of Floyd and Warshall.
std::vector<std::vector<int>> all_distances(const Topology& topology) {
  const auto vertices = static_cast<std::size_t>(topology.vertex_count());
  std::vector<std::vector<int>> hops(vertices, std::vector<int>(vertices, 1 << 20));
  for (std::size_t v = 0; v < vertices; ++v) hops[v][v] = 0;
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    const Link& link = topology.link(id);
    hops[static_cast<std::size_t>(link.from)][static_cast<std::size_t>(link.to)] = 1;
  }
  for (std::size_t k = 0; k < vertices; ++k) {
    for (std::size_t i = 0; i < vertices; ++i) {
      for (std::size_t j = 0; j < vertices; ++j) {
        hops[i][j] = std::min(hops[i][j], hops[i][k] + hops[k][j]);
      }
    }
  }
  return hops;
}

TEST(RouteInvariants, RoutesOfAnyGraphAreShortestPaths) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const RandomFabric fabric = random_graph(random);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, fabric.text));
    const auto cluster = cluster_of(topology_text(fabric.nodes, fabric.nics, fabric.text));
    ASSERT_NE(cluster, nullptr);
    const auto hops = all_distances(cluster->topology);
    for (const VertexId a : cluster->endpoints) {
      for (const VertexId b : cluster->endpoints) {
        ASSERT_NO_FATAL_FAILURE(expect_path(*cluster, a, b));
        ASSERT_EQ(static_cast<int>(route_of(*cluster, a, b).size()),
                  hops[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]);
      }
    }
  }
}

TEST(RouteInvariants, ReadingTwiceGivesTheSameRoutes) {
  Random random(7);
  const RandomFabric fabric = random_graph(random);
  const auto one = cluster_of(topology_text(fabric.nodes, fabric.nics, fabric.text));
  const auto other = cluster_of(topology_text(fabric.nodes, fabric.nics, fabric.text));
  for (const VertexId a : one->endpoints) {
    for (const VertexId b : one->endpoints) {
      ASSERT_EQ(route_of(*one, a, b), route_of(*other, a, b));
    }
  }
}

}  // namespace
}  // namespace headway
