#pragma once

#include "sim/costs/profile.h"
#include "sim/files/field_table.h"
#include "sim/network/cluster.h"
#include "sim/programs/perturbation/perturbation.h"

namespace headway {

/// Fields of "perturbations". Without a cluster nothing that names a part of it is looked for.
[[nodiscard]] FieldTable<Perturbation> perturbation_fields(const Cluster* cluster = nullptr);

/// Reads the "perturbations" of a scenario, differences between ranks: as the profile knows them,
/// unless the scenario says otherwise. A profile or a cluster that could not be read is nullptr;
/// what depends on it is then not checked. Leaves the seed alone.
[[nodiscard]] Perturbation read_perturbations(ObjectReader& scenario, const Profile* profile,
                                              const Cluster* cluster);

}  // namespace headway
