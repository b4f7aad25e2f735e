#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "read_text.h"
#include "tests/sim/network/routing/routes.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

/// Pointers of all values below `value`.
void collect(const nlohmann::json& value, const nlohmann::json::json_pointer& pointer,
             std::vector<nlohmann::json::json_pointer>& pointers) {
  if (!pointer.empty()) pointers.push_back(pointer);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) collect(member, pointer / key, pointers);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) collect(value[i], pointer / i, pointers);
  }
}

/// Whatever a value is replaced by, reading ends in a cluster that routes or in problems that each
/// say where they are.
void expect_cluster_or_problems(const nlohmann::json& text) {
  SCOPED_TRACE(text.dump());
  Diagnostics diagnostics;
  InputFiles files({}, {source_folder()}, diagnostics);
  const auto read =
      read_topology(JsonCursor(JsonDocument::parse("t.json", text.dump(), diagnostics)), files);
  ASSERT_NE(read.has_value(), diagnostics.has_errors());
  for (const Diagnostic& problem : diagnostics.all()) {
    ASSERT_FALSE(problem.message.empty());
    ASSERT_EQ(problem.location.line, 1);
  }
  if (!read) return;
  const Cluster& cluster = *read->cluster;
  ASSERT_NE(cluster.routing, nullptr);
  ASSERT_EQ(cluster.endpoints.size(), static_cast<std::size_t>(cluster.nodes) *
                                          static_cast<std::size_t>(cluster.node_type.nics));
  expect_path(cluster, cluster.endpoint_of(0), cluster.endpoint_of(cluster.accelerators() - 1));
}

TEST(TopologyMutations, NoValueOfAnyFieldBreaksTheReader) {
  const std::vector<nlohmann::json> values = {nullptr,
                                              true,
                                              0,
                                              -1,
                                              1,
                                              3,
                                              70'000,
                                              2'147'483'648,
                                              1e300,
                                              0.5,
                                              "",
                                              "x",
                                              "pod",
                                              "rail",
                                              "1 Gb/s",
                                              nlohmann::json::array(),
                                              nlohmann::json::object()};
  for (const char* name :
       {"dgx_h100_superpod", "dgx_a100_superpod", "ethernet_10g", "ring_8", "tiny_graph"}) {
    Diagnostics diagnostics;
    const auto document = JsonDocument::read(
        std::string(source_folder() + "/topologies/") + name + ".json", diagnostics);
    ASSERT_NE(document, nullptr);
    nlohmann::json original = document->root();
    original.erase("expect");
    std::vector<nlohmann::json::json_pointer> pointers;
    collect(original, nlohmann::json::json_pointer(), pointers);
    for (const auto& pointer : pointers) {
      for (const nlohmann::json& value : values) {
        nlohmann::json mutant = original;
        mutant[pointer] = value;
        ASSERT_NO_FATAL_FAILURE(expect_cluster_or_problems(mutant));
      }
      nlohmann::json mutant = original;
      nlohmann::json& parent = mutant[pointer.parent_pointer()];
      if (parent.is_object()) {
        parent.erase(pointer.back());
      } else {
        parent.erase(std::stoul(pointer.back()));
      }
      ASSERT_NO_FATAL_FAILURE(expect_cluster_or_problems(mutant));
    }
  }
}

}  // namespace
}  // namespace headway
