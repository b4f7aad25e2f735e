#include "sim/import/infiniband/import_infiniband.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "infiniband_samples.h"
#include "sim/network/analysis/fabric_analysis.h"
#include "sim/network/find_endpoint.h"

namespace headway {
namespace {

using nlohmann::json;

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const std::string& folder : infiniband_samples()) {
    names.push_back(std::filesystem::path(folder).filename().string());
  }
  return names;
}

/// truth.json was made from the same dumps by another program, whose definitions are those of
/// `FabricAnalysis`; its routes agree with what ibtracert printed.
class InfiniBandCase : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static std::string path(const std::string& file) {
    return kInfiniBandSamples + "/" + GetParam() + "/" + file;
  }
  [[nodiscard]] static json truth() { return sample_json(path("truth.json")); }
  [[nodiscard]] static std::string tables(const std::string& engine) {
    return sample_tables(kInfiniBandSamples + "/" + GetParam(), engine);
  }
  [[nodiscard]] static std::shared_ptr<const Cluster> cluster(const std::string& table_file) {
    std::vector<std::string> files = {path("ibnetdiscover.txt")};
    if (!table_file.empty()) files.push_back(table_file);
    return imported_cluster(files);
  }
};

TEST_P(InfiniBandCase, CountsAndCablesAreTheTruth) {
  const auto imported = cluster("");
  ASSERT_NE(imported, nullptr);
  const FabricAnalysis analysis = analysed(*imported);
  const json expected = truth();
  EXPECT_EQ(analysis.switches, expected["counts"]["switches"]);
  EXPECT_EQ(analysis.hosts, expected["counts"]["hosts"]);
  EXPECT_EQ(analysis.host_ports, expected["counts"]["hca_ports_active"]);
  EXPECT_EQ(imported->topology.cable_count(), expected["links"]["total"]);
  for (const char* kind : {"switch_switch", "hca_switch", "aggregation_node"}) {
    const auto found = analysis.links.find(kind);
    const json links = found == analysis.links.end() ? json::object() : json(found->second);
    EXPECT_EQ(links, expected["links"][kind]) << kind;
  }
  EXPECT_EQ(analysis.diameter_links, expected["diameter_links"].get<int>());
  EXPECT_EQ(analysis.bisection_links, expected["bisection"]["links"]);
  EXPECT_NEAR(analysis.bisection_bandwidth.count() * 8e-9,
              expected["bisection"]["gbps"].get<double>(), 1e-4);
}

TEST_P(InfiniBandCase, RoutedPairsAreTheTruth) {
  const json expected = truth();
  const std::string file = tables(expected["routing_engine"]);
  const auto imported = cluster(file);
  ASSERT_NE(imported, nullptr);
  const FabricAnalysis analysis = analysed(*imported);
  ASSERT_TRUE(analysis.all_pairs);
  json histogram = json::object();
  for (const auto& [links, pairs] : analysis.all_pairs->links_histogram) {
    histogram[std::to_string(links)] = pairs;
  }
  EXPECT_EQ(histogram, expected["routed_links_histogram"]);
  EXPECT_EQ(analysis.all_pairs->unreachable_pairs, expected["unreachable_ordered_pairs"]);
  ASSERT_TRUE(analysis.all_pairs->most_loaded);
  EXPECT_EQ(analysis.all_pairs->most_loaded->routes,
            expected["all_to_all_max_routes_on_a_directed_switch_link"]["routes"]);
  ASSERT_EQ(analysis.shifts.size(), expected["shifts"].size());
  for (std::size_t i = 0; i < analysis.shifts.size(); ++i) {
    const json& shift = expected["shifts"][i];
    EXPECT_EQ(analysis.shifts[i].distance, shift["k"]);
    EXPECT_EQ(analysis.shifts[i].flows, shift["flows"]);
    EXPECT_EQ(analysis.shifts[i].most_flows_on_a_link, shift["max_flows_on_a_directed_link"]);
  }
}

TEST_P(InfiniBandCase, EveryListedRouteIsTheTruthHopByHop) {
  const json expected = truth();
  const std::string file = tables(expected["routing_engine"]);
  const auto imported = cluster(file);
  ASSERT_NE(imported, nullptr);
  ASSERT_FALSE(expected["routes"].empty());
  for (const json& route : expected["routes"]) {
    EXPECT_EQ(hops_of(*imported, port_name(route, "src"), port_name(route, "dst")), route["hops"]);
  }
}

TEST_P(InfiniBandCase, OtherEnginesAreTheTruthToo) {
  const json expected = truth();
  for (const auto& [engine, numbers] : expected["also_routed_with"].items()) {
    const auto imported = cluster(tables(engine));
    ASSERT_NE(imported, nullptr);
    const FabricAnalysis analysis = analysed(*imported);
    ASSERT_TRUE(analysis.all_pairs);
    EXPECT_EQ(analysis.all_pairs->unreachable_pairs, numbers["unreachable_ordered_pairs"]);
    EXPECT_EQ(analysis.all_pairs->most_loaded->routes,
              numbers["all_to_all_max_routes_on_a_directed_switch_link"]["routes"]);
    for (std::size_t i = 0; i < analysis.shifts.size(); ++i) {
      EXPECT_EQ(analysis.shifts[i].most_flows_on_a_link,
                numbers["shifts"][i]["max_flows_on_a_directed_link"]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, InfiniBandCase, testing::ValuesIn(cases()),
                         [](const auto& sample) {
                           std::string name = sample.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace headway
