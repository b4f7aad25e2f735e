#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/network/fabrics/fabric.h"

namespace headway {

/// The groups of a dragonfly, every two of which are cabled to each other.
struct GroupLayout : FabricLayout {
  int groups = 1;
  std::vector<int> group_of;  ///< each vertex's
  /// The switches of a group, the second of a pair, that cables from the first one end at; one for
  /// each cable.
  std::map<std::pair<int, int>, std::vector<VertexId>> entries;
};

/// Cables every two groups equally often and adds them to the topology and to `layout`. Port k of a
/// group is on switch `switch_of(group, k)`; those of one pair of groups stand as far apart as they
/// can. Requires ports >= groups - 1 >= 1.
struct GlobalCables {
  int ports = 0;  ///< of a group, towards others
  BytesPerSecond bandwidth;
  Seconds latency;
};
template <class SwitchOf>
void add_global_cables(Topology& topology, GroupLayout& layout, const GlobalCables& cables,
                       SwitchOf switch_of) {
  const int others = layout.groups - 1;
  const int cables_of_pair = cables.ports / others;
  const int used = cables_of_pair * others;
  for (int from = 0; from < layout.groups; ++from) {
    for (int to = from + 1; to < layout.groups; ++to) {
      for (int cable = 0; cable < cables_of_pair; ++cable) {
        // Seen from a group the others are `distance` groups further on, going round.
        const auto port = [&](int distance) {
          const int place = cable * others + distance - 1;
          return static_cast<int>(static_cast<std::int64_t>(place) * cables.ports / used);
        };
        const VertexId a = switch_of(from, port(to - from));
        const VertexId b = switch_of(to, port(layout.groups - (to - from)));
        topology.add_cable(a, b, cables.bandwidth, cables.latency);
        layout.entries[{from, to}].push_back(b);
        layout.entries[{to, from}].push_back(a);
      }
    }
  }
}

}  // namespace headway
