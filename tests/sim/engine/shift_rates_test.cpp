#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hand_workload.h"
#include "sim/network/analysis/max_min_rates.h"
#include "tests/sim/import/infiniband_samples.h"

namespace headway {
namespace {

/// Ports as truth.json orders them for its shifts: by the GUID of their switch, then by its port.
std::vector<VertexId> ordered_ports(const Cluster& cluster) {
  std::vector<VertexId> ports = cluster.site.host_ports;
  std::ranges::sort(ports, {}, [&](VertexId port) {
    const Link& link = cluster.topology.link(cluster.topology.links_from(port).front());
    return std::pair(link.to, link.to_port);
  });
  return ports;
}

/// truth.json lists the least, mean and highest rate of the flows of a shift, found by another
/// program. A flow of as many bytes as its rate moves in a second takes that second exactly if the
/// engine gives it that rate from its start to its end, which it does for all flows at once only if
/// the rates are max-min fair.
TEST(ShiftRates, BothEnginesShareTheLinksOfRealFabricsAsTheTruthHasIt) {
  for (const std::string& folder : infiniband_samples()) {
    SCOPED_TRACE(folder);
    const nlohmann::json truth = sample_json(folder + "/truth.json");
    const auto cluster = sample_cluster(folder, truth);
    ASSERT_NE(cluster, nullptr);
    const std::vector<VertexId> ports = ordered_ports(*cluster);
    for (const nlohmann::json& shift : truth["shifts"]) {
      std::vector<std::vector<LinkShare>> routes(ports.size());
      for (std::size_t i = 0; i < ports.size(); ++i) {
        const std::size_t to = (i + shift["k"].get<std::size_t>()) % ports.size();
        cluster->routing->append_route(ports[i], ports[to], 0, routes[i]);
      }
      const std::vector<BytesPerSecond> rates = max_min_rates(cluster->topology, routes);
      BytesPerSecond sum;
      for (const BytesPerSecond rate : rates) sum += rate;
      EXPECT_NEAR(sum / 1_Gbps / static_cast<double>(rates.size()),
                  shift["maxmin_gbps"]["mean"].get<double>(), 6e-5);
      std::vector<HandFlow> flows;
      for (std::size_t i = 0; i < routes.size(); ++i) {
        HandFlow& flow = flows.emplace_back();
        for (const LinkShare& hop : routes[i]) flow.plan.links.push_back({hop.link, hop.share});
        flow.amount = rates[i] * 1_s;
      }
      for (const FlowEngine flow_engine : {FlowEngine::incremental, FlowEngine::simgrid}) {
        for (const double time : arrivals(flows, cluster->topology, flow_engine)) {
          EXPECT_NEAR(time, 1.0, 1e-6);
        }
      }
    }
  }
}

}  // namespace
}  // namespace headway
