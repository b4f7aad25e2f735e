#include <fmt/format.h>

#include "sim/base/quantity_text.h"
#include "sim/cluster/fabric.h"

namespace headway {

// Each is defined in the file that bears its name.
FabricBuilder build_clos;
FabricBuilder build_graph;
FabricBuilder build_single_switch;
FabricBuilder build_torus;

namespace {

constexpr FabricKind kFabricKinds[] = {
    {"clos", build_clos, "d-mod-k"},
    {"single_switch", build_single_switch, "shortest"},
    {"torus", build_torus, "dimension-order"},
    {"graph", build_graph, "shortest"},
};

}  // namespace

std::span<const FabricKind> fabric_kinds() { return kFabricKinds; }

bool fits_in_memory(double cables, ObjectReader& reader) {
  if (cables <= kMostCables) return true;
  reader.diagnostics().add(
      reader.cursor().problem(fmt::format("the fabric would have {} cables; at most {} are built",
                                          grouped_digits(static_cast<long long>(cables)),
                                          grouped_digits(static_cast<long long>(kMostCables)))));
  return false;
}

int requested_nodes(const FabricRequest& request, ObjectReader& reader) {
  if (request.nodes) return *request.nodes;
  reader.diagnostics().add(reader.cursor().problem("the number of nodes is missing", "",
                                                   "write it beside the fabric: \"nodes\": 128"));
  return 1;
}

}  // namespace headway
