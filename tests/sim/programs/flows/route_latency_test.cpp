// Latencies of routes that spread over several links.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/programs/flows/flow_plans.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"

namespace headway {
namespace {

TEST(RouteLatency, IsThatOfOneWayHoweverManyAFlowTakes) {
  // Up and down: cables of a node 1 us each, those of a leaf 10 us each and their spine 100 us;
  // leaves take 1,000 us. A flow that spreads has a fourth of itself on each of four spines.
  ClusterText text;
  text.fabric = R"({"kind": "clos", "attach": "rack", "nodes_per_unit": 1,)"
                R"( "leaf": {"uplinks": 4, "cable_latency": "1 us", "switch_latency": "1 ms"},)"
                R"( "spine": {"cable_latency": "10 us", "switch_latency": "100 us"}})";
  for (const char* routing : {"d-mod-k", "adaptive"}) {
    ClusterText routed = text;
    routed.fabric += std::string(R"(, "routing": {"kind": ")") + routing + "\"}";
    const auto cluster = cluster_of(routed.text());
    ASSERT_NE(cluster, nullptr);
    const std::vector<std::int32_t> from = {0};
    const std::vector<std::int32_t> to = {1};
    const FlowPlan plan =
        transfer_plan(*cluster, ideal_network_costs(cluster->node_type), from, to);
    EXPECT_NEAR(plan.latency.count(), 2 * 1e-6 + 2 * 10e-6 + 100e-6 + 2 * 1e-3, 1e-12) << routing;
  }
}

}  // namespace
}  // namespace headway
