#include "sim/engine/link_usage.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

struct PlanWeight {
  std::int32_t plan;
  double weight;
  friend bool operator==(const PlanWeight&, const PlanWeight&) = default;
};

/// By link: which plans use it, and how much, in order of plans.
using UsersOfLink = std::unordered_map<LinkId, std::vector<PlanWeight>>;

UsersOfLink users_of_links(std::span<const FlowPlan> plans) {
  UsersOfLink users;
  for (std::size_t plan = 0; plan < plans.size(); ++plan) {
    const auto id = static_cast<std::int32_t>(plan);
    for (const LinkLoad& load : plans[plan].links) {
      std::vector<PlanWeight>& of_link = users[load.link];
      if (!of_link.empty() && of_link.back().plan == id) {
        of_link.back().weight += load.weight;
      } else {
        of_link.push_back({id, load.weight});
      }
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
                     bool fold_equal_links) {
  const UsersOfLink users = users_of_links(plans);
  std::vector<LinkId> links;
  links.reserve(users.size());
  for (const auto& [link, unused] : users) links.push_back(link);
  std::ranges::sort(links);  // the order of a hash table must not reach the result

  LinkUsage usage;
  usage.plans.resize(plans.size());
  std::unordered_multimap<std::size_t, std::size_t> class_by_hash;  // to index in `kept`
  for (const LinkId link : links) {
    const std::vector<PlanWeight>& of_link = users.at(link);
    const double capacity = topology.link(link).capacity.count();
    HEADWAY_CHECK(capacity > 0.0, "a route leads over a link without capacity");
    const std::size_t hash = hash_of(of_link);
    bool folded = false;
    if (fold_equal_links) {
      const auto [begin, end] = class_by_hash.equal_range(hash);
      for (auto candidate = begin; candidate != end && !folded; ++candidate) {
        const std::size_t kept = candidate->second;
        if (users.at(usage.kept[kept]) != of_link) continue;
        usage.capacities[kept] = std::min(usage.capacities[kept], capacity);
        folded = true;
      }
    }
    if (folded) continue;
    class_by_hash.emplace(hash, usage.kept.size());
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
