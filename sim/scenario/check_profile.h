#pragma once

#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/costs/read_profile.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"

namespace headway {

struct ReadStrategy;

/// Reports what a job needs and the profile does not know: a kernel family, a precision, experts.
void check_costs(const Profile& costs, const Model& model, const ReadStrategy& strategy,
                 Diagnostics& diagnostics);

/// NCCL's costs asked for over a transport of which nothing is known.
void check_transport(const ReadStrategy& strategy, const Cluster& cluster,
                     Diagnostics& diagnostics);

/// What is not modelled of a job on several kinds of nodes.
void check_kinds(const ReadStrategy& strategy, const Cluster& cluster, Diagnostics& diagnostics);

/// Nodes that servers apart need behind those of the job's accelerators.
void check_server_hosts(const ReadStrategy& strategy, const Cluster& cluster, int accelerators,
                        Diagnostics& diagnostics);

/// Warns of groups of ranks that would fit into a scale-up domain and yet lie in two of them: racks
/// of 72 accelerators filled one after the other split groups of 64.
void check_domains(const ReadStrategy& strategy, const Cluster& cluster,
                   const std::vector<ParallelDimension>& order, Diagnostics& diagnostics);

}  // namespace headway
