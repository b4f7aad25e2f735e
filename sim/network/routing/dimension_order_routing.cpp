#include "sim/base/diagnostic.h"
#include "sim/network/fabrics/hyperx_shape.h"
#include "sim/network/fabrics/torus_shape.h"
#include "sim/network/routing/routing_kind.h"

namespace headway {

namespace {

/// Corrects one coordinate after the other, first dimension first, each the short way round. Where
/// both ways are equally long, even coordinates go up and odd ones down, so that both directions
/// carry the same when all do it.
class DimensionOrderRouting final : public Routing {
 public:
  DimensionOrderRouting(const TorusShape& shape, int vertices)
      : shape_(shape), vertices_(vertices) {}

  void append_route(VertexId source, VertexId destination, std::uint64_t /*flow*/,
                    std::vector<LinkShare>& route) const override {
    HEADWAY_CHECK(is_endpoint(source), "a route begins at an endpoint");
    HEADWAY_CHECK(is_endpoint(destination), "a route ends at an endpoint");
    VertexId at = source;
    for (const TorusShape::Dimension& dimension : shape_.dimensions) {
      const int from = dimension.coordinate(at);
      const int to = dimension.coordinate(destination);
      const bool goes_up = is_shorter_up(dimension, from, to);
      while (dimension.coordinate(at) != to) {
        const VertexId next = goes_up ? dimension.above(at) : dimension.below(at);
        route.push_back(
            {.link = goes_up ? dimension.link_up(at) : Topology::reverse(dimension.link_up(next))});
        at = next;
      }
    }
  }

 private:
  [[nodiscard]] bool is_endpoint(VertexId vertex) const {
    return vertex >= 0 && vertex < vertices_;
  }

  static bool is_shorter_up(const TorusShape::Dimension& dimension, int from, int to) {
    if (!dimension.wraps) return to > from;
    const int up = (to - from + dimension.size) % dimension.size;
    const int down = dimension.size - up;
    return up == down ? from % 2 == 0 : up < down;
  }

  TorusShape shape_;
  int vertices_;
};

/// On a HyperX a dimension is corrected in one hop; of parallel cables the destination picks one.
class HyperXRouting final : public Routing {
 public:
  explicit HyperXRouting(const HyperXShape& shape) : shape_(shape) {}

  void append_route(VertexId source, VertexId destination, std::uint64_t /*flow*/,
                    std::vector<LinkShare>& route) const override {
    if (source == destination) return;
    route.push_back({.link = shape_.endpoint_link(source)});
    int at = shape_.switch_of(source);
    const int last = shape_.switch_of(destination);
    for (const HyperXShape::Dimension& dimension : shape_.dimensions) {
      const int next =
          at + (dimension.coordinate(last) - dimension.coordinate(at)) * dimension.stride;
      if (next == at) continue;
      route.push_back({.link = link_between(at, next, destination)});
      at = next;
    }
    route.push_back({.link = Topology::reverse(shape_.endpoint_link(destination))});
  }

 private:
  [[nodiscard]] LinkId link_between(int from, int to, VertexId destination) const {
    const LinkId first = shape_.first_link(from, to);
    return first + 2 * (destination % shape_.cables_per_pair);
  }

  HyperXShape shape_;
};

std::unique_ptr<const Routing> build_dimension_order_routing(ObjectReader& reader,
                                                             const RoutingRequest& request) {
  if (const auto* hyperx = dynamic_cast<const HyperXShape*>(request.layout)) {
    return std::make_unique<HyperXRouting>(*hyperx);
  }
  const auto* shape = dynamic_cast<const TorusShape*>(request.layout);
  if (shape == nullptr) {
    report_wrong_fabric(reader, request, "dimension-order", "torus and hyperx");
    return nullptr;
  }
  return std::make_unique<DimensionOrderRouting>(*shape, request.topology.endpoint_count());
}

}  // namespace

RoutingKind dimension_order_routing() { return {"dimension-order", build_dimension_order_routing}; }

}  // namespace headway
