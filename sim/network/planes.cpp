#include "sim/network/planes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/network/copy_topology.h"

namespace headway {
namespace {

class PlanesRouting final : public Routing {
 public:
  PlanesRouting(std::unique_ptr<const Topology> plane, std::unique_ptr<const Routing> routing,
                const Topology& topology)
      : plane_(std::move(plane)), routing_(std::move(routing)), topology_(topology) {}

  void append_route(VertexId source, VertexId destination, std::uint64_t flow,
                    std::vector<LinkShare>& route) const override {
    std::vector<LinkShare> of_plane;
    routing_->append_route(source, destination, flow, of_plane);
    std::vector<LinkId> first_links;  // of the planes that carry it
    for (LinkId first = 0; first < topology_.link_count(); first += plane_->link_count()) {
      const bool is_whole = std::ranges::all_of(
          of_plane, [&](const LinkShare& hop) { return topology_.is_up(first + hop.link); });
      if (is_whole) first_links.push_back(first);
    }
    // If none is whole, the first stands for what is wrong.
    if (first_links.empty()) first_links.push_back(0);
    for (const LinkId first : first_links) {
      for (const LinkShare& hop : of_plane) {
        route.push_back({.link = first + hop.link,
                         .share = hop.share / static_cast<double>(first_links.size())});
      }
    }
  }

  [[nodiscard]] bool hashes_flows() const override { return routing_->hashes_flows(); }
  [[nodiscard]] bool is_by_rule() const override { return routing_->is_by_rule(); }
  [[nodiscard]] double efficiency() const override { return routing_->efficiency(); }
  [[nodiscard]] double least_efficiency() const override { return routing_->least_efficiency(); }

 private:
  std::unique_ptr<const Topology> plane_;
  std::unique_ptr<const Routing> routing_;  ///< refers to `plane_`
  const Topology& topology_;
};

}  // namespace

Topology in_planes(const Topology& plane, int planes) {
  Topology topology;
  topology.reserve(plane.endpoint_count() + planes * plane.switch_count(),
                   planes * plane.cable_count());
  std::vector<VertexId> endpoints;
  for (VertexId vertex = 0; vertex < plane.vertex_count(); ++vertex) {
    if (!plane.is_switch(vertex)) endpoints.push_back(topology.add_endpoint(plane.name(vertex)));
  }
  for (int number = 0; number < planes; ++number) {
    append_copy(topology, plane, fmt::format("plane{}/", number), endpoints, number);
  }
  return topology;
}

std::unique_ptr<const Routing> routing_in_planes(std::unique_ptr<const Topology> plane,
                                                 std::unique_ptr<const Routing> routing,
                                                 const Topology& topology) {
  return std::make_unique<PlanesRouting>(std::move(plane), std::move(routing), topology);
}

}  // namespace headway
