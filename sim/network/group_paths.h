#pragma once

#include "sim/network/group_layout.h"
#include "sim/network/routing/path_choices.h"

namespace headway {

/// Minimal paths of a dragonfly: within a group shortest ones, between two groups by a cable that
/// joins them, the nearest of several. Unlike a shortest path by links they never pass a third
/// group.
class GroupPaths final : public PathChoices {
 public:
  /// `topology` outlives this object.
  GroupPaths(const Topology& topology, GroupLayout layout)
      : topology_(topology), layout_(std::move(layout)) {}

  void first_links(VertexId at, VertexId destination, std::vector<LinkId>& links) const override;

 private:
  [[nodiscard]] int group(VertexId vertex) const {
    return layout_.group_of[static_cast<std::size_t>(vertex)];
  }
  /// Links of `at` to vertices of a group.
  void links_to_group(VertexId at, int to, std::vector<LinkId>& links) const;
  /// Links that begin the shortest ways inside a group to the nearest of its switches of which
  /// `is_target` holds. Requires that it does not hold of `at`.
  template <class IsTarget>
  void links_within(VertexId at, IsTarget is_target, std::vector<LinkId>& links) const;

  const Topology& topology_;
  GroupLayout layout_;
};

}  // namespace headway
