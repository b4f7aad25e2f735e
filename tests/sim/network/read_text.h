#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "sim/network/read_topology.h"
#include "tests/support/source_folder.h"

namespace headway {

/// What reading a topology text made of it.
struct ReadText {
  std::optional<ReadTopology> topology;
  std::string problems;  ///< rendered, one after the other
};

inline ReadText read_topology_text(const std::string& text,
                                   std::optional<int> nodes = std::nullopt) {
  Diagnostics diagnostics;
  InputFiles files({}, {source_folder()}, diagnostics);
  auto document = JsonDocument::parse("t.json", text, diagnostics);
  ReadText read;
  if (document) read.topology = read_topology(JsonCursor(std::move(document)), files, nodes);
  for (const Diagnostic& problem : diagnostics.all()) read.problems += rendered(problem);
  return read;
}

/// The cluster of a text without problems.
inline std::shared_ptr<const Cluster> cluster_of(const std::string& text,
                                                 std::optional<int> nodes = std::nullopt) {
  ReadText read = read_topology_text(text, nodes);
  EXPECT_EQ(read.problems, "") << text;
  return read.topology ? read.topology->cluster : nullptr;
}

/// A topology of `nodes` nodes with `nics` accelerators and as many NICs of 100 Gb/s (12.5 GB/s).
inline std::string topology_text(int nodes, int nics, const std::string& fabric,
                                 const std::string& more = "") {
  const std::string n = std::to_string(nics);
  return R"({"schema": "headway/topology/1", "name": "t", "nodes": )" + std::to_string(nodes) +
         R"(, "node": {"accelerator": "any", "accelerators": )" + n +
         R"(, "scale_up": {"bandwidth": "100 GB/s"}, "nics": {"count": )" + n +
         R"(, "bandwidth": "100 Gb/s"}}, "fabric": )" + fabric + more + "}";
}

/// What is said of a text that is wrong.
inline std::string problem_of(const std::string& text, std::optional<int> nodes = std::nullopt) {
  const ReadText read = read_topology_text(text, nodes);
  EXPECT_FALSE(read.topology.has_value());
  return read.problems;
}

/// A topology of single accelerators whose fabric begins on line 4, so that what a diagnostic
/// underlines can stand on a line of its own.
inline std::string with_fabric(const std::string& fabric,
                               const std::string& nodes = "\"nodes\": 4,") {
  return "{\"schema\": \"headway/topology/1\", \"name\": \"t\",\n" + nodes +
         "\n\"node\": {\"accelerator\": \"any\", \"nics\": {\"bandwidth\": \"100 Gb/s\"}},\n" +
         fabric + "}";
}

}  // namespace headway
