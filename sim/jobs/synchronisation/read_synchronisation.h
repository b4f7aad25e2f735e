#pragma once

#include "sim/files/field_table.h"
#include "sim/jobs/synchronisation/synchronisation.h"

namespace headway {

/// The fields of a "synchronisation".
[[nodiscard]] const FieldTable<Synchronisation>& synchronisation_fields();

/// The "synchronisation" object of a strategy; `habits` where it says nothing. Resolved only where
/// somebody says something.
[[nodiscard]] Synchronisation read_synchronisation(ObjectReader& strategy,
                                                   const Synchronisation& habits);

}  // namespace headway
