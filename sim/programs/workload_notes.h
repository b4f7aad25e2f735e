#pragma once

#include <string>
#include <vector>

#include "sim/layers/model.h"

namespace headway {

struct Strategy;

/// What the programs of a job leave out or take for granted, in sentences. `is_overruled`: the
/// library does not have the algorithm that the run asks for everywhere.
[[nodiscard]] std::vector<std::string> workload_notes(const Model& model, const Strategy& strategy,
                                                      bool is_overruled);

}  // namespace headway
