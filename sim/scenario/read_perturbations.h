#pragma once

#include "sim/costs/profile.h"
#include "sim/files/json_reader.h"
#include "sim/network/cluster.h"
#include "sim/programs/perturbation/perturbation.h"

namespace headway {

/// Reads the "perturbations" of a scenario, differences between ranks: as the profile knows them,
/// unless the scenario says otherwise. A profile or a cluster that could not be read is nullptr;
/// what depends on it is then not checked. Leaves the seed alone.
[[nodiscard]] Perturbation read_perturbations(ObjectReader& scenario, const Profile* profile,
                                              const Cluster* cluster);

}  // namespace headway
