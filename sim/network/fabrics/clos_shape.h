#pragma once

#include <optional>

#include "sim/network/fabrics/fabric.h"

namespace headway {

/// The shape of a generated Clos fabric of two or three tiers, and the arithmetic that numbers its
/// vertices and links, so that a path needs no search and no table.
///
/// A unit is a group of nodes on the same leaf switches: one leaf for all NICs (rack-attached), or
/// a leaf for each NIC number, its rail (rail-attached). A group is a set of leaves that share
/// spines: all leaves of a pod, or those of one rail in a pod. Every leaf of a group is cabled to
/// every spine of it. In a fabric of three tiers the spines with the same number in their groups
/// belong to the same plane, and every spine is cabled to every core switch of its plane.
///
/// Vertices: endpoints (node by node), leaves (unit by unit, rail by rail), spines (group by
/// group), cores (plane by plane). Cables: endpoint to leaf, in the order of endpoints; leaf to
/// spine, leaf by leaf, spine by spine; spine to core likewise.
struct ClosShape : FabricLayout {
  int nodes = 1;
  int nics = 1;  ///< of a node
  bool by_rail = false;
  int nodes_per_unit = 1;
  int units = 1;  ///< built; the last may be partly empty
  int units_per_pod = 1;
  bool spines_by_rail = false;  ///< a group is one rail of a pod; without a core, rails are apart

  int spines = 1;       ///< of a group
  int leaf_cables = 1;  ///< between a leaf and a spine of its group
  bool has_core = false;
  int planes = 1;
  int cores = 0;        ///< of a plane
  int core_cables = 0;  ///< between a spine and a core of its plane

  [[nodiscard]] int endpoints() const { return nodes * nics; }
  [[nodiscard]] int rails() const { return by_rail ? nics : 1; }  ///< leaves of a unit
  [[nodiscard]] int leaf_ports() const { return by_rail ? nodes_per_unit : nodes_per_unit * nics; }
  [[nodiscard]] int spine_uplinks() const { return cores * core_cables; }
  [[nodiscard]] int leaves() const { return units * rails(); }
  [[nodiscard]] int pods() const { return (units + units_per_pod - 1) / units_per_pod; }
  [[nodiscard]] int groups() const { return pods() * groups_per_pod(); }
  [[nodiscard]] int groups_per_pod() const { return spines_by_rail ? rails() : 1; }
  [[nodiscard]] int rails_of_group() const { return spines_by_rail ? 1 : rails(); }
  /// Leaves of a full group.
  [[nodiscard]] int group_leaves() const { return units_per_pod * rails_of_group(); }
  [[nodiscard]] int spine_ports() const { return group_leaves() * leaf_cables; }
  /// Spines of all groups and planes: how many a core is cabled to in each group.
  [[nodiscard]] int spines_of_plane() const { return spines / planes; }

  [[nodiscard]] int leaf_of(VertexId endpoint) const {
    return endpoint / nics / nodes_per_unit * rails() + rail_of(endpoint);
  }
  [[nodiscard]] int rail_of(VertexId endpoint) const { return by_rail ? endpoint % nics : 0; }
  /// Where an endpoint stands among those of its rail (of all, if there are no rails).
  [[nodiscard]] int place_of(VertexId endpoint) const {
    return by_rail ? endpoint / nics : endpoint;
  }
  [[nodiscard]] int group_of(int leaf) const {
    const int pod = leaf / rails() / units_per_pod;
    return spines_by_rail ? pod * rails() + leaf % rails() : pod;
  }
  /// Where a leaf stands in its group.
  [[nodiscard]] int slot_of(int leaf) const {
    const int unit = leaf / rails() % units_per_pod;
    return spines_by_rail ? unit : unit * rails() + leaf % rails();
  }
  [[nodiscard]] int plane_of(int spine) const { return spine % planes; }

  /// Up to which tier a route between two endpoints climbs, counted from 1 for their leaf; 0 from
  /// an endpoint to itself. All cables and switches of a tier are alike. Nothing where no way joins
  /// them.
  [[nodiscard]] std::optional<int> tiers_between(VertexId source, VertexId destination) const {
    if (source == destination) return 0;
    const int source_leaf = leaf_of(source);
    const int leaf = leaf_of(destination);
    if (source_leaf == leaf) return 1;
    if (group_of(source_leaf) == group_of(leaf)) return 2;
    return has_core ? std::optional(3) : std::nullopt;
  }

  [[nodiscard]] VertexId leaf_vertex(int leaf) const { return endpoints() + leaf; }
  [[nodiscard]] VertexId spine_vertex(int group, int spine) const {
    return leaf_vertex(leaves()) + group * spines + spine;
  }
  [[nodiscard]] VertexId core_vertex(int plane, int core) const {
    return spine_vertex(groups(), 0) + plane * cores + core;
  }

  /// The upward links; `Topology::reverse` gives the downward ones.
  [[nodiscard]] LinkId endpoint_link(VertexId endpoint) const { return 2 * endpoint; }
  [[nodiscard]] LinkId leaf_link(int leaf, int spine, int cable) const {
    return 2 * (endpoints() + (leaf * spines + spine) * leaf_cables + cable);
  }
  [[nodiscard]] LinkId spine_link(int group, int spine, int core, int cable) const {
    return leaf_link(leaves(), 0, 0) +
           2 * (((group * spines + spine) * cores + core) * core_cables + cable);
  }
};

}  // namespace headway
