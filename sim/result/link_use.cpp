#include "sim/result/link_use.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace headway {

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
                                   const Topology& topology, std::size_t count) {
  const std::vector<double> carried = bytes_by_link(workload, timeline, topology);
  const auto utilisation = [&](LinkId id) {
    return carried[static_cast<std::size_t>(id)] /
           (topology.link(id).capacity.count() * timeline.finish);
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
                       link.capacity, Bytes(carried[static_cast<std::size_t>(links[i])]),
                       utilisation(links[i])});
  }
  return busiest;
}

}  // namespace headway
