#pragma once

#include <vector>

#include "sim/files/field_table.h"
#include "sim/scenario/read_reliability.h"

namespace headway {

/// Reads /reliability/failures of a job of so many nodes: causes, with as many units as the job
/// has.
[[nodiscard]] std::vector<FailureCause> read_failures(ObjectReader& reader, const ReliableJob& job,
                                                      const ReliabilitySettings& settings);
/// The fields of each.
[[nodiscard]] std::vector<FieldDescription> failure_field_descriptions();

}  // namespace headway
