#pragma once

#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// The problems; those of fields that are unknown where they stand, and known by that name in a few
/// other places, say where. Readers know the fields of their own object alone.
[[nodiscard]] std::vector<Diagnostic> with_fields_elsewhere(std::vector<Diagnostic> problems);

}  // namespace headway
