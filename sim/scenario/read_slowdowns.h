#pragma once

#include <vector>

#include "sim/files/field_table.h"
#include "sim/network/cluster.h"
#include "sim/programs/perturbation/perturbation.h"

namespace headway {

/// Accelerators and nodes there may be where no cluster is known.
inline constexpr double kMostNamed = 1 << 30;

/// Fields of "perturbations" whose entries begin and end while an iteration runs. Without a cluster
/// (it could not be read) what is named in it is not looked for.
[[nodiscard]] std::vector<Field<Perturbation>> slowdown_rows(const Cluster* cluster);

}  // namespace headway
