#include <fmt/format.h>

#include <algorithm>

#include "sim/network/read_kind.h"
#include "sim/network/routing/routing_kind.h"

namespace headway {

// Each is defined in the file that bears its name.
RoutingKind adaptive_routing();
RoutingKind d_mod_k_routing();
RoutingKind dimension_order_routing();
RoutingKind ecmp_routing();
RoutingKind shortest_routing();
RoutingKind table_routing();
RoutingKind valiant_routing();

std::span<const RoutingKind> routing_kinds() {
  static const RoutingKind kKinds[] = {
      d_mod_k_routing(),  dimension_order_routing(), shortest_routing(), ecmp_routing(),
      adaptive_routing(), valiant_routing(),         table_routing()};
  return kKinds;
}

std::vector<FieldDescription> routing_field_descriptions() {
  constexpr std::string_view kKind =
      R"(The rule by which a flow's path is chosen. ecmp hashes flows onto equal paths, adaptive
spreads packets over them by what they carry and, on dragonflies, over longer ones where these are
too crowded; valiant takes detours through other groups; the others have one fixed path for each
pair of endpoints. Cables that are down are routed around, but by a table.
limits: d-mod-k routes clos fabrics, dimension-order tori and hyperx, valiant dragonflies, table
graphs, the others any; of fabrics on several sites shortest, ecmp and adaptive only
see: Zahavi 2010, "D-Mod-K routing"; OpenSM's ftree engine
default: d-mod-k for a clos, dimension-order for a torus and a hyperx, else shortest; on several sites
shortest, whose flows between two sites are spread over their cables)";
  std::vector<FieldDescription> all{
      described_field("kind", word_type(names_of_kinds(routing_kinds())), kKind, false, {})};
  std::ranges::move(fields_of_kinds(routing_kinds()), std::back_inserter(all));
  return all;
}

void report_wrong_fabric(ObjectReader& reader, const RoutingRequest& request,
                         std::string_view routing, std::string_view routable_fabric) {
  if (request.has_sites) {
    reader.report("kind", fmt::format("{} routes fabrics of one site only", routing),
                  fmt::format("the {} stands on several sites", request.fabric_kind),
                  "leave \"routing\" out to get \"shortest\", or use \"ecmp\" or \"adaptive\"");
    return;
  }
  reader.report("kind", fmt::format("{} routes {} fabrics only", routing, routable_fabric),
                fmt::format("the fabric is a {}", request.fabric_kind),
                "leave \"routing\" out to get what fits the fabric, or use \"shortest\"");
}

}  // namespace headway
