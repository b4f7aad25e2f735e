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

/// Sets the ratio of each tier from the cables of all classes.
void set_oversubscription(TopologyCounts& counts) {
  for (std::size_t i = 0; i < counts.tiers.size(); ++i) {
    const int tier = static_cast<int>(i);
    double below = 0.0;
    double above = 0.0;
    for (const TopologyCounts::Cables& cables : counts.cable_classes) {
      if (cables.lower_tier == cables.upper_tier) continue;
      const double bandwidth = cables.cables * cables.bandwidth.count();
      if (cables.upper_tier == tier) below += bandwidth;
      if (cables.lower_tier == tier) above += bandwidth;
    }
    if (above > 0.0) counts.tiers[i].oversubscription = below / above;
  }
}

}  // namespace

TopologyCounts topology_counts(const Topology& topology) {
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
  set_oversubscription(counts);
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
