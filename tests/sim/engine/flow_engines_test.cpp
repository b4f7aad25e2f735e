#include <gtest/gtest.h>

#include "hand_workload.h"
#include "tests/support/random_numbers.h"

namespace headway {
namespace {

/// Endpoints of random speed around a switch, and random flows between them: some capped, some over
/// many links with weights, some at the same moment, sizes over three decades.
struct RandomFlows {
  Topology topology;
  std::vector<HandFlow> flows;
};

RandomFlows random_flows(std::uint64_t seed, int count) {
  RandomNumbers random(seed);
  RandomFlows made;
  const int endpoints = 3 + random.below(10);
  const bool equal = random.chance(0.4);
  for (int i = 0; i < endpoints; ++i) made.topology.add_endpoint("host" + std::to_string(i));
  const VertexId center = made.topology.add_switch("switch", 0);
  for (int i = 0; i < endpoints; ++i) {
    made.topology.add_cable(i, center, BytesPerSecond(equal ? 50e9 : random.between(10e9, 100e9)),
                            Seconds(random.between(1e-6, 1e-3)));
  }
  for (int i = 0; i < count; ++i) {
    HandFlow flow;
    if (random.chance(0.3)) {  // a ring through some of the endpoints
      const double weight = 1.0 / (1 + random.below(4));
      for (int host = 0; host < endpoints; ++host) {
        if (random.chance(0.5)) continue;
        flow.plan.links.push_back({2 * host, weight});
        flow.plan.links.push_back({2 * host + 1, weight * (1 + random.below(3))});
      }
      flow.plan.latency = 1_ms;
    }
    if (flow.plan.links.empty()) {
      const int from = random.below(endpoints);
      flow.plan = across(made.topology, from, (from + 1 + random.below(endpoints - 1)) % endpoints);
    }
    if (random.chance(0.2)) flow.plan.rate_cap = BytesPerSecond(random.between(1e9, 60e9));
    flow.amount = Bytes(std::floor(random.between(1e11, 1e13)));
    flow.start = Seconds(random.chance(0.5) ? 10.0 * random.below(4) : random.between(0.0, 100.0));
    made.flows.push_back(flow);
  }
  return made;
}

TEST(FlowEngines, AgreeOnRandomFlows) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomFlows random = random_flows(seed, 30);
    const auto incremental = arrivals(random.flows, random.topology, FlowEngine::incremental);
    const auto simgrid = arrivals(random.flows, random.topology, FlowEngine::simgrid);
    for (std::size_t i = 0; i < incremental.size(); ++i) {
      // SimGrid counts whole bytes of at least 1e11.
      ASSERT_NEAR(incremental[i], simgrid[i], 1e-9 * simgrid[i]) << "flow " << i;
    }
  }
}

TEST(FlowEngines, FoldingEqualLinksChangesNothing) {
  for (std::uint64_t seed = 200; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomFlows random = random_flows(seed, 20);
    const Workload workload = workload_of(random.flows);
    const Timeline folded =
        simulate_workload(workload, random.topology, {}, {.fold_equal_links = true});
    const Timeline whole =
        simulate_workload(workload, random.topology, {}, {.fold_equal_links = false});
    ASSERT_EQ(folded.operation_end.size(), whole.operation_end.size());
    for (std::size_t i = 0; i < whole.operation_end.size(); ++i) {
      ASSERT_NEAR(folded.operation_end[i], whole.operation_end[i], 1e-12 * whole.finish);
    }
  }
}

}  // namespace
}  // namespace headway
