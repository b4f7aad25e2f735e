#include <algorithm>
#include <cstdlib>
#include <tuple>

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

  /// While a dimension is corrected, a route has the destination's coordinates in those before it
  /// and the source's in those behind. So what goes along a line of it from one coordinate to
  /// another are as many routes as there are sources with the first and what lies behind, times
  /// destinations with the second and what lies before.
  [[nodiscard]] std::optional<AllRoutes> routes_between_all(
      std::span<const VertexId> endpoints) const override {
    std::vector<double> sources(static_cast<std::size_t>(vertices_), 0.0);
    for (const VertexId endpoint : endpoints) {
      HEADWAY_CHECK(is_endpoint(endpoint), "a route begins and ends at an endpoint");
      sources[index(endpoint)] += 1.0;
    }
    const std::vector<double> all = sources;
    AllRoutes routes;
    for (const TorusShape::Dimension& dimension : shape_.dimensions) {
      // Sources whose coordinates before this dimension do not matter any more are counted at 0
      // there; destinations whose coordinates behind it do not matter yet likewise.
      const std::vector<double> destinations = without_coordinates_behind(all, dimension);
      append_routes_along(dimension, sources, destinations, routes.links);
      sources = without_coordinate(sources, dimension);
    }
    std::tie(routes.from, routes.to) = farthest(endpoints);
    return routes;
  }

  [[nodiscard]] bool is_by_rule() const override { return true; }

 private:
  [[nodiscard]] bool is_endpoint(VertexId vertex) const {
    return vertex >= 0 && vertex < vertices_;
  }
  static std::size_t index(VertexId vertex) { return static_cast<std::size_t>(vertex); }

  /// What is counted at vertices that differ in this dimension alone, at the one with coordinate 0.
  static std::vector<double> without_coordinate(const std::vector<double>& counts,
                                                const TorusShape::Dimension& dimension) {
    std::vector<double> sums(counts.size(), 0.0);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto vertex = static_cast<VertexId>(i);
      sums[index(vertex - dimension.coordinate(vertex) * dimension.stride)] += counts[i];
    }
    return sums;
  }
  /// Likewise of all dimensions behind this one, whose vertices are numbered within its stride.
  static std::vector<double> without_coordinates_behind(const std::vector<double>& counts,
                                                        const TorusShape::Dimension& dimension) {
    std::vector<double> sums(counts.size(), 0.0);
    const auto stride = static_cast<std::size_t>(dimension.stride);
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i - i % stride] += counts[i];
    return sums;
  }

  /// `sources` at vertices with 0 in every dimension before this one, `destinations` at those with
  /// 0 in every one behind.
  void append_routes_along(const TorusShape::Dimension& dimension,
                           const std::vector<double>& sources,
                           const std::vector<double>& destinations,
                           std::vector<LinkShare>& links) const {
    const VertexId line = dimension.stride * dimension.size;  // vertices that share what is before
    std::vector<double> up(index(vertices_), 0.0);  // routes from a vertex to the one above it
    std::vector<double> down(index(vertices_), 0.0);
    for (VertexId before = 0; before < vertices_; before += line) {
      for (VertexId behind = 0; behind < dimension.stride; ++behind) {
        append_routes_of_line(dimension, before, behind, sources, destinations, up, down);
      }
    }
    for (VertexId vertex = 0; vertex < vertices_; ++vertex) {
      if (up[index(vertex)] > 0.0) {
        links.push_back({.link = dimension.link_up(vertex), .share = up[index(vertex)]});
      }
      if (down[index(vertex)] > 0.0) {
        const LinkId link = Topology::reverse(dimension.link_up(dimension.below(vertex)));
        links.push_back({.link = link, .share = down[index(vertex)]});
      }
    }
  }
  void append_routes_of_line(const TorusShape::Dimension& dimension, VertexId before,
                             VertexId behind, const std::vector<double>& sources,
                             const std::vector<double>& destinations, std::vector<double>& up,
                             std::vector<double>& down) const {
    for (int from = 0; from < dimension.size; ++from) {
      const double begin = sources[index(behind + from * dimension.stride)];
      if (begin == 0.0) continue;
      // The further it is, the fewer go on: those that end are taken off on the way.
      for (const bool goes_up : {true, false}) {
        double under_way = 0.0;
        for (int to = 0; to < dimension.size; ++to) {
          if (to == from || is_shorter_up(dimension, from, to) != goes_up) continue;
          under_way += begin * destinations[index(before + to * dimension.stride)];
        }
        VertexId at = before + behind + from * dimension.stride;
        while (under_way > 0.0) {
          (goes_up ? up : down)[index(at)] += under_way;
          at = goes_up ? dimension.above(at) : dimension.below(at);
          under_way -=
              begin * destinations[index(before + dimension.coordinate(at) * dimension.stride)];
        }
      }
    }
  }

  static int distance(const TorusShape::Dimension& dimension, VertexId a, VertexId b) {
    const int apart = std::abs(dimension.coordinate(a) - dimension.coordinate(b));
    return dimension.wraps ? std::min(apart, dimension.size - apart) : apart;
  }

  /// Two of them between which there are most links.
  [[nodiscard]] std::pair<VertexId, VertexId> farthest(std::span<const VertexId> endpoints) const {
    int most = 0;  // on any route of the torus
    for (const TorusShape::Dimension& dimension : shape_.dimensions) {
      most += dimension.wraps ? dimension.size / 2 : dimension.size - 1;
    }
    std::pair<VertexId, VertexId> ends{endpoints.front(), endpoints.front()};
    int longest = 0;
    for (std::size_t i = 0; i < endpoints.size() && longest < most; ++i) {
      for (std::size_t j = i + 1; j < endpoints.size() && longest < most; ++j) {
        int links = 0;
        for (const TorusShape::Dimension& dimension : shape_.dimensions) {
          links += distance(dimension, endpoints[i], endpoints[j]);
        }
        if (links <= longest) continue;
        longest = links;
        ends = {endpoints[i], endpoints[j]};
      }
    }
    return ends;
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

  [[nodiscard]] bool is_by_rule() const override { return true; }

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
