#include <fmt/format.h>

#include <map>

#include "reports/answers/fabric.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/network/find_endpoint.h"

namespace headway {
namespace {

/// In double quotes, as Graphviz reads it.
std::string dot_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string vertices_dot(const Cluster& cluster) {
  const Topology& topology = cluster.topology;
  std::string text;
  std::map<int, std::string> of_tier;
  for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
    const std::string name = dot_text(topology.name(vertex));
    text += fmt::format("  {} [label={}, shape={}];\n", name,
                        dot_text(site_description(cluster, vertex)),
                        topology.is_switch(vertex) ? "box" : "plaintext");
    of_tier[topology.tier(vertex)] += fmt::format(" {};", name);
  }
  for (const auto& [tier, names] : of_tier) {
    if (of_tier.size() > 1) text += fmt::format("  {{ rank=same;{} }}\n", names);
  }
  return text;
}

}  // namespace

std::string fabric_dot(const Cluster& cluster) {
  const Topology& topology = cluster.topology;
  struct Line {
    VertexId upper;
    VertexId lower;
    BytesPerSecond bandwidth;
    bool is_up;
    auto operator<=>(const Line&) const = default;
  };
  std::map<Line, int> cables;
  for (LinkId id = 0; id < topology.link_count(); id += 2) {
    const Link& link = topology.link(id);
    const bool is_upwards = topology.tier(link.to) >= topology.tier(link.from);
    ++cables[{.upper = is_upwards ? link.to : link.from,
              .lower = is_upwards ? link.from : link.to,
              .bandwidth = link.capacity,
              .is_up = topology.is_up(id)}];
  }
  std::string text = fmt::format("graph {} {{\n", dot_text(cluster.name));
  text += vertices_dot(cluster);
  for (const auto& [line, count] : cables) {
    text += fmt::format("  {} -- {} [label=\"{}{}\"{}];\n", dot_text(topology.name(line.upper)),
                        dot_text(topology.name(line.lower)),
                        count == 1 ? "" : fmt::format("{} x ", count), short_text(line.bandwidth),
                        line.is_up ? "" : ", style=dashed");
  }
  return text + "}\n";
}

}  // namespace headway
