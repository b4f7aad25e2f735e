#include "sim/network/fabrics/clos_topology.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>

#include "sim/base/diagnostic.h"
#include "sim/network/endpoint_names.h"

namespace headway {

namespace {

enum Tier { kLeaf, kSpine, kCore };

/// Adds everything in the order that ClosShape numbers it in.
class ClosBuilder {
 public:
  explicit ClosBuilder(const ClosPlan& plan) : plan_(plan), shape_(plan.shape) {
    const int cores = shape_.has_core ? shape_.planes * shape_.cores : 0;
    topology_.reserve(
        shape_.endpoints() + shape_.leaves() + shape_.groups() * shape_.spines + cores,
        static_cast<int>(clos_cables(shape_)));
  }

  Topology build() {
    add_endpoints(topology_, shape_.nodes, shape_.nics);
    add_leaves();
    add_spines();
    add_cores();
    HEADWAY_CHECK(topology_.cable_count() == static_cast<int>(clos_cables(shape_)),
                  "a Clos fabric has the cables that its shape tells");
    return std::move(topology_);
  }

 private:
  void add_leaves() {
    for (int leaf = 0; leaf < shape_.leaves(); ++leaf) {
      const int unit = leaf / shape_.rails();
      topology_.add_switch(shape_.by_rail
                               ? fmt::format("leaf/unit{}/rail{}", unit, leaf % shape_.rails())
                               : fmt::format("leaf/unit{}", unit),
                           kLeaf, plan_.leaf.switch_latency);
    }
    for (VertexId endpoint = 0; endpoint < shape_.endpoints(); ++endpoint) {
      const int port = shape_.place_of(endpoint) % shape_.leaf_ports() + 1;
      topology_.add_cable(endpoint, shape_.leaf_vertex(shape_.leaf_of(endpoint)),
                          plan_.leaf.bandwidth, plan_.leaf.cable_latency, 1, port);
    }
  }

  void add_spines() {
    for (int group = 0; group < shape_.groups(); ++group) {
      const std::string prefix = spine_prefix(group);
      for (int spine = 0; spine < shape_.spines; ++spine) {
        topology_.add_switch(fmt::format("{}{}", prefix, spine), kSpine,
                             plan_.spine.switch_latency);
      }
    }
    for (int leaf = 0; leaf < shape_.leaves(); ++leaf) {
      for (int spine = 0; spine < shape_.spines; ++spine) {
        for (int cable = 0; cable < shape_.leaf_cables; ++cable) {
          const int up = shape_.leaf_ports() + spine * shape_.leaf_cables + cable + 1;
          const int down = shape_.slot_of(leaf) * shape_.leaf_cables + cable + 1;
          topology_.add_cable(shape_.leaf_vertex(leaf),
                              shape_.spine_vertex(shape_.group_of(leaf), spine),
                              plan_.spine.bandwidth, plan_.spine.cable_latency, up, down);
        }
      }
    }
  }

  [[nodiscard]] std::string spine_prefix(int group) const {
    const int pod = group / shape_.groups_per_pod();
    if (!shape_.has_core) {
      return shape_.spines_by_rail ? fmt::format("spine/rail{}/", group) : "spine/";
    }
    if (!shape_.spines_by_rail) return fmt::format("spine/pod{}/", pod);
    return fmt::format("spine/pod{}/rail{}/", pod, group % shape_.groups_per_pod());
  }

  void add_cores() {
    if (!shape_.has_core) return;
    for (int plane = 0; plane < shape_.planes; ++plane) {
      for (int core = 0; core < shape_.cores; ++core) {
        topology_.add_switch(fmt::format("core/plane{}/{}", plane, core), kCore,
                             plan_.core.switch_latency);
      }
    }
    for (int group = 0; group < shape_.groups(); ++group) {
      for (int spine = 0; spine < shape_.spines; ++spine) cable_to_cores(group, spine);
    }
  }

  void cable_to_cores(int group, int spine) {
    // A core counts the spines of its plane group by group.
    const int place = group * shape_.spines_of_plane() + spine / shape_.planes;
    for (int core = 0; core < shape_.cores; ++core) {
      for (int cable = 0; cable < shape_.core_cables; ++cable) {
        const int up = shape_.spine_ports() + core * shape_.core_cables + cable + 1;
        const int down = place * shape_.core_cables + cable + 1;
        topology_.add_cable(shape_.spine_vertex(group, spine),
                            shape_.core_vertex(shape_.plane_of(spine), core), plan_.core.bandwidth,
                            plan_.core.cable_latency, up, down);
      }
    }
  }

  const ClosPlan& plan_;
  const ClosShape& shape_;
  Topology topology_;
};

}  // namespace

Topology clos_topology(const ClosPlan& plan) { return ClosBuilder(plan).build(); }

Fabric clos_fabric(const ClosPlan& plan) {
  Fabric fabric{.topology = clos_topology(plan), .nodes = plan.shape.nodes};
  for (VertexId endpoint = 0; endpoint < plan.shape.endpoints(); ++endpoint) {
    fabric.endpoints.push_back(endpoint);
  }
  fabric.layout = std::make_unique<ClosShape>(plan.shape);
  return fabric;
}

double clos_cables(const ClosShape& shape) {
  // Rounding the products of ints to doubles first, as they may not fit an int.
  const auto count = [](int a, int b) { return static_cast<double>(a) * b; };
  double cables = count(shape.nodes, shape.nics);
  cables += count(shape.units, shape.rails()) * count(shape.spines, shape.leaf_cables);
  if (shape.has_core) {
    cables += count(shape.pods(), shape.groups_per_pod()) * shape.spines *
              count(shape.cores, shape.core_cables);
  }
  return cables;
}

}  // namespace headway
