#include "sim/network/cluster.h"

#include "sim/base/diagnostic.h"

namespace headway {

VertexId Cluster::endpoint_of(int accelerator) const {
  HEADWAY_CHECK(accelerator >= 0, "accelerators count from 0");
  HEADWAY_CHECK(accelerator < accelerators(), "the cluster has no such accelerator");
  const auto place = static_cast<std::size_t>(accelerator % node_type.accelerators);
  const auto node = static_cast<std::size_t>(node_of(accelerator));
  const auto nics = static_cast<std::size_t>(node_type.nics);
  return endpoints[node * nics + static_cast<std::size_t>(node_type.nearest_nic[place])];
}

VertexId Cluster::endpoint_towards(int accelerator, int other) const {
  return rails_only ? endpoint_on_rail_of(accelerator, other) : endpoint_of(accelerator);
}

VertexId Cluster::endpoint_on_rail_of(int accelerator, int other) const {
  const auto place = static_cast<std::size_t>(other % node_type.accelerators);
  const auto node = static_cast<std::size_t>(node_of(accelerator));
  const auto nics = static_cast<std::size_t>(node_type.nics);
  return endpoints[node * nics + static_cast<std::size_t>(node_type.nearest_nic[place])];
}

}  // namespace headway
