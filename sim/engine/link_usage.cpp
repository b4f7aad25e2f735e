#include "sim/engine/link_usage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kRounding = 1e-9;  ///< relative; weights are sums of fractions

struct PlanWeight {
  std::int32_t plan;
  double weight;
  friend bool operator==(const PlanWeight&, const PlanWeight&) = default;
};

/// By link: which plans use it, and how much, in order of plans.
using UsersOfLink = std::unordered_map<LinkId, std::vector<PlanWeight>>;

/// Each link once.
std::vector<LinkLoad> merged(std::vector<LinkLoad> loads) {
  std::ranges::sort(loads, [](const LinkLoad& a, const LinkLoad& b) {
    return a.link != b.link ? a.link < b.link : a.weight < b.weight;
  });
  std::vector<LinkLoad> each_once;
  for (const LinkLoad& load : loads) {
    if (!each_once.empty() && each_once.back().link == load.link) {
      each_once.back().weight += load.weight;
    } else {
      each_once.push_back(load);
    }
  }
  return each_once;
}

bool is_whole(double times) { return std::abs(times - std::round(times)) < kRounding * times; }

/// The largest amount of which every weight is a whole multiple. Weights are shares of few paths
/// and rings, hence small fractions; the smallest one where they are not.
double common_unit(const std::vector<LinkLoad>& loads) {
  constexpr int kMostParts = 64;
  if (loads.empty()) return 1.0;
  const double least = std::ranges::min(loads, {}, &LinkLoad::weight).weight;
  for (int parts = 1; parts <= kMostParts; ++parts) {
    const double unit = least / parts;
    const bool divides_all = std::ranges::all_of(
        loads, [unit](const LinkLoad& load) { return is_whole(load.weight / unit); });
    if (divides_all) return unit;
  }
  return least;
}

/// Times that a unit goes into a weight, free of rounding errors where it is a whole number.
double streams(double weight, double unit) {
  const double times = weight / unit;
  return is_whole(times) ? std::round(times) : times;
}

UsersOfLink users_of_links(std::span<const FlowPlan> plans, std::vector<double>& units) {
  UsersOfLink users;
  for (std::size_t plan = 0; plan < plans.size(); ++plan) {
    const std::vector<LinkLoad> loads = merged(plans[plan].links);
    units.push_back(common_unit(loads));
    for (const LinkLoad& load : loads) {
      users[load.link].push_back(
          {static_cast<std::int32_t>(plan), streams(load.weight, units.back())});
    }
  }
  return users;
}

std::size_t hash_of(const std::vector<PlanWeight>& users) {
  std::size_t hash = users.size();
  for (const PlanWeight& user : users) {
    hash = hash * 0x9e3779b97f4a7c15ULL + static_cast<std::size_t>(user.plan);
    hash = hash * 0x9e3779b97f4a7c15ULL + std::hash<double>()(user.weight);
  }
  return hash;
}

}  // namespace

LinkUsage link_usage(std::span<const FlowPlan> plans, const Topology& topology,
                     bool fold_equal_links, double nic_efficiency,
                     const std::set<LinkId>& kept_apart) {
  LinkUsage usage;
  const UsersOfLink users = users_of_links(plans, usage.units);
  std::vector<LinkId> links;
  links.reserve(users.size());
  for (const auto& [link, unused] : users) links.push_back(link);
  std::ranges::sort(links);  // the order of a hash table must not reach the result

  usage.plans.resize(plans.size());
  std::unordered_multimap<std::size_t, std::size_t> class_by_hash;  // to index in `kept`
  for (const LinkId link : links) {
    const std::vector<PlanWeight>& of_link = users.at(link);
    const Link& wire = topology.link(link);
    const bool is_of_nic = !topology.is_switch(wire.from) || !topology.is_switch(wire.to);
    const double capacity = (is_of_nic ? nic_efficiency : 1.0) * wire.capacity.count();
    HEADWAY_CHECK(capacity > 0.0, "a route leads over a link without capacity");
    const std::size_t hash = hash_of(of_link);
    bool folded = false;
    const bool may_fold = fold_equal_links && !kept_apart.contains(link);
    if (may_fold) {
      const auto [begin, end] = class_by_hash.equal_range(hash);
      for (auto candidate = begin; candidate != end && !folded; ++candidate) {
        const std::size_t kept = candidate->second;
        if (users.at(usage.kept[kept]) != of_link) continue;
        usage.capacities[kept] = std::min(usage.capacities[kept], capacity);
        folded = true;
      }
    }
    if (folded) continue;
    if (may_fold) class_by_hash.emplace(hash, usage.kept.size());
    usage.kept.push_back(link);
    usage.capacities.push_back(capacity);
  }
  for (std::size_t i = 0; i < usage.kept.size(); ++i) {
    for (const PlanWeight& user : users.at(usage.kept[i])) {
      usage.plans[static_cast<std::size_t>(user.plan)].push_back(
          {static_cast<std::int32_t>(i), user.weight});
    }
  }
  return usage;
}

}  // namespace headway
