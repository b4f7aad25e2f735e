#pragma once

#include <span>
#include <vector>

#include "sim/network/group_layout.h"
#include "sim/network/routing/routing.h"

namespace headway {

/// Longer paths of a dragonfly, for what the minimal ones do not carry: within a group over a third
/// switch, between groups by another of their cables or through a third group. As adaptive routing
/// does in the long run (UGAL: J. Kim and others, ISCA 2008) minimal paths are filled first, and of
/// longer ones the shorter; where all together are too narrow, all links are equally crowded.
class GroupDetours {
 public:
  /// `between_groups`: also around cables between groups.
  GroupDetours(GroupLayout layout, bool between_groups);
  GroupDetours(const GroupDetours&) = delete;
  GroupDetours& operator=(const GroupDetours&) = delete;

  /// As `Routing::relieve` has it.
  void relieve(const Topology& topology, BytesPerSecond pace, std::vector<LinkShare>& loads) const;

  /// Ways around a link between two switches, each a path between its ends, shorter ones first.
  [[nodiscard]] std::vector<std::vector<LinkId>> ways_around(const Topology& topology,
                                                             LinkId link) const;

 private:
  [[nodiscard]] int group(VertexId vertex) const {
    return layout_.group_of[static_cast<std::size_t>(vertex)];
  }

  GroupLayout layout_;
  /// By group and other group: the switches of the first that cables from the other one end at.
  std::vector<const std::vector<VertexId>*> entries_;
  bool between_groups_;
};

}  // namespace headway
