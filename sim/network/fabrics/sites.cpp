#include "sim/network/fabrics/sites.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/network/copy_topology.h"
#include "sim/network/endpoint_names.h"

namespace headway {
namespace {

constexpr int kMostSites = 1024;
constexpr Seconds kFibrePerKilometre = 5_us;  // light in glass of index 1.5, one way

constexpr Word<Sites::Shape> kShapeWords[] = {{"mesh", Sites::Shape::mesh},
                                              {"ring", Sites::Shape::ring}};

/// Adds a router for each site, cabled to the switches of the site's highest tier so wide that it
/// is never the narrowest, and the links between routers.
void add_wan(Topology& topology, const Sites& wan,
             const std::vector<std::vector<VertexId>>& tops_of_site) {
  const int sites = static_cast<int>(tops_of_site.size());
  int top_tier = 0;
  for (const VertexId top : tops_of_site.front()) top_tier = std::max(top_tier, topology.tier(top));
  std::vector<VertexId> routers;
  for (int site = 0; site < sites; ++site) {
    routers.push_back(topology.add_switch(fmt::format("site{}/router", site), top_tier + 1));
  }
  const auto is_cabled = [&](int a, int b) {
    return wan.shape == Sites::Shape::mesh || b == a + 1 || (a == 0 && b == sites - 1);
  };
  std::vector<int> cables(static_cast<std::size_t>(sites), 0);
  for (int a = 0; a < sites; ++a) {
    for (int b = a + 1; b < sites; ++b) {
      for (int cable = 0; cable < wan.cables_per_pair && is_cabled(a, b); ++cable) {
        topology.add_cable(routers[static_cast<std::size_t>(a)],
                           routers[static_cast<std::size_t>(b)], wan.bandwidth,
                           wan.kilometres * kFibrePerKilometre);
        ++cables[static_cast<std::size_t>(a)];
        ++cables[static_cast<std::size_t>(b)];
      }
    }
  }
  for (std::size_t site = 0; site < routers.size(); ++site) {
    for (const VertexId top : tops_of_site[site]) {
      topology.add_cable(top, routers[site], std::max(cables[site], 1) * wan.bandwidth,
                         Seconds(0.0));
    }
  }
}

std::vector<VertexId> highest_switches(const Topology& topology) {
  std::vector<VertexId> tops;
  int highest = 0;
  for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
    if (!topology.is_switch(vertex) || topology.tier(vertex) < highest) continue;
    if (topology.tier(vertex) > highest) tops.clear();
    highest = topology.tier(vertex);
    tops.push_back(vertex);
  }
  return tops;
}

}  // namespace

const FieldTable<Sites>& site_fields() {
  static const FieldTable<Sites> kFields(
      {{"count", whole(&Sites::count, between(2, kMostSites)).required(), "Sites."},
       {"bandwidth", quantity(&Sites::bandwidth, positive()).required(),
        "Of a cable between two sites, each way."},
       {"kilometres", number(&Sites::kilometres, between(0.0, 50'000.0)).required(),
        "Of fibre between two sites: 5 us each, one way."},
       {"cables_per_pair", whole(&Sites::cables_per_pair, between(1, 1024)),
        R"(Cables between two sites. Each flow takes one of them: by default flows are spread evenly by
their destination; ecmp hashes them, several queue pairs of one flow too.
see: topology.routing.kind)"},
       {"shape", word(&Sites::shape, kShapeWords),
        "Which sites are cabled: every two, or each to the next."}});
  return kFields;
}

Fabric in_sites(const Fabric& site, const Sites& sites, int nics) {
  const Topology& original = site.topology;
  Fabric fabric{.nodes = sites.count * site.nodes};
  fabric.topology.reserve(sites.count * (original.vertex_count() + 1),
                          sites.count * (original.cable_count() + original.switch_count()));
  fabric.endpoints = add_endpoints(fabric.topology, fabric.nodes, nics);
  const auto endpoints_of_site = static_cast<std::size_t>(original.endpoint_count());
  const std::vector<VertexId> tops = highest_switches(original);
  std::vector<std::vector<VertexId>> tops_of_site;
  for (std::size_t number = 0; number < static_cast<std::size_t>(sites.count); ++number) {
    const std::span<const VertexId> endpoints =
        std::span(fabric.endpoints).subspan(number * endpoints_of_site, endpoints_of_site);
    const std::vector<VertexId> vertices =
        append_copy(fabric.topology, original, fmt::format("site{}/", number), endpoints);
    std::vector<VertexId>& here = tops_of_site.emplace_back();
    for (const VertexId top : tops) here.push_back(vertices[static_cast<std::size_t>(top)]);
  }
  add_wan(fabric.topology, sites, tops_of_site);
  return fabric;
}

}  // namespace headway
