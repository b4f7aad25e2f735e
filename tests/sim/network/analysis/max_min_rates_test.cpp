#include "sim/network/analysis/max_min_rates.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/sim/import/infiniband_samples.h"
#include "sim/network/analysis/fabric_analysis.h"

namespace headway {
namespace {

TEST(MaxMinRates, FlowsShareTheirNarrowestLinkAndOthersTakeTheRest) {
  // a - s - b with 10 GB/s, s - c with 4: two flows a to c share 4, one a to b gets what is left of
  // a's 10 GB/s, 6.
  Topology topology;
  const VertexId a = topology.add_endpoint("a");
  const VertexId b = topology.add_endpoint("b");
  const VertexId c = topology.add_endpoint("c");
  const VertexId s = topology.add_switch("s", 0);
  const LinkId from_a = topology.add_cable(a, s, 10_GBps, 0_s);
  const LinkId to_b = topology.add_cable(s, b, 10_GBps, 0_s);
  const LinkId to_c = topology.add_cable(s, c, 4_GBps, 0_s);
  const std::vector<std::vector<LinkShare>> routes = {
      {{from_a}, {to_c}}, {{from_a}, {to_c}}, {{from_a}, {to_b}}, {}};
  const auto rates = max_min_rates(topology, routes);
  EXPECT_EQ(rates[0], 2_GBps);
  EXPECT_EQ(rates[1], 2_GBps);
  EXPECT_EQ(rates[2], 6_GBps);
  EXPECT_EQ(rates[3], BytesPerSecond(0.0));
}

TEST(MaxMinRates, SharesCountAsTheyAre) {
  // Half of a flow on each of two links of 3 and 5 GB/s: 6 GB/s, twice the narrower one.
  Topology topology;
  const VertexId s = topology.add_switch("s", 0);
  const VertexId t = topology.add_switch("t", 0);
  const LinkId one = topology.add_cable(s, t, 3_GBps, 0_s);
  const LinkId other = topology.add_cable(s, t, 5_GBps, 0_s);
  const std::vector<std::vector<LinkShare>> routes = {{{one, 0.5}, {other, 0.5}}};
  EXPECT_EQ(max_min_rates(topology, routes)[0], 6_GBps);
  EXPECT_EQ(max_min_rates(topology, routes, 0.5)[0], 3_GBps);
}

TEST(MaxMinRates, ShiftsOnRealFabricsAreTheTruth) {
  // Printed with four decimals by a program of its own.
  for (const std::string& folder : infiniband_samples()) {
    SCOPED_TRACE(folder);
    const nlohmann::json truth = sample_json(folder + "/truth.json");
    const auto cluster = sample_cluster(folder, truth);
    ASSERT_NE(cluster, nullptr);
    const FabricAnalysis analysis = analysed(*cluster);
    ASSERT_EQ(analysis.shifts.size(), truth["shifts"].size());
    for (std::size_t i = 0; i < analysis.shifts.size(); ++i) {
      const FabricAnalysis::Shift& shift = analysis.shifts[i];
      ASSERT_TRUE(shift.rates);
      const nlohmann::json& rates = truth["shifts"][i]["maxmin_gbps"];
      EXPECT_NEAR(shift.rates->least / 1_Gbps, rates["min"].get<double>(), 6e-5);
      EXPECT_NEAR(shift.rates->mean / 1_Gbps, rates["mean"].get<double>(), 6e-5);
      EXPECT_NEAR(shift.rates->highest / 1_Gbps, rates["max"].get<double>(), 6e-5);
    }
  }
}

}  // namespace
}  // namespace headway
