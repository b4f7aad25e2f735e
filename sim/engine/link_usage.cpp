#include "sim/engine/link_usage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kRounding = 1e-9;  ///< relative; weights are sums of fractions

/// What a plan uses of a link, in streams.
struct PlanWeight {
  std::int32_t plan;
  double weight;
  friend bool operator==(const PlanWeight&, const PlanWeight&) = default;
};

struct LinkWeight {
  LinkId link;
  double weight;
};

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

/// Ports that flows share, as links behind those of the topology.
class Ports {
 public:
  Ports(std::span<const FlowPlan> plans, std::size_t links) : links_(links) {
    for (const FlowPlan& plan : plans) {
      for (const std::int32_t port : plan.ports) {
        const auto i = static_cast<std::size_t>(port);
        rates_.resize(std::max(rates_.size(), i + 1), 0.0);
        rates_[i] = std::max(rates_[i], plan.port_rate.count());
      }
    }
  }

  /// The number of links and ports.
  [[nodiscard]] std::size_t count() const { return links_ + rates_.size(); }
  [[nodiscard]] bool is_port(LinkId link) const { return static_cast<std::size_t>(link) >= links_; }
  /// What the fastest flow has alone.
  [[nodiscard]] double rate(LinkId port) const {
    return rates_[static_cast<std::size_t>(port) - links_];
  }
  /// Behind the loads of a plan those of its ports.
  void append(const FlowPlan& plan, std::vector<LinkLoad>& loads) const {
    for (const std::int32_t port : plan.ports) {
      const auto link = static_cast<LinkId>(links_ + static_cast<std::size_t>(port));
      loads.push_back({link, rate(link) / plan.port_rate.count()});
    }
  }

 private:
  std::size_t links_;
  std::vector<double> rates_;
};

/// Who uses what, from both sides, in one piece of memory each.
class PlansAndLinks {
 public:
  PlansAndLinks(std::span<const FlowPlan> plans, const Ports& ports) {
    const std::size_t links = ports.count();
    first_of_plan_.push_back(0);
    first_of_link_.assign(links + 1, 0);
    for (const FlowPlan& plan : plans) {
      std::vector<LinkLoad> loads = merged(plan.links);
      units_.push_back(common_unit(loads));
      ports.append(plan, loads);
      for (const LinkLoad& load : loads) {
        of_plans_.push_back({load.link, streams(load.weight, units_.back())});
        ++first_of_link_[static_cast<std::size_t>(load.link) + 1];
      }
      first_of_plan_.push_back(of_plans_.size());
    }
    for (std::size_t i = 0; i < links; ++i) first_of_link_[i + 1] += first_of_link_[i];
    of_links_.resize(of_plans_.size());
    std::vector<std::size_t> next(first_of_link_.begin(), first_of_link_.end() - 1);
    for (std::size_t plan = 0; plan < plans.size(); ++plan) {
      for (const LinkWeight& use : links_of(plan)) {
        of_links_[next[static_cast<std::size_t>(use.link)]++] = {static_cast<std::int32_t>(plan),
                                                                 use.weight};
      }
    }
  }

  [[nodiscard]] std::vector<double>& units() { return units_; }
  /// In order of links.
  [[nodiscard]] std::span<const LinkWeight> links_of(std::size_t plan) const {
    return {of_plans_.data() + first_of_plan_[plan], of_plans_.data() + first_of_plan_[plan + 1]};
  }
  /// In order of plans.
  [[nodiscard]] std::span<const PlanWeight> users_of(LinkId link) const {
    const auto i = static_cast<std::size_t>(link);
    return {of_links_.data() + first_of_link_[i], of_links_.data() + first_of_link_[i + 1]};
  }

 private:
  std::vector<double> units_;
  std::vector<std::size_t> first_of_plan_;
  std::vector<LinkWeight> of_plans_;
  std::vector<std::size_t> first_of_link_;
  std::vector<PlanWeight> of_links_;
};

std::size_t hash_of(std::span<const PlanWeight> users) {
  std::size_t hash = users.size();
  for (const PlanWeight& user : users) {
    hash = hash * 0x9e3779b97f4a7c15ULL + static_cast<std::size_t>(user.plan);
    hash = hash * 0x9e3779b97f4a7c15ULL + std::hash<double>()(user.weight);
  }
  return hash;
}

/// A class of links that bind alike: what the first of them is used for, at the least capacity.
struct LinkClass {
  LinkId link;
  double capacity;
  bool may_go;  ///< false where the capacity changes
};

std::vector<LinkClass> link_classes(const PlansAndLinks& use, const Topology& topology,
                                    const Ports& ports, bool fold_equal_links,
                                    double nic_efficiency, const std::set<LinkId>& kept_apart) {
  const auto capacity_of = [&](LinkId link) {
    if (ports.is_port(link)) return ports.rate(link);
    const Link& wire = topology.link(link);
    const bool is_of_nic = !topology.is_switch(wire.from) || !topology.is_switch(wire.to);
    return (is_of_nic ? nic_efficiency : 1.0) * wire.capacity.count();
  };
  std::vector<LinkClass> classes;
  std::unordered_multimap<std::size_t, std::size_t> class_by_hash;
  for (LinkId link = 0; link < static_cast<LinkId>(ports.count()); ++link) {
    const std::span<const PlanWeight> users = use.users_of(link);
    if (users.empty()) continue;
    const double capacity = capacity_of(link);
    HEADWAY_CHECK(capacity > 0.0, "a route leads over a link without capacity");
    const bool may_go = fold_equal_links && !kept_apart.contains(link);
    bool folded = false;
    if (may_go) {
      const std::size_t hash = hash_of(users);
      const auto [begin, end] = class_by_hash.equal_range(hash);
      for (auto candidate = begin; candidate != end && !folded; ++candidate) {
        LinkClass& known = classes[candidate->second];
        if (!std::ranges::equal(use.users_of(known.link), users)) continue;
        known.capacity = std::min(known.capacity, capacity);
        folded = true;
      }
      if (!folded) class_by_hash.emplace(hash, classes.size());
    }
    if (!folded) classes.push_back({link, capacity, may_go});
  }
  return classes;
}

/// Finds links that can never bind because another one always binds before.
class ImpliedLinks {
 public:
  ImpliedLinks(const PlansAndLinks& use, const std::vector<LinkClass>& classes, std::size_t links)
      : use_(use), classes_(classes), class_of_(links, -1) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      class_of_[static_cast<std::size_t>(classes[i].link)] = static_cast<std::int32_t>(i);
    }
  }

  /// Whether every plan that uses `at` takes at least as large a share of one other link. Of two
  /// that imply each other the first stays.
  [[nodiscard]] bool is_implied(const LinkClass& at) const {
    if (!at.may_go) return false;
    const std::span<const PlanWeight> users = use_.users_of(at.link);
    const auto shortest = std::ranges::min_element(users, {}, [&](const PlanWeight& user) {
      return use_.links_of(static_cast<std::size_t>(user.plan)).size();
    });
    const auto candidates = use_.links_of(static_cast<std::size_t>(shortest->plan));
    if (candidates.size() > kMostCandidates) return false;
    return std::ranges::any_of(candidates, [&](const LinkWeight& candidate) {
      const std::int32_t known = class_of_[static_cast<std::size_t>(candidate.link)];
      return known >= 0 && candidate.link != at.link &&
             implies(classes_[static_cast<std::size_t>(known)], at);
    });
  }

 private:
  static constexpr std::size_t kMostCandidates = 64;

  [[nodiscard]] bool implies(const LinkClass& other, const LinkClass& at) const {
    const std::span<const PlanWeight> of_other = use_.users_of(other.link);
    if (!other.may_go || of_other.size() < use_.users_of(at.link).size()) return false;
    bool is_stricter = false;
    auto user = of_other.begin();
    for (const PlanWeight& here : use_.users_of(at.link)) {
      while (user != of_other.end() && user->plan < here.plan) ++user;
      if (user == of_other.end() || user->plan != here.plan) return false;
      const double share = user->weight * at.capacity;
      if (share < here.weight * other.capacity) return false;
      if (share > here.weight * other.capacity * (1.0 + kRounding)) is_stricter = true;
    }
    return is_stricter || of_other.size() > use_.users_of(at.link).size() || other.link < at.link;
  }

  const PlansAndLinks& use_;
  const std::vector<LinkClass>& classes_;
  std::vector<std::int32_t> class_of_;
};

}  // namespace

LinkUsage link_usage(std::span<const FlowPlan> plans, const Topology& topology,
                     bool fold_equal_links, double nic_efficiency,
                     const std::set<LinkId>& kept_apart) {
  const Ports ports(plans, static_cast<std::size_t>(topology.link_count()));
  PlansAndLinks use(plans, ports);
  const std::vector<LinkClass> classes =
      link_classes(use, topology, ports, fold_equal_links, nic_efficiency, kept_apart);
  const ImpliedLinks implied(use, classes, ports.count());
  LinkUsage usage;
  usage.plans.resize(plans.size());
  for (const LinkClass& each : classes) {
    if (implied.is_implied(each)) continue;
    const auto kept = static_cast<std::int32_t>(usage.kept.size());
    usage.kept.push_back(each.link);
    usage.capacities.push_back(each.capacity);
    for (const PlanWeight& user : use.users_of(each.link)) {
      usage.plans[static_cast<std::size_t>(user.plan)].push_back({kept, user.weight});
    }
  }
  usage.units = std::move(use.units());
  return usage;
}

}  // namespace headway
