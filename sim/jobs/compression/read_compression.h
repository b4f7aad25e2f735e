#pragma once

#include "sim/files/field_table.h"
#include "sim/jobs/compression/compression.h"

namespace headway {

/// The fields of a "compression".
[[nodiscard]] const FieldTable<Compression>& compression_fields();

/// The "compression" object of a strategy; `habits` where it says nothing. Resolved only where
/// somebody says something.
[[nodiscard]] Compression read_compression(ObjectReader& strategy, const Compression& habits);

}  // namespace headway
