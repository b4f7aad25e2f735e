#include "sim/predict/what_if/removals.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "sim/result/breakdown.h"

namespace headway {
namespace {

/// Accelerators that are removed together, and how slow the slowest of them is.
struct Place {
  std::vector<std::int32_t> accelerators;
  double slowest = 0.0;
};

/// The keys of the `most` largest, the largest first.
std::vector<int> worst_of(const std::map<int, double>& slowness, int most) {
  std::vector<std::pair<int, double>> sorted(slowness.begin(), slowness.end());
  std::ranges::stable_sort(sorted, std::greater<>(), &std::pair<int, double>::second);
  std::vector<int> worst;
  for (const auto& [key, unused] : sorted) {
    if (std::ssize(worst) == most) break;
    worst.push_back(key);
  }
  return worst;
}

class RemovalList {
 public:
  RemovalList(const Perturbation& perturbation, const Workload& workload, const BadLinks& bad_links)
      : perturbation_(perturbation),
        workload_(workload),
        bad_links_(bad_links),
        all_(accelerators_of(workload)),
        factors_(worst_time_factors(perturbation, all_)),
        typical_(typical_time_factor(perturbation, all_)) {}

  void add_causes() {
    if (!perturbation_.slow_accelerators.empty()) {
      add(RemovalKind::cause, "listed slow accelerators",
          without_listed_slowness(perturbation_, all_));
    }
    if (perturbation_.device_spread > 0.0) {
      Perturbation without = perturbation_;
      without.device_spread = 0.0;
      add(RemovalKind::cause, "drawn device speed", std::move(without));
    }
    if (!perturbation_.jitter.none()) {
      Perturbation without = perturbation_;
      without.jitter = {};
      add(RemovalKind::cause, "jitter of operations", std::move(without));
    }
    if (!perturbation_.micro_batches.none()) {
      Perturbation without = perturbation_;
      without.micro_batches = {};
      add(RemovalKind::cause, "unequal micro-batches", std::move(without));
    }
    add_without<&Perturbation::slow_episodes>("slow episodes");
    add_without<&Perturbation::pauses>("pauses");
    add_without<&Perturbation::link_episodes>("slow links");
    add_without<&Perturbation::background>("background traffic");
  }

  void add_operations() {
    if (perturbation_.none()) return;
    std::set<std::string> names;
    for (const Program& program : workload_.programs) {
      for (const Block& block : program.blocks) names.insert(block.name);
    }
    for (const std::string& name : names) {
      Perturbation without = perturbation_;
      without.repair = {.time_factor = typical_, .blocks = {name}};
      add(RemovalKind::operation, name, std::move(without));
    }
  }

  void add_cables(int most) {
    if (bad_links_.slow_cables().size() < 2) return;
    for (const LinkId cable : worst_of(bad_links_.slow_cables(), most)) {
      add(RemovalKind::link, bad_links_.cable_name(cable), bad_links_.without_cable(cable));
    }
  }

  /// `number` tells which place an accelerator of a rank group belongs to.
  void add_places(RemovalKind kind, int most,
                  const std::function<int(std::int32_t group, std::int32_t accelerator)>& number,
                  const std::function<std::string(int)>& name) {
    std::map<int, Place> places;
    for (std::int32_t group = 0; group < std::ssize(workload_.groups); ++group) {
      for (const std::int32_t accelerator :
           workload_.groups[static_cast<std::size_t>(group)].accelerators) {
        Place& place = places[number(group, accelerator)];
        place.accelerators.push_back(accelerator);
        place.slowest = std::max(place.slowest, factor_of(accelerator));
      }
    }
    if (places.size() < 2) return;
    std::map<int, double> slow;
    for (const auto& [i, place] : places) {
      if (place.slowest > typical_) slow.emplace(i, place.slowest);
    }
    std::vector<int> tried = worst_of(slow, most);
    if (kind == RemovalKind::node) {
      for (const int node : worst_of(bad_links_.nodes(), most)) {
        const bool is_known = std::ranges::find(tried, node) != tried.end();
        if (places.contains(node) && !is_known) tried.push_back(node);
      }
    }
    for (const int i : tried) {
      Place& place = places.at(i);
      std::ranges::sort(place.accelerators);
      Perturbation without = perturbation_;
      without.repair = {.time_factor = typical_, .accelerators = std::move(place.accelerators)};
      if (kind == RemovalKind::node) {
        MendedLinks renewed = bad_links_.with_new_nodes(std::move(without), {i});
        cases_.push_back({kind, name(i), std::move(renewed.perturbation), renewed.cluster});
      } else {
        add(kind, name(i), std::move(without));
      }
    }
  }

  [[nodiscard]] std::vector<RemovalCase> taken() && { return std::move(cases_); }

 private:
  template <auto member>
  void add_without(const char* what) {
    if ((perturbation_.*member).empty()) return;
    Perturbation without = perturbation_;
    (without.*member).clear();
    add(RemovalKind::cause, what, std::move(without));
  }
  void add(RemovalKind kind, std::string what, Perturbation without) {
    cases_.push_back({kind, std::move(what), std::move(without), nullptr});
  }
  [[nodiscard]] double factor_of(std::int32_t accelerator) const {
    const auto found = std::ranges::lower_bound(all_, accelerator);
    return factors_[static_cast<std::size_t>(found - all_.begin())];
  }

  const Perturbation& perturbation_;
  const Workload& workload_;
  const BadLinks& bad_links_;
  std::vector<std::int32_t> all_;  ///< ascending
  std::vector<double> factors_;    ///< of each, in its slow episodes
  double typical_;
  std::vector<RemovalCase> cases_;
};

}  // namespace

Perturbation without_listed_slowness(const Perturbation& perturbation,
                                     std::span<const std::int32_t> accelerators) {
  Perturbation without = perturbation;
  for (auto& [unused, factor] : without.slow_accelerators) factor = 1.0;
  const double rest = typical_time_factor(without, accelerators);
  const double common = typical_time_factor(perturbation, accelerators) / rest;
  for (auto& [unused, factor] : without.slow_accelerators) factor = common;
  return without;
}

std::vector<double> worst_time_factors(const Perturbation& perturbation,
                                       std::span<const std::int32_t> accelerators) {
  std::vector<double> factors = device_time_factors(perturbation, accelerators);
  for (std::size_t i = 0; i < accelerators.size(); ++i) {
    for (const SlowEpisode& episode : perturbation.slow_episodes) {
      if (episode.accelerators.has(accelerators[i])) factors[i] *= episode.time_factor;
    }
  }
  return factors;
}

std::vector<std::int32_t> accelerators_of(const Workload& workload) {
  std::vector<std::int32_t> all;
  for (const RankGroup& group : workload.groups) {
    all.insert(all.end(), group.accelerators.begin(), group.accelerators.end());
  }
  std::ranges::sort(all);
  return all;
}

Perturbation ideal_perturbation(const Perturbation& perturbation, const Workload& workload) {
  const std::vector<std::int32_t> all = accelerators_of(workload);
  Perturbation ideal;
  ideal.seed = perturbation.seed;
  ideal.repair = {.time_factor = typical_time_factor(perturbation, all), .accelerators = all};
  return ideal;
}

std::vector<RemovalCase> removal_cases(const Perturbation& perturbation, const Workload& workload,
                                       const Cluster& cluster, const BadLinks& bad_links,
                                       int most) {
  const auto group_of = [&](std::int32_t group) -> const RankGroup& {
    return workload.groups[static_cast<std::size_t>(group)];
  };
  RemovalList cases(perturbation, workload, bad_links);
  cases.add_causes();
  cases.add_operations();
  cases.add_cables(most);
  cases.add_places(
      RemovalKind::stage, most,
      [&](std::int32_t group, std::int32_t) { return group_of(group).stage; },
      [](int stage) { return fmt::format("stage {}", stage); });
  cases.add_places(
      RemovalKind::replica, most,
      [&](std::int32_t group, std::int32_t) { return group_of(group).replica; },
      [](int replica) { return fmt::format("replica {}", replica); });
  cases.add_places(
      RemovalKind::node, most,
      [&](std::int32_t, std::int32_t accelerator) { return cluster.node_of(accelerator); },
      [](int node) { return fmt::format("node {}", node); });
  cases.add_places(
      RemovalKind::rank, most, [](std::int32_t group, std::int32_t) { return group; },
      [&](int group) { return group_name(workload, group); });
  return std::move(cases).taken();
}

}  // namespace headway
