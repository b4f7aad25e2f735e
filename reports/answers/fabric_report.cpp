#include "reports/answers/fabric_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/base/utf8.h"
#include "sim/files/json_output.h"
#include "sim/network/analysis/topology_counts.h"
#include "sim/network/find_endpoint.h"

namespace headway {
namespace {

using Align = TextTable::Align;

std::string_view class_text(const std::string& name) {
  if (name == "switch_switch") return "switch - switch";
  if (name == "hca_switch") return "host port - switch";
  if (name == "hca_hca") return "host port - host port";
  return "aggregation node";
}

std::string links_text(const FabricAnalysis& analysis) {
  TextTable table({{"cables between"}, {"rate"}, {"cables", Align::right}});
  for (const auto& [name, rates] : analysis.links) {
    for (const auto& [rate, cables] : rates) {
      table.add_row({std::string(class_text(name)), printable(rate), grouped_digits(cables)});
    }
  }
  return table.text(2);
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

std::string pairs_text(const Cluster& cluster, const FabricAnalysis& analysis) {
  if (!analysis.all_pairs) {
    return "  routed pairs      not counted, being too many\n";
  }
  const FabricAnalysis::AllPairs& pairs = *analysis.all_pairs;
  std::string text = fmt::format("  unreachable       {} ordered pairs of ports\n",
                                 grouped_digits(pairs.unreachable_pairs));
  if (pairs.most_loaded) {
    const Link& link = cluster.topology.link(pairs.most_loaded->link);
    text += fmt::format("  all to all        {} routes leave {} by port {}\n",
                        grouped_digits(pairs.most_loaded->routes),
                        printable(site_description(cluster, link.from)), link.from_port);
  }
  TextTable table({{"links on the route", Align::right}, {"ordered pairs", Align::right}});
  for (const auto& [links, count] : pairs.links_histogram) {
    table.add_row({grouped_digits(links), grouped_digits(count)});
  }
  return text + "\n" + table.text(2);
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

}  // namespace

std::string fabric_counts(const Cluster& cluster) {
  return fmt::format("{}: {} hosts with {} ports, {} switches, {} cables", printable(cluster.name),
                     grouped_digits(cluster.site.hosts),
                     grouped_digits(cluster.site.host_ports.size()),
                     grouped_digits(cluster.topology.switch_count()),
                     grouped_digits(cluster.topology.cable_count()));
}

std::string fabric_text(const Cluster& cluster, const FabricAnalysis& analysis) {
  std::string text = fabric_counts(cluster) + "\n\n";
  text += links_text(analysis) + "\n";
  if (analysis.diameter_links) {
    text += fmt::format("  diameter          {} links\n", *analysis.diameter_links);
  }
  text +=
      fmt::format("  bisection         {} links, {}\n", grouped_digits(analysis.bisection_links),
                  short_text(analysis.bisection_bandwidth));
  for (const FabricAnalysis::Shift& shift : analysis.shifts) {
    text += fmt::format("  {:<18}{:.4g} of {} flows on the fullest link",
                        fmt::format("shift by {}", shift.distance), shift.most_flows_on_a_link,
                        grouped_digits(shift.flows));
    if (shift.rates) {
      text += fmt::format("; each gets {} to {}, {} on average", short_text(shift.rates->least),
                          short_text(shift.rates->highest), short_text(shift.rates->mean));
    }
    text += "\n";
  }
  text += pairs_text(cluster, analysis);
  text += "\n" + counts_text(topology_counts(cluster.topology), 2);
  return text;
}

nlohmann::json fabric_json(const Cluster& cluster, const FabricAnalysis& analysis) {
  const nlohmann::json counts = counts_json(topology_counts(cluster.topology));
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

}  // namespace headway
