#include "sim/base/diagnostic.h"
#include "sim/cluster/routing_kind.h"
#include "sim/cluster/torus_shape.h"

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

}  // namespace

std::unique_ptr<const Routing> build_dimension_order_routing(ObjectReader& reader,
                                                             const RoutingRequest& request) {
  const auto* shape = dynamic_cast<const TorusShape*>(request.layout);
  if (shape == nullptr) {
    report_wrong_fabric(reader, request, "dimension-order", "torus");
    return nullptr;
  }
  return std::make_unique<DimensionOrderRouting>(*shape, request.topology.endpoint_count());
}

}  // namespace headway
