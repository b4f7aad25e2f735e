#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "sim/files/json_reader.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/routing/routing.h"

namespace headway {

/// The fabric that a routing is built for.
struct RoutingRequest {
  const Topology& topology;    ///< outlives the routing
  const FabricLayout* layout;  ///< null for a fabric without a regular shape; used while building
  std::string_view fabric_kind;
  bool has_sites = false;
};

/// Reads the fields of a "routing" object other than "kind", and builds it. Null, with diagnostics,
/// if they are wrong or the fabric is not one that it routes. The caller finishes the reader.
using RoutingBuilder = std::unique_ptr<const Routing>(ObjectReader& reader,
                                                      const RoutingRequest& request);

/// A kind of routing, as /routing/kind names it.
struct RoutingKind {
  std::string_view name;
  RoutingBuilder* build;
  /// Of what it reads, for help and schema; null if nothing.
  std::vector<FieldDescription> (*fields)() = nullptr;
};

[[nodiscard]] std::span<const RoutingKind> routing_kinds();

/// Fields of a "routing" object, of whatever kind.
[[nodiscard]] std::vector<FieldDescription> routing_field_descriptions();

/// Reports that a routing is for fabrics of another kind.
void report_wrong_fabric(ObjectReader& reader, const RoutingRequest& request,
                         std::string_view routing, std::string_view routable_fabric);

}  // namespace headway
