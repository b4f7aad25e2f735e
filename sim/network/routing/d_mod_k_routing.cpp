#include <array>

#include "sim/base/diagnostic.h"
#include "sim/network/fabrics/clos_shape.h"
#include "sim/network/routing/routing_kind.h"

namespace headway {

namespace {

/// Forwarding by destination alone (E. Zahavi, "D-Mod-K routing providing non-blocking traffic for
/// shift permutations on real life fat trees", 2010; the "ftree" engine of OpenSM): the place b of
/// the destination in its rail picks the way up, and the same number picks the way down.
///
///   leaf:   spine b mod S, cable (b div S) mod (cables of a pair)
///   spine:  u = (b div S) * R + r picks core u mod C, cable (u div C) mod (cables of a pair)
///
/// with S spines a group, C cores a plane, R rails that share the spine and r the destination's
/// rail among them. Consecutive destinations so take all upward ports of a switch in turn, which
/// is why a shift by any distance loads no port twice where there is a port for every endpoint.
class DModKRouting final : public Routing {
 public:
  DModKRouting(const ClosShape& shape, const Topology& topology)
      : shape_(shape), topology_(topology) {}

  void append_route(VertexId source, VertexId destination, std::uint64_t /*flow*/,
                    std::vector<LinkShare>& route) const override {
    HEADWAY_CHECK(is_endpoint(source), "a route begins at an endpoint");
    HEADWAY_CHECK(is_endpoint(destination), "a route ends at an endpoint");
    if (source == destination) return;
    // Analyses ask for hundreds of millions of routes: all links of one are appended at once.
    std::array<LinkShare, kMostLinks> links;
    auto end = links.begin();
    const auto up = [&](LinkId link) { (end++)->link = link; };
    const auto down = [&](LinkId link) { (end++)->link = Topology::reverse(link); };

    const int source_leaf = shape_.leaf_of(source);
    const int leaf = shape_.leaf_of(destination);
    if (!shape_.has_core && shape_.group_of(source_leaf) != shape_.group_of(leaf)) {
      throw UnreachableError(topology_, source, destination);  // rails that nothing joins
    }
    up(shape_.endpoint_link(source));
    if (source_leaf != leaf) {
      const int place = shape_.place_of(destination);
      const int spine = place % shape_.spines;
      const int turn = place / shape_.spines;  // how often the spines were gone through before
      const int cable = turn % shape_.leaf_cables;
      up(shape_.leaf_link(source_leaf, spine, cable));
      const int source_group = shape_.group_of(source_leaf);
      const int group = shape_.group_of(leaf);
      if (source_group != group) {
        const int rail = shape_.spines_by_rail ? 0 : shape_.rail_of(destination);
        const int port = turn * shape_.rails_of_group() + rail;
        const int core = port % shape_.cores;
        const int core_cable = port / shape_.cores % shape_.core_cables;
        up(shape_.spine_link(source_group, spine, core, core_cable));
        down(shape_.spine_link(group, spine, core, core_cable));
      }
      down(shape_.leaf_link(leaf, spine, cable));
    }
    down(shape_.endpoint_link(destination));
    route.insert(route.end(), links.begin(), end);
  }

  [[nodiscard]] std::optional<int> route_class(VertexId source,
                                               VertexId destination) const override {
    return shape_.tiers_between(source, destination);
  }

  [[nodiscard]] bool is_by_rule() const override { return true; }

 private:
  [[nodiscard]] bool is_endpoint(VertexId vertex) const {
    return vertex >= 0 && vertex < shape_.endpoints();
  }

  static constexpr std::size_t kMostLinks = 6;  // through endpoint, leaf and spine, up and down

  ClosShape shape_;
  const Topology& topology_;
};

std::unique_ptr<const Routing> build_d_mod_k_routing(ObjectReader& reader,
                                                     const RoutingRequest& request) {
  const auto* shape = dynamic_cast<const ClosShape*>(request.layout);
  if (shape == nullptr) {
    report_wrong_fabric(reader, request, "d-mod-k", "clos");
    return nullptr;
  }
  return std::make_unique<DModKRouting>(*shape, request.topology);
}

}  // namespace

RoutingKind d_mod_k_routing() { return {"d-mod-k", build_d_mod_k_routing}; }

}  // namespace headway
