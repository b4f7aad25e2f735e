#pragma once

#include <functional>
#include <memory>

#include "sim/network/cluster.h"

namespace headway {

/// The same machines and cables, some of them faster or slower: `change` may alter bandwidths and
/// latencies of the node type and of links, but neither what is joined to what nor how many there
/// are. Routes are those of `original`, which the copy keeps alive.
[[nodiscard]] std::shared_ptr<const Cluster> changed_cluster(
    std::shared_ptr<const Cluster> original, const std::function<void(Cluster&)>& change);

}  // namespace headway
