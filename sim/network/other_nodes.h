#pragma once

#include <optional>
#include <vector>

#include "sim/files/input_files.h"
#include "sim/files/json_value.h"
#include "sim/network/cluster.h"
#include "sim/network/node_type.h"

namespace headway {

/// Nodes in a row that are of another type than the cluster's own.
struct OtherNodes {
  int first = 0;
  int count = 1;
  NodeType type;
  std::optional<JsonCursor> place;  ///< for problems that only the whole cluster shows
};

struct ReadOtherNodes {
  std::vector<OtherNodes> runs;
  JsonValue resolved;
};

/// Of an entry of "other_nodes", for help and schema.
[[nodiscard]] std::vector<FieldDescription> other_node_descriptions();

/// Reads "other_nodes", a list of {"first", "count", "node"}. Types that are not as wide as `own`
/// are reported: ranks are counted through nodes of one width. Nothing if there were problems.
[[nodiscard]] std::optional<ReadOtherNodes> read_other_nodes(const JsonCursor& part,
                                                             const ReadNodeType& own,
                                                             InputFiles& files);

/// The type with the fastest NIC of all: fabrics give their cables that rate where they name none.
[[nodiscard]] const NodeType& fastest_nics(const NodeType& own,
                                           const std::vector<OtherNodes>& others);

/// Tells the cluster which nodes are of which type, those of equal types as one kind, and has no
/// cable carry more than the NIC at its end. Nodes that the cluster has not, or that are named
/// twice, are reported.
void place_other_nodes(const std::vector<OtherNodes>& others, Cluster& cluster,
                       Diagnostics& diagnostics);

}  // namespace headway
