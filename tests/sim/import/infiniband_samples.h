#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sim/import/infiniband/import_infiniband.h"
#include "sim/network/find_endpoint.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/source_folder.h"

namespace headway {

inline const std::string kInfiniBandSamples = source_folder() + "/tests/samples/infiniband";

inline std::string sample_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline nlohmann::json sample_json(const std::string& path) {
  return nlohmann::json::parse(sample_text(path));
}

/// The cluster that dumps make; null, with a failure, if they are refused.
inline std::shared_ptr<const Cluster> imported_cluster(const std::vector<std::string>& files) {
  Diagnostics diagnostics;
  const auto topology = import_infiniband({.paths = files, .name = "imported"}, diagnostics);
  std::string problems;
  for (const Diagnostic& problem : diagnostics.all()) {
    if (problem.severity == Severity::error) problems += rendered(problem);
  }
  EXPECT_EQ(problems, "");
  return topology ? cluster_of(topology->dump()) : nullptr;
}

/// The folders of the samples, in the order of their names.
inline std::vector<std::string> infiniband_samples() {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(kInfiniBandSamples)) {
    if (entry.is_directory()) folders.push_back(entry.path().string());
  }
  std::ranges::sort(folders);
  return folders;
}

/// The forwarding tables of a sample as `engine` made them; the largest are kept compressed.
inline std::string sample_tables(const std::string& folder, std::string engine) {
  if (engine == "torus-2QoS") engine = "torus2qos";
  const std::string file = folder + "/dump_fts." + engine + ".txt";
  return std::filesystem::exists(file) ? file : file + ".gz";
}

/// With the tables that its truth.json is about.
inline std::shared_ptr<const Cluster> sample_cluster(const std::string& folder,
                                                     const nlohmann::json& truth) {
  return imported_cluster(
      {folder + "/ibnetdiscover.txt", sample_tables(folder, truth["routing_engine"])});
}

inline std::string port_name(const nlohmann::json& route, const std::string& end) {
  return route[end].get<std::string>() + "/" + std::to_string(route[end + "_port"].get<int>());
}

/// As truth.json lists them: [{"node", "guid", "out_port"}].
inline nlohmann::json hops_of(const Cluster& cluster, const std::string& source,
                              const std::string& destination) {
  Diagnostics diagnostics;
  const VertexId from = find_endpoint(cluster, source, diagnostics);
  const VertexId to = find_endpoint(cluster, destination, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << source << " - " << destination;
  nlohmann::json hops = nlohmann::json::array();
  if (diagnostics.has_errors()) return hops;
  std::vector<LinkShare> route;
  cluster.routing->append_route(from, to, 0, route);
  for (const LinkShare& hop : route) {
    const Link& link = cluster.topology.link(hop.link);
    hops.push_back({{"node", site_description(cluster, link.from)},
                    {"guid", cluster.site.names[static_cast<std::size_t>(link.from)].guid},
                    {"out_port", link.from_port}});
  }
  return hops;
}

}  // namespace headway
