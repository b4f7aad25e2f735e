#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/files/field_table.h"
#include "sim/network/cluster.h"
#include "sim/network/topology.h"

namespace headway {

/// The regular shape of a generated fabric, from which routings compute paths in closed form. Each
/// generator that has such a routing derives its own.
class FabricLayout {
 public:
  virtual ~FabricLayout() = default;
};

/// What is asked of a fabric.
struct FabricRequest {
  const NodeType& node_type;
  std::optional<int> nodes;  ///< nothing takes what the fabric itself names
};

/// What a builder hands back.
struct Fabric {
  Topology topology = {};
  int nodes = 0;
  std::vector<VertexId> endpoints;             ///< of NIC `n` of node `i`: [i * nics + n]
  std::unique_ptr<const FabricLayout> layout;  ///< null for a fabric without a regular shape
  std::optional<SiteRecord> site;              ///< nothing for a generated fabric
  std::vector<int> domain_of_node = {};        ///< empty where nobody says
};

/// Reads the fields of a "fabric" object other than "kind", all of them even if some are wrong, and
/// builds it. Nothing, with diagnostics, if they are wrong. The caller finishes the reader.
using FabricBuilder = std::optional<Fabric>(ObjectReader& reader, const FabricRequest& request);

// What several kinds say of their fields.
inline constexpr std::string_view kFabricBandwidthNotes =
    "Of a cable, each way.\ndefault: the NIC's";
inline constexpr std::string_view kFabricCableLatencyNotes = "Of a cable, 5 ns a metre.";
inline constexpr std::string_view kFabricPlacesNotes =
    "Places for NICs on a switch, which are filled in order.";
inline constexpr std::string_view kFabricSwitchLatencyNotes =
    "From port to port of a switch. InfiniBand; Ethernet takes about 600 ns.";

/// A kind of fabric, as /fabric/kind names it.
struct FabricKind {
  std::string_view name;
  FabricBuilder* build;
  std::string_view default_routing;  ///< a kind of routing
  /// Of what it reads, for help and schema.
  std::vector<FieldDescription> (*fields)();
};

[[nodiscard]] std::span<const FabricKind> fabric_kinds();

/// Fields of a "fabric" object that tell of its transport.
[[nodiscard]] std::vector<FieldDescription> transport_field_descriptions();

/// Fields of a "fabric" object, of whatever kind. What several kinds have is told once.
[[nodiscard]] std::vector<FieldDescription> fabric_field_descriptions();

/// A fabric as it was read, of as many planes or sites as it asks for.
struct ReadFabric {
  Fabric fabric;
  std::string_view kind;
  std::string_view default_routing;  ///< a kind of routing
  FabricTransport transport;
  bool has_sites = false;  ///< several
  /// One of several planes by itself, of which `fabric.layout` speaks; else null.
  std::unique_ptr<const Topology> plane;
};

/// Reads and builds a whole "fabric" object, and sets what it resolves to. Nothing, with
/// diagnostics, if it is wrong.
[[nodiscard]] std::optional<ReadFabric> read_fabric(const JsonCursor& part,
                                                    const FabricRequest& request,
                                                    Diagnostics& diagnostics,
                                                    nlohmann::json& resolved);

/// Reports a fabric of more cables than are built; true if it has no more.
[[nodiscard]] bool fits_in_memory(double cables, ObjectReader& reader);

/// Nodes that the request asks for; reports their absence (as 1) on behalf of fabrics that cannot
/// tell by themselves.
[[nodiscard]] int requested_nodes(const FabricRequest& request, ObjectReader& reader);

}  // namespace headway
