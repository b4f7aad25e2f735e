#pragma once

#include "sim/base/json_reader.h"
#include "sim/cluster/cluster.h"
#include "sim/profile/profile.h"
#include "sim/workload/perturbation.h"

namespace headway {

/// Reads the "perturbations" of a scenario, differences between ranks: as the profile knows them,
/// unless the scenario says otherwise. A profile or a cluster that could not be read is nullptr;
/// what depends on it is then not checked. Leaves the seed alone.
[[nodiscard]] Perturbation read_perturbations(ObjectReader& scenario, const Profile* profile,
                                              const Cluster* cluster);

}  // namespace headway
