#pragma once

#include <memory>

#include "sim/base/diagnostic.h"
#include "sim/cli/options/arguments.h"
#include "sim/cli/options/option.h"
#include "sim/network/cluster.h"

namespace headway {

/// --nodes, of commands whose first argument is a topology.
[[nodiscard]] Option nodes_option();

/// The cluster that the first argument names, with --set and --nodes applied; null, with
/// diagnostics, if anything about it is wrong.
[[nodiscard]] std::shared_ptr<const Cluster> cluster_of(const Arguments& arguments,
                                                        Diagnostics& diagnostics);

}  // namespace headway
