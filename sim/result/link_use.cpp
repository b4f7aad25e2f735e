#include "sim/result/link_use.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace headway {
namespace {

/// The mean over the iteration of what episodes, which multiply where they meet, leave of a link.
double mean_factor(LinkId link, std::span<const LinkEpisode> episodes, double finish) {
  std::set<double> changes{0.0, finish};
  for (const LinkEpisode& episode : episodes) {
    if (episode.link != link) continue;
    changes.insert(std::min(episode.from, finish));
    changes.insert(std::min(episode.to, finish));
  }
  double sum = 0.0;
  for (auto begin = changes.begin(), end = std::next(begin); end != changes.end(); ++begin, ++end) {
    double factor = 1.0;
    for (const LinkEpisode& episode : episodes) {
      const bool is_slow = episode.link == link && episode.from <= *begin && *begin < episode.to;
      if (is_slow) factor *= episode.bandwidth_factor;
    }
    sum += factor * (*end - *begin);
  }
  return sum / finish;
}

}  // namespace

std::map<LinkId, double> mean_factors(std::span<const LinkEpisode> episodes, double finish) {
  std::map<LinkId, double> factors;
  for (const LinkEpisode& episode : episodes) factors.emplace(episode.link, 1.0);
  for (auto& [link, factor] : factors) factor = mean_factor(link, episodes, finish);
  return factors;
}

std::vector<double> bytes_by_link(const Workload& workload, const Timeline& timeline,
                                  const Topology& topology) {
  std::vector<double> carried(static_cast<std::size_t>(topology.link_count()), 0.0);
  for (std::size_t plan = 0; plan < workload.plans.size(); ++plan) {
    const double sent = workload.plans[plan].sent * timeline.plan_bytes[plan];
    for (const LinkLoad& load : workload.plans[plan].links) {
      carried[static_cast<std::size_t>(load.link)] += load.weight * sent;
    }
  }
  return carried;
}

std::vector<LinkUse> busiest_links(const Workload& workload, const Timeline& timeline,
                                   const Topology& topology, std::size_t count,
                                   std::span<const LinkEpisode> episodes) {
  const std::vector<double> carried = bytes_by_link(workload, timeline, topology);
  const std::map<LinkId, double> factors = mean_factors(episodes, timeline.finish);
  const auto capacity = [&](LinkId id) {
    const auto slow = factors.find(id);
    return (slow == factors.end() ? 1.0 : slow->second) * topology.link(id).capacity;
  };
  const auto utilisation = [&](LinkId id) {
    return carried[static_cast<std::size_t>(id)] / (capacity(id).count() * timeline.finish);
  };
  std::vector<LinkId> links;
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    if (carried[static_cast<std::size_t>(id)] > 0.0) links.push_back(id);
  }
  count = std::min(count, links.size());
  std::ranges::partial_sort(links, links.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](LinkId a, LinkId b) {
                              const double use_a = utilisation(a);
                              const double use_b = utilisation(b);
                              return use_a != use_b ? use_a > use_b : a < b;
                            });
  std::vector<LinkUse> busiest;
  for (std::size_t i = 0; i < count; ++i) {
    const Link& link = topology.link(links[i]);
    busiest.push_back({std::string(topology.name(link.from)), std::string(topology.name(link.to)),
                       capacity(links[i]), Bytes(carried[static_cast<std::size_t>(links[i])]),
                       utilisation(links[i])});
  }
  return busiest;
}

}  // namespace headway
