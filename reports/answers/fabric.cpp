#include "reports/answers/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/files/json_output.h"
#include "sim/network/analysis/fabric_analysis.h"
#include "sim/network/analysis/topology_counts.h"
#include "sim/network/find_endpoint.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string_view class_text(const std::string& name) {
  if (name == "switch_switch") return "switch - switch";
  if (name == "hca_switch") return "host port - switch";
  if (name == "hca_hca") return "host port - host port";
  return "aggregation node";
}

TextTable links_table(const FabricAnalysis& analysis) {
  TextTable table({{"cables between"}, {"rate"}, {"cables", kRight}});
  for (const auto& [name, rates] : analysis.links) {
    for (const auto& [rate, cables] : rates) {
      table.add_row({std::string(class_text(name)), rate, grouped_digits(cables)});
    }
  }
  return table;
}

double mean_links(const FabricAnalysis::AllPairs& pairs) {
  double links = 0.0;
  double routes = 0.0;
  for (const auto& [length, count] : pairs.links_histogram) {
    links += static_cast<double>(length) * static_cast<double>(count);
    routes += static_cast<double>(count);
  }
  return routes > 0.0 ? links / routes : 0.0;
}

std::string shift_text(const FabricAnalysis::Shift& shift) {
  std::string text = fmt::format("{:.4g} of {} flows on the fullest link",
                                 shift.most_flows_on_a_link, grouped_digits(shift.flows));
  if (!shift.rates) return text;
  return text + fmt::format("; each gets {} to {}, {} on average", short_text(shift.rates->least),
                            short_text(shift.rates->highest), short_text(shift.rates->mean));
}

FactList routing_facts(const Cluster& cluster, const FabricAnalysis& analysis) {
  FactList list{.name_width = 18};
  const auto add = [&](std::string name, std::string value) {
    list.facts.emplace_back(std::move(name), std::move(value));
  };
  if (analysis.diameter_links) add("diameter", counted(*analysis.diameter_links, "link"));
  add("bisection", fmt::format("{}, {}", counted(analysis.bisection_links, "link"),
                               short_text(analysis.bisection_bandwidth)));
  for (const FabricAnalysis::Shift& shift : analysis.shifts) {
    add(fmt::format("shift by {}", shift.distance), shift_text(shift));
  }
  if (!analysis.all_pairs) {
    add("routed pairs", "not counted, being too many");
    return list;
  }
  const FabricAnalysis::AllPairs& pairs = *analysis.all_pairs;
  add("unreachable", grouped_digits(pairs.unreachable_pairs) + " ordered pairs of ports");
  if (pairs.most_loaded) {
    const Link& link = cluster.topology.link(pairs.most_loaded->link);
    add("all to all",
        fmt::format("{} routes leave {} by port {}", grouped_digits(pairs.most_loaded->routes),
                    site_description(cluster, link.from), link.from_port));
  }
  return list;
}

Figure histogram_figure(const FabricAnalysis::AllPairs& pairs) {
  TextTable table({{"links on the route", kRight}, {"ordered pairs", kRight}});
  Chart chart{.kind = Chart::Kind::bars, .x_title = "ordered pairs of ports"};
  Chart::Series series{.name = "pairs", .colour = 0};
  for (const auto& [links, count] : pairs.links_histogram) {
    table.add_row({grouped_digits(links), grouped_digits(count)});
    chart.labels.push_back(counted(links, "link"));
    series.values.push_back(static_cast<double>(count));
  }
  chart.series.push_back(std::move(series));
  return {.title = "Links on the route between two ports",
          .caption = "How many ordered pairs of ports are so many links apart.",
          .picture = std::move(chart),
          .table = std::move(table)};
}

/// What the ports of all hosts can send.
BytesPerSecond port_capacity(const Cluster& cluster) {
  const Topology& topology = cluster.topology;
  std::vector<bool> is_host_port(static_cast<std::size_t>(topology.vertex_count()));
  for (const VertexId port : cluster.site.host_ports) {
    is_host_port[static_cast<std::size_t>(port)] = true;
  }
  BytesPerSecond all;
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    const Link& link = topology.link(id);
    if (topology.is_up(id) && is_host_port[static_cast<std::size_t>(link.from)])
      all += link.capacity;
  }
  return all;
}

/// Whether the fabric is what its ports are, by the numbers below it; empty for less than two ports
/// with cables, and for rings, whose ports pass on what others send.
std::string answer_of(const Cluster& cluster, const FabricAnalysis& analysis) {
  const BytesPerSecond half = 0.5 * port_capacity(cluster);
  if (half <= BytesPerSecond(0.0) || cluster.topology.switch_count() == 0) return "";
  const double carried = analysis.bisection_bandwidth / half;
  std::string text = fmt::format(
      "Between the two halves of its ports the fabric carries {} % of what they can send",
      percent(std::min(1.0, carried)));
  const FabricAnalysis::Shift* worst = nullptr;
  for (const FabricAnalysis::Shift& shift : analysis.shifts) {
    if (!shift.rates) continue;
    if (worst == nullptr || shift.rates->least < worst->rates->least) worst = &shift;
  }
  if (worst != nullptr) {
    text += fmt::format("; by its routes the flow that gets least of a shift gets {} (shift by {})",
                        short_text(worst->rates->least), worst->distance);
  }
  text += '.';
  if (analysis.all_pairs && analysis.all_pairs->unreachable_pairs > 0) {
    const std::int64_t lost = analysis.all_pairs->unreachable_pairs;
    std::int64_t pairs = lost;
    for (const auto& [links, count] : analysis.all_pairs->links_histogram) pairs += count;
    text += fmt::format(" {} of {} ordered pairs of ports do not reach each other.",
                        grouped_digits(lost), grouped_digits(pairs));
  }
  return text;
}

/// Cables that are down, and those slower than most between the same tiers: the first few by name.
std::string weak_cables(const Cluster& cluster, const TopologyCounts& counts) {
  constexpr int kNamed = 3;
  using Tiers = std::pair<int, int>;
  std::map<Tiers, TopologyCounts::Cables> usual;
  for (const TopologyCounts::Cables& cables : counts.cable_classes) {
    TopologyCounts::Cables& most = usual[{cables.lower_tier, cables.upper_tier}];
    if (cables.cables >= most.cables) most = cables;
  }
  const Topology& topology = cluster.topology;
  // Units of switches that reduce, as SHARP's do, are no hosts, and as fast as they are made.
  const std::set<VertexId> ports(cluster.site.host_ports.begin(), cluster.site.host_ports.end());
  const auto is_device = [&](VertexId end) {
    return !topology.is_switch(end) && !ports.contains(end);
  };
  std::vector<std::string> names;
  int more = 0;
  for (LinkId id = 0; id < topology.link_count(); id += 2) {
    const Link& link = topology.link(id);
    const bool is_down = !topology.is_up(id);
    const Tiers tiers = std::minmax({topology.tier(link.from), topology.tier(link.to)});
    if (!is_down && link.capacity >= usual[tiers].bandwidth) continue;
    if (!is_down && (is_device(link.from) || is_device(link.to))) continue;
    if (std::ssize(names) == kNamed) {
      ++more;
      continue;
    }
    names.push_back(fmt::format("{} - {} ({})", site_description(cluster, link.from),
                                site_description(cluster, link.to),
                                is_down ? "down" : short_text(link.capacity)));
  }
  if (names.empty()) return "";
  return fmt::format("down, or slower than others of their tiers: {}{}", join_words(names, ", "),
                     more == 0 ? "" : fmt::format(", and {} more", grouped_digits(more)));
}

Document fabric_document(const Cluster& cluster, const FabricAnalysis& analysis) {
  const TopologyCounts counts = topology_counts(cluster);
  Document document{.title = fabric_counts(cluster)};
  const std::string answer = answer_of(cluster, analysis);
  if (!answer.empty()) {
    document.sections.push_back({"Answer", {Paragraph{answer}}, Shown::on_pages});
  }
  document.sections.push_back({"Cables", {links_table(analysis)}});
  DocumentSection routes{"Routes", {routing_facts(cluster, analysis)}};
  if (analysis.all_pairs) routes.blocks.emplace_back(histogram_figure(*analysis.all_pairs));
  document.sections.push_back(std::move(routes));
  DocumentSection tiers{
      "Tiers",
      {Paragraph{
          fmt::format("{}, {}, {}{}", counted(counts.endpoints, "endpoint"),
                      counted(counts.switches, "switch"), counted(counts.cables, "cable"),
                      counts.cables_down == 0
                          ? ""
                          : fmt::format(", {} more down", grouped_digits(counts.cables_down)))}}};
  if (!counts.tiers.empty()) tiers.blocks.emplace_back(tier_table(counts));
  if (!counts.cable_classes.empty()) tiers.blocks.emplace_back(cable_table(counts));
  const std::string weak = weak_cables(cluster, counts);
  if (!weak.empty()) tiers.blocks.emplace_back(Paragraph{weak});
  document.sections.push_back(std::move(tiers));
  if (!answer.empty()) document.sections.push_back({"", {Paragraph{answer}}, Shown::on_terminals});
  return document;
}

nlohmann::json link_json(const Cluster& cluster, LinkId id) {
  const Link& link = cluster.topology.link(id);
  return {{"node", site_description(cluster, link.from)}, {"out_port", link.from_port}};
}

nlohmann::json shifts_json(const Cluster& cluster, const FabricAnalysis& analysis) {
  nlohmann::json shifts = nlohmann::json::array();
  for (const FabricAnalysis::Shift& shift : analysis.shifts) {
    shifts.push_back(
        {{"k", shift.distance},
         {"flows", shift.flows},
         {"max_flows_on_a_directed_link", json_number(shift.most_flows_on_a_link)},
         {"most_loaded",
          shift.most_loaded ? link_json(cluster, *shift.most_loaded) : nlohmann::json()},
         {"max_min_bytes_per_s",
          shift.rates ? nlohmann::json{{"min", json_number(shift.rates->least.count())},
                                       {"mean", json_number(shift.rates->mean.count())},
                                       {"max", json_number(shift.rates->highest.count())}}
                      : nlohmann::json()}});
  }
  return shifts;
}

nlohmann::json links_json(const Cluster& cluster, const FabricAnalysis& analysis) {
  nlohmann::json links = {{"total", cluster.topology.cable_count()}};
  for (const char* name : {"switch_switch", "hca_switch", "aggregation_node"}) {
    links[name] = nlohmann::json::object();
  }
  for (const auto& [name, rates] : analysis.links) links[name] = rates;
  return links;
}

void add_pairs(const Cluster& cluster, const FabricAnalysis::AllPairs& pairs,
               nlohmann::json& document) {
  document["unreachable_pairs"] = pairs.unreachable_pairs;
  nlohmann::json histogram = nlohmann::json::object();
  for (const auto& [links, count] : pairs.links_histogram) {
    histogram[fmt::format("{}", links)] = count;
  }
  document["routed_links_histogram"] = std::move(histogram);
  document["routed_links_mean"] = json_number(mean_links(pairs));
  if (!pairs.most_loaded) return;
  const Link& link = cluster.topology.link(pairs.most_loaded->link);
  document["all_to_all_max_routes_on_a_directed_switch_link"] = {
      {"routes", pairs.most_loaded->routes},
      {"switch", site_description(cluster, link.from)},
      {"out_port", link.from_port}};
}

nlohmann::json fabric_json(const Cluster& cluster, const FabricAnalysis& analysis) {
  const nlohmann::json counts = counts_json(topology_counts(cluster));
  nlohmann::json document = {
      {"schema", "headway/fabric/1"},
      {"name", cluster.name},
      {"nodes", cluster.nodes},
      {"hosts", analysis.hosts},
      {"host_ports", analysis.host_ports},
      {"switches", analysis.switches},
      {"links", links_json(cluster, analysis)},
      {"tiers", counts["tiers"]},
      {"cable_classes", counts["cable_classes"]},
      {"diameter_links",
       analysis.diameter_links ? nlohmann::json(*analysis.diameter_links) : nlohmann::json()},
      {"bisection_links", analysis.bisection_links},
      {"bisection_bytes_per_s", json_number(analysis.bisection_bandwidth.count())},
      {"shifts", shifts_json(cluster, analysis)},
      {"unreachable_pairs", nullptr},
      {"routed_links_histogram", nullptr},
      {"routed_links_mean", nullptr},
      {"all_to_all_max_routes_on_a_directed_switch_link", nullptr}};
  if (analysis.all_pairs) add_pairs(cluster, *analysis.all_pairs, document);
  return document;
}

}  // namespace

std::string fabric_counts(const Cluster& cluster) {
  return fmt::format("{}: {} with {}, {}, {}", printable(cluster.name),
                     counted(cluster.site.hosts, "host"),
                     counted(std::ssize(cluster.site.host_ports), "port"),
                     counted(cluster.topology.switch_count(), "switch"),
                     counted(cluster.topology.cable_count(), "cable"));
}

Answer fabric_answer(const Cluster& cluster, const FabricAnalysis& analysis) {
  return {.text =
              [&](const Screen& screen) {
                return brief_text_of(fabric_document(cluster, analysis), screen.columns);
              },
          .document = [&] { return fabric_document(cluster, analysis); },
          .json = [&] { return json_document_text(fabric_json(cluster, analysis)); },
          .csv =
              [&] {
                return csv_of(nlohmann::json::array({fabric_json(cluster, analysis)}),
                              {"name", "nodes", "hosts", "host_ports", "switches",
                               "cables=links/total", "diameter_links", "bisection_links",
                               "bisection_bytes_per_s", "unreachable_pairs", "routed_links_mean"});
              }};
}

}  // namespace headway
