#include <fmt/format.h>

#include "sim/network/routing/routing_kind.h"

namespace headway {

// Each is defined in the file that bears its name.
RoutingBuilder build_adaptive_routing;
RoutingBuilder build_d_mod_k_routing;
RoutingBuilder build_dimension_order_routing;
RoutingBuilder build_ecmp_routing;
RoutingBuilder build_shortest_routing;
RoutingBuilder build_table_routing;
RoutingBuilder build_valiant_routing;

namespace {

constexpr RoutingKind kRoutingKinds[] = {
    {"d-mod-k", build_d_mod_k_routing},   {"dimension-order", build_dimension_order_routing},
    {"shortest", build_shortest_routing}, {"ecmp", build_ecmp_routing},
    {"adaptive", build_adaptive_routing}, {"valiant", build_valiant_routing},
    {"table", build_table_routing},
};

}  // namespace

std::span<const RoutingKind> routing_kinds() { return kRoutingKinds; }

void report_wrong_fabric(ObjectReader& reader, const RoutingRequest& request,
                         std::string_view routing, std::string_view routable_fabric) {
  reader.report("kind", fmt::format("{} routes {} fabrics only", routing, routable_fabric),
                fmt::format("the fabric is a {}", request.fabric_kind),
                "leave \"routing\" out to get what fits the fabric, or use \"shortest\"");
}

}  // namespace headway
