#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/network/analysis/found_route.h"
#include "sim/network/find_endpoint.h"

namespace headway {
namespace {

TextTable hop_table(const Cluster& cluster, const FoundRoute& route) {
  TextTable table({{"node"},
                   {"out port", kRight},
                   {"capacity", kRight},
                   {"latency", kRight},
                   {"share", kRight},
                   {"leads to"}});
  for (const LinkShare& hop : *route.hops) {
    const Link& link = cluster.topology.link(hop.link);
    const std::string port = site_port(cluster, hop.link);
    table.add_row({site_description(cluster, link.from),
                   port.empty() ? fmt::format("{}", link.from_port) : port,
                   short_text(link.capacity), short_text(cluster.topology.latency(hop.link)),
                   fmt::format("{:.4g}", hop.share), site_description(cluster, link.to)});
  }
  return table;
}

/// "4 links", of several ways "10 links, 4 on each": as many as a byte crosses, on average.
std::string links_text(const std::vector<LinkShare>& hops) {
  const std::string all = counted(std::ssize(hops), "link");
  double crossed = 0.0;
  for (const LinkShare& hop : hops) crossed += hop.share;
  constexpr double kRounding = 1e-6;
  if (std::abs(crossed - static_cast<double>(hops.size())) < kRounding) return all;
  return fmt::format("{} of several ways, {:.4g} on each", all, crossed);
}

Document route_document(const Cluster& cluster, const FoundRoute& route) {
  const std::string source(cluster.topology.name(route.source));
  const std::string destination(cluster.topology.name(route.destination));
  if (!route.hops) {
    return {.title = fmt::format("there is no route from {} to {}", source, destination)};
  }
  if (route.hops->empty()) return {.title = fmt::format("{} is its own destination", source)};
  return {.title = fmt::format("{} to {}: {}, {}, {} on the way", source, destination,
                               links_text(*route.hops), short_text(route.rate),
                               short_text(route.latency)),
          .sections = {{"Hops", {hop_table(cluster, route)}}}};
}

nlohmann::json hop_json(const Cluster& cluster, const LinkShare& hop) {
  const Link& link = cluster.topology.link(hop.link);
  nlohmann::json entry = {{"node", site_description(cluster, link.from)},
                          {"out_port", link.from_port},
                          {"capacity_bytes_per_s", json_number(link.capacity.count())},
                          {"latency_s", json_number(cluster.topology.latency(hop.link).count())},
                          {"share", json_number(hop.share)}};
  const auto place = static_cast<std::size_t>(link.from);
  const std::string port = site_port(cluster, hop.link);
  if (!port.empty()) entry["out_port_name"] = port;
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

}  // namespace

Answer route_answer(const Cluster& cluster, const FoundRoute& route) {
  return {.text =
              [&](const Screen& screen) {
                return brief_text_of(route_document(cluster, route), screen.columns);
              },
          .document = [&] { return route_document(cluster, route); },
          .json = [&] { return json_document_text(route_json(cluster, route)); },
          .csv =
              [&] {
                return csv_of(
                    route_json(cluster, route).at("hops"),
                    {"node", "guid", "out_port", "capacity_bytes_per_s", "latency_s", "share"});
              }};
}

}  // namespace headway
