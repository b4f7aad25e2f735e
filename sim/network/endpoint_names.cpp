#include "sim/network/endpoint_names.h"

#include <fmt/format.h>

namespace headway {

std::vector<VertexId> add_endpoints(Topology& topology, int nodes, int nics) {
  std::vector<VertexId> endpoints;
  endpoints.reserve(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nics));
  for (int node = 0; node < nodes; ++node) {
    for (int nic = 0; nic < nics; ++nic) {
      endpoints.push_back(topology.add_endpoint(fmt::format("node{}/nic{}", node, nic)));
    }
  }
  return endpoints;
}

}  // namespace headway
