#pragma once

#include <string>

#include "sim/files/field_table.h"
#include "sim/jobs/synchronisation/synchronisation.h"

namespace headway {

/// The fields of a "synchronisation": its scheme, and what there is to say of each.
[[nodiscard]] const FieldTable<Synchronisation>& synchronisation_fields();

/// What a "synchronisation" is, as rows of tables have it.
[[nodiscard]] const std::string& synchronisation_notes();

/// The "synchronisation" object of a strategy; `habits` where it says nothing. Resolved only where
/// somebody says something.
[[nodiscard]] Synchronisation read_synchronisation(ObjectReader& strategy,
                                                   const Synchronisation& habits);

}  // namespace headway
