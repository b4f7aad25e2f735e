#include "sim/network/analysis/topology_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "sim/base/quantity_text.h"

namespace headway {

namespace {

std::string tier_name(int tier) { return tier < 0 ? "endpoints" : fmt::format("tier {}", tier); }

std::string tiers_between(const TopologyCounts::Cables& cables) {
  return fmt::format("{} - {}", tier_name(cables.lower_tier), tier_name(cables.upper_tier));
}

/// Sets the ratio of each tier.
void set_oversubscription(TopologyCounts& counts, const Cluster& cluster) {
  const Topology& topology = cluster.topology;
  std::vector<bool> serves(static_cast<std::size_t>(topology.vertex_count()));
  for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
    serves[static_cast<std::size_t>(vertex)] = topology.is_switch(vertex);
  }
  for (const VertexId port : cluster.site.host_ports) serves[static_cast<std::size_t>(port)] = true;
  std::vector<BytesPerSecond> below(counts.tiers.size());
  std::vector<BytesPerSecond> above(counts.tiers.size());
  for (LinkId id = 0; id < topology.link_count(); id += 2) {
    if (!topology.is_up(id)) continue;
    const Link& link = topology.link(id);
    const auto [lower, upper] = std::minmax({topology.tier(link.from), topology.tier(link.to)});
    const bool is_served =
        serves[static_cast<std::size_t>(link.from)] && serves[static_cast<std::size_t>(link.to)];
    if (lower == upper || !is_served) continue;
    below[static_cast<std::size_t>(upper)] += link.capacity;
    if (lower >= 0) above[static_cast<std::size_t>(lower)] += link.capacity;
  }
  for (std::size_t i = 0; i < counts.tiers.size(); ++i) {
    if (above[i] > BytesPerSecond(0.0)) counts.tiers[i].oversubscription = below[i] / above[i];
  }
}

}  // namespace

TopologyCounts topology_counts(const Cluster& cluster) {
  const Topology& topology = cluster.topology;
  TopologyCounts counts{.endpoints = topology.endpoint_count(),
                        .switches = topology.switch_count(),
                        .cables = topology.cable_count() - topology.cables_down(),
                        .cables_down = topology.cables_down()};
  for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
    if (!topology.is_switch(vertex)) continue;
    const auto tier = static_cast<std::size_t>(topology.tier(vertex));
    if (tier >= counts.tiers.size()) counts.tiers.resize(tier + 1);
    ++counts.tiers[tier].switches;
  }
  std::map<std::tuple<int, int, BytesPerSecond>, int> classes;
  for (LinkId id = 0; id < topology.link_count(); id += 2) {
    if (!topology.is_up(id)) continue;
    const Link& link = topology.link(id);
    const int from = topology.tier(link.from);
    const int to = topology.tier(link.to);
    ++classes[{std::min(from, to), std::max(from, to), link.capacity}];
  }
  for (const auto& [key, cables] : classes) {
    const auto& [lower, upper, bandwidth] = key;
    counts.cable_classes.push_back(
        {.lower_tier = lower, .upper_tier = upper, .bandwidth = bandwidth, .cables = cables});
  }
  set_oversubscription(counts, cluster);
  return counts;
}

nlohmann::json counts_json(const TopologyCounts& counts) {
  nlohmann::json tiers = nlohmann::json::array();
  for (const TopologyCounts::Tier& tier : counts.tiers) {
    nlohmann::json entry = {{"switches", tier.switches}};
    if (tier.oversubscription) entry["oversubscription"] = *tier.oversubscription;
    tiers.push_back(std::move(entry));
  }
  nlohmann::json classes = nlohmann::json::array();
  for (const TopologyCounts::Cables& cables : counts.cable_classes) {
    classes.push_back({{"between", tiers_between(cables)},
                       {"bandwidth_bytes_per_s", cables.bandwidth.count()},
                       {"cables", cables.cables}});
  }
  return {{"endpoints", counts.endpoints}, {"switches", counts.switches},
          {"cables", counts.cables},       {"cables_down", counts.cables_down},
          {"tiers", std::move(tiers)},     {"cable_classes", std::move(classes)}};
}

TextTable tier_table(const TopologyCounts& counts) {
  TextTable table({{"tier"}, {"switches", kRight}, {"oversubscription", kRight}});
  for (std::size_t i = 0; i < counts.tiers.size(); ++i) {
    const TopologyCounts::Tier& tier = counts.tiers[i];
    table.add_row({fmt::format("{}", i), grouped_digits(tier.switches),
                   tier.oversubscription ? fmt::format("{:.4g}:1", *tier.oversubscription) : ""});
  }
  return table;
}

TextTable cable_table(const TopologyCounts& counts) {
  TextTable table({{"cables between"}, {"bandwidth", kRight}, {"cables", kRight}});
  for (const TopologyCounts::Cables& entry : counts.cable_classes) {
    table.add_row(
        {tiers_between(entry), short_text(entry.bandwidth), grouped_digits(entry.cables)});
  }
  return table;
}

}  // namespace headway
