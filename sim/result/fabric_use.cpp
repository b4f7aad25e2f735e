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
std::string_view first_part(std::string_view name) { return name.substr(0, name.find('/')); }

/// The tiers bottom-up, endpoints first. A tier of switches is called what all its switches are, if
/// their names begin alike.
std::vector<FabricUse::Tier> tiers_of(const Topology& topology) {
  std::vector<FabricUse::Tier> tiers;
  for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
    const auto index = static_cast<std::size_t>(topology.tier(vertex)) + 1;
    if (tiers.size() <= index) tiers.resize(index + 1);
    FabricUse::Tier& tier = tiers[index];
    const std::string_view name = first_part(topology.name(vertex));
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
      tiers[i].name =
          fmt::format("{} of tier {}", tiers[i].count == 1 ? "switch" : "switches", i - 1);
    } else {
      tiers[i].name += " switches";
    }
  }
  return tiers;
}

}  // namespace

FabricUse fabric_use(const Workload& workload, const Timeline& timeline, const Topology& topology,
                     std::span<const LinkEpisode> episodes) {
  const std::map<LinkId, double> factors = mean_factors(episodes, timeline.finish);
  const std::vector<double> carried = bytes_by_link(workload, timeline, topology);
  FabricUse use{.tiers = tiers_of(topology)};
  const std::size_t count = use.tiers.size();
  std::vector<FabricUse::Cables> classes(count * count);  // by lower and upper tier
  const bool are_all_up = topology.cables_down() == 0;
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    if (!are_all_up && !topology.is_up(id)) continue;
    const Link& link = topology.link(id);
    const int from = topology.tier(link.from) + 1;
    const int to = topology.tier(link.to) + 1;
    const auto [lower, upper] = std::minmax(from, to);
    FabricUse::Cables& cables =
        classes[static_cast<std::size_t>(lower) * count + static_cast<std::size_t>(upper)];
    cables.lower = lower;
    cables.upper = upper;
    FabricUse::Load& load = to < from ? cables.down : cables.up;
    const double bytes = carried[static_cast<std::size_t>(id)];
    load.carried += Bytes(bytes);
    const auto slow = factors.find(id);
    const BytesPerSecond capacity = (slow == factors.end() ? 1.0 : slow->second) * link.capacity;
    load.capacity += capacity;
    load.highest = std::max(load.highest, bytes / (capacity.count() * timeline.finish));
    if (id % 2 == 0) ++cables.cables;
  }
  for (FabricUse::Cables& cables : classes) {
    if (cables.cables == 0) continue;
    for (FabricUse::Load* const load : {&cables.up, &cables.down}) {
      const double possible = load->capacity.count() * timeline.finish;
      load->utilisation = possible > 0.0 ? load->carried.count() / possible : 0.0;
    }
    use.cables.push_back(cables);
  }
  return use;
}

}  // namespace headway
