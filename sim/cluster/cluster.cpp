#include "sim/cluster/cluster.h"

#include "sim/base/diagnostic.h"

namespace headway {

VertexId Cluster::endpoint_of(int accelerator) const {
  HEADWAY_CHECK(accelerator >= 0 && accelerator < accelerators(), "no such accelerator");
  const int nic =
      node_type.nearest_nic[static_cast<std::size_t>(accelerator % node_type.accelerators)];
  return endpoints[static_cast<std::size_t>(node_of(accelerator) * node_type.nics + nic)];
}

}  // namespace headway
