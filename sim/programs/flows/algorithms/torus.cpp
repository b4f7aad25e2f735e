#include <algorithm>
#include <vector>

#include "sim/network/fabrics/torus_shape.h"
#include "sim/programs/flows/algorithms/algorithm.h"

namespace headway {
namespace {

using Dimensions = std::vector<TorusShape::Dimension>;

/// The last vertex of a line is as near to the first as others are to each other. Of two vertices
/// each is on both sides of the other.
bool is_ring(const TorusShape::Dimension& line) { return line.wraps || line.size == 2; }

/// The dimensions in which the members differ, if they are rings and these are full: every vertex
/// that differs from a member in no other dimension has one member. Else none.
Dimensions filled_rings(const Cluster& cluster, std::span<const std::int32_t> members) {
  if (cluster.torus == nullptr || cluster.node_type.nics_of_accelerator != 1) return {};
  if (cluster.scale_up_domain > 1) return {};
  std::vector<VertexId> vertices;
  for (const std::int32_t member : members) vertices.push_back(cluster.endpoint_of(member));
  Dimensions dimensions;
  double filled = 1.0;
  for (const TorusShape::Dimension& dimension : cluster.torus->dimensions) {
    const bool differ = std::ranges::any_of(vertices, [&](VertexId vertex) {
      return dimension.coordinate(vertex) != dimension.coordinate(vertices.front());
    });
    if (!differ) continue;
    if (!is_ring(dimension)) return {};
    dimensions.push_back(dimension);
    filled *= dimension.size;
  }
  if (filled != static_cast<double>(members.size())) return {};
  std::ranges::sort(vertices);
  if (std::ranges::adjacent_find(vertices) != vertices.end()) return {};
  return dimensions;
}

/// What a rank sends along a dimension, in the unit of what it contributes to an all-gather: by
/// each order of the dimensions everything that came along those before it, to all others of its
/// ring. The orders begin at one dimension after the other and go round.
double sent_along(std::size_t dimension, const Dimensions& dimensions) {
  double sent = 0.0;
  for (std::size_t first = 0; first < dimensions.size(); ++first) {
    double held = 1.0;
    for (std::size_t at = first; at != dimension; at = (at + 1) % dimensions.size()) {
      held *= dimensions[at].size;
    }
    sent += held * (dimensions[dimension].size - 1.0);
  }
  return sent;
}

}  // namespace

/// All links of a torus at once (Jain, Sabharwal 2010, "Optimal bucket algorithms for large MPI
/// collectives on torus interconnects"; so XLA gathers over several axes of a TPU's): a message of
/// 2 d parts in d dimensions, each around the rings of one dimension after the other, by another
/// order and another way round. An all-gather hands on what came along the dimensions before, a
/// reduce-scatter is the same backwards, an all-reduce one after the other. Where dimensions are
/// equally long, every link carries as much.
Seconds lay_torus(const GroupToLay& group) {
  const Dimensions dimensions = filled_rings(group.cluster, group.members);
  std::vector<std::int32_t> member_at(group.cluster.endpoints.size());
  for (const std::int32_t member : group.members) {
    member_at[static_cast<std::size_t>(group.cluster.endpoint_of(member))] = member;
  }
  const double parts = 2.0 * static_cast<double>(dimensions.size());
  const double sent = parts * (static_cast<double>(group.members.size()) - 1.0);
  Seconds latency;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const TorusShape::Dimension& dimension = dimensions[i];
    const double weight = sent_along(i, dimensions) / sent;
    Seconds slowest;
    for (const std::int32_t member : group.members) {
      const VertexId here = group.cluster.endpoint_of(member);
      for (const VertexId next : {dimension.above(here), dimension.below(here)}) {
        const std::int32_t neighbour = member_at[static_cast<std::size_t>(next)];
        slowest = max(slowest, group.builder.add(member, neighbour, weight));
      }
    }
    latency += (dimension.size - 1.0) * slowest;
  }
  return group.kind == CollectiveKind::all_reduce ? 2.0 * latency : latency;
}

std::string_view lack_of_torus(const Cluster& cluster, std::span<const std::int32_t> members) {
  if (!filled_rings(cluster, members).empty()) return {};
  return "ranks that fill whole rings of a torus, each with a place of its own there";
}

}  // namespace headway
