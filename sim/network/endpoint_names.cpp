#include "sim/network/endpoint_names.h"

#include <fmt/format.h>

#include <iterator>

namespace headway {

std::vector<VertexId> add_endpoints(Topology& topology, int nodes, int nics) {
  std::vector<VertexId> endpoints;
  endpoints.reserve(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nics));
  fmt::memory_buffer name;
  for (int node = 0; node < nodes; ++node) {
    for (int nic = 0; nic < nics; ++nic) {
      name.clear();
      fmt::format_to(std::back_inserter(name), "node{}/nic{}", node, nic);
      endpoints.push_back(topology.add_endpoint({name.data(), name.size()}));
    }
  }
  return endpoints;
}

}  // namespace headway
