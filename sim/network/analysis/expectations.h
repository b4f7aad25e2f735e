#pragma once

#include "sim/files/field_type.h"
#include "sim/network/cluster.h"

namespace headway {

/// Of "expect", for help and schema.
[[nodiscard]] std::vector<FieldDescription> expect_field_descriptions();

/// Compares a built cluster with the "expect" object of its file: numbers that its author knows
/// from the site or the design. Each that differs is reported. Without `compare` only the form of
/// the object is checked, for a cluster that was built with other numbers of nodes than its file's.
void check_expectations(const JsonCursor& expect, const Cluster& cluster, bool compare,
                        Diagnostics& diagnostics);

}  // namespace headway
