#pragma once

#include <span>
#include <string>

#include "sim/network/topology.h"

namespace headway {

/// Adds the switches and cables of `part` to `whole`, in their order; names begin with `prefix`.
/// Endpoint number i of `part` is `endpoints[i]` of `whole`, whose ports are `first_port` higher.
/// Returns the vertex of `whole` for each one of `part`.
std::vector<VertexId> append_copy(Topology& whole, const Topology& part, const std::string& prefix,
                                  std::span<const VertexId> endpoints, int first_port = 0);

}  // namespace headway
