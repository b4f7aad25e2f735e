#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/options/topology_options.h"
#include "sim/files/json_output.h"
#include "sim/network/analysis/max_min_rates.h"
#include "sim/network/find_endpoint.h"

namespace headway {
namespace {

struct FoundRoute {
  VertexId source = -1;
  VertexId destination = -1;
  std::optional<std::vector<LinkShare>> hops;  ///< nothing if there is no way
};

/// What the flow gets if it is alone.
BytesPerSecond rate_alone(const Cluster& cluster, const std::vector<LinkShare>& hops) {
  return max_min_rates(cluster.topology, std::span(&hops, 1), cluster.routing->efficiency())
      .front();
}

/// On average over the parts of a flow that takes several paths.
Seconds total_latency(const Topology& topology, const std::vector<LinkShare>& hops) {
  Seconds total;
  for (const LinkShare& hop : hops) total += hop.share * topology.link(hop.link).latency;
  return total;
}

std::string route_text(const Cluster& cluster, const FoundRoute& route) {
  const Topology& topology = cluster.topology;
  const std::string source = printable(topology.name(route.source));
  const std::string destination = printable(topology.name(route.destination));
  if (!route.hops) return fmt::format("there is no route from {} to {}\n", source, destination);
  if (route.hops->empty()) return fmt::format("{} is its own destination\n", source);
  using Align = TextTable::Align;
  TextTable table({{"node"},
                   {"out port", Align::right},
                   {"capacity", Align::right},
                   {"latency", Align::right},
                   {"share", Align::right},
                   {"leads to"}});
  for (const LinkShare& hop : *route.hops) {
    const Link& link = topology.link(hop.link);
    table.add_row({printable(site_description(cluster, link.from)),
                   fmt::format("{}", link.from_port), short_text(link.capacity),
                   short_text(link.latency), fmt::format("{:.4g}", hop.share),
                   printable(site_description(cluster, link.to))});
  }
  return fmt::format("{} to {}: {} links, {}, {} on the way\n\n{}", source, destination,
                     route.hops->size(), short_text(rate_alone(cluster, *route.hops)),
                     short_text(total_latency(topology, *route.hops)), table.text(2));
}

nlohmann::json hop_json(const Cluster& cluster, const LinkShare& hop) {
  const Link& link = cluster.topology.link(hop.link);
  nlohmann::json entry = {{"node", site_description(cluster, link.from)},
                          {"out_port", link.from_port},
                          {"capacity_bytes_per_s", json_number(link.capacity.count())},
                          {"latency_s", json_number(link.latency.count())},
                          {"share", json_number(hop.share)}};
  const auto place = static_cast<std::size_t>(link.from);
  if (place < cluster.site.names.size() && !cluster.site.names[place].guid.empty()) {
    entry["guid"] = cluster.site.names[place].guid;
  }
  return entry;
}

nlohmann::json route_json(const Cluster& cluster, const FoundRoute& route) {
  nlohmann::json hops;
  if (route.hops) {
    hops = nlohmann::json::array();
    for (const LinkShare& hop : *route.hops) hops.push_back(hop_json(cluster, hop));
  }
  return {{"schema", "headway/route/1"},
          {"source", cluster.topology.name(route.source)},
          {"destination", cluster.topology.name(route.destination)},
          {"hops", std::move(hops)}};
}

int run_route(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Diagnostics diagnostics;
  const auto cluster = cluster_of(arguments, diagnostics);
  diagnostics.throw_if_errors();
  FoundRoute route{.source = find_endpoint(*cluster, arguments.positional()[1], diagnostics),
                   .destination = find_endpoint(*cluster, arguments.positional()[2], diagnostics)};
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  try {
    cluster->routing->append_route(route.source, route.destination, 0, route.hops.emplace());
  } catch (const UnreachableError&) {
    route.hops.reset();
  }
  invocation.terminal.print(arguments.has("json") ? json_document_text(route_json(*cluster, route))
                                                  : route_text(*cluster, route));
  return route.hops ? kExitDone : kExitNegative;
}

}  // namespace

Command route_command() {
  Command command;
  command.name = "route";
  command.group = "Look up";
  command.arguments = "FILE A B";
  command.summary = "the hops that a flow takes, with ports and capacities";
  command.about =
      "Follows a flow from endpoint A to endpoint B through the fabric of FILE: a topology, or a "
      "name of `headway list topologies`.";
  command.examples = {
      {"headway route dgx_h100_superpod node0/nic0 node40/nic3", "on a design that ships"},
      {"headway route site.json 0x946dae0300e00030 0x946dae0300e00031",
       "on an imported fabric, by GUID; NAME/PORT does as well"},
  };
  command.options = with_standard_options({
      set_option("/fabric/leaf/uplinks=16"),
      nodes_option(),
      json_option(),
  });
  command.least_arguments = 3;
  command.most_arguments = 3;
  command.outcome = "nothing was routed";
  command.details =
      "A hop is a node and the port by which the flow leaves it; its latency is that of the cable "
      "and of the switch behind it. Its share is the part of the flow that takes it, less than 1 "
      "where the routing spreads flows over several paths. The exit code is 1 if the fabric's "
      "routing knows no way.";
  command.run = run_route;
  return command;
}

}  // namespace headway
