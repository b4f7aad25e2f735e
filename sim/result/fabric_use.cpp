#include "sim/result/fabric_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/result/link_use.h"

namespace headway {
namespace {

/// "leaf" of "leaf/unit0/rail3".
std::string first_part(std::string_view name) {
  return std::string(name.substr(0, name.find('/')));
}

/// The tiers bottom-up, endpoints first. A tier of switches is called what all its switches are, if
/// their names begin alike.
std::vector<FabricUse::Tier> tiers_of(const Topology& topology) {
  std::vector<FabricUse::Tier> tiers;
  for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
    const auto index = static_cast<std::size_t>(topology.tier(vertex)) + 1;
    if (tiers.size() <= index) tiers.resize(index + 1);
    FabricUse::Tier& tier = tiers[index];
    const std::string name = first_part(topology.name(vertex));
    if (tier.count == 0) {
      tier.name = name;
    } else if (tier.name != name) {
      tier.name.clear();
    }
    ++tier.count;
  }
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (i == 0) {
      tiers[i].name = "NIC ports";
    } else if (tiers[i].name.empty() || tiers[i].count == 1) {
      tiers[i].name = fmt::format("switches of tier {}", i - 1);
    } else {
      tiers[i].name += " switches";
    }
  }
  return tiers;
}

}  // namespace

FabricUse fabric_use(const Workload& workload, const Timeline& timeline, const Topology& topology) {
  const std::vector<double> carried = bytes_by_link(workload, timeline, topology);
  FabricUse use{.tiers = tiers_of(topology)};
  std::map<std::pair<int, int>, FabricUse::Cables> classes;
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    if (!topology.is_up(id)) continue;
    const Link& link = topology.link(id);
    const int from = topology.tier(link.from) + 1;
    const int to = topology.tier(link.to) + 1;
    FabricUse::Cables& cables = classes[std::minmax(from, to)];
    FabricUse::Load& load = to < from ? cables.down : cables.up;
    const double bytes = carried[static_cast<std::size_t>(id)];
    load.carried += Bytes(bytes);
    load.capacity += link.capacity;
    load.highest = std::max(load.highest, bytes / (link.capacity.count() * timeline.finish));
    if (id % 2 == 0) ++cables.cables;
  }
  for (auto& [between, cables] : classes) {
    std::tie(cables.lower, cables.upper) = between;
    for (FabricUse::Load* const load : {&cables.up, &cables.down}) {
      const double possible = load->capacity.count() * timeline.finish;
      load->utilisation = possible > 0.0 ? load->carried.count() / possible : 0.0;
    }
    use.cables.push_back(cables);
  }
  return use;
}

}  // namespace headway
