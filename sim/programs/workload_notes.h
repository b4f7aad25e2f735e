#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/layers/model.h"

namespace headway {

/// Whether a note is that something which the user asked for is not done.
[[nodiscard]] bool is_about_what_was_asked(std::string_view note);

struct Strategy;

/// What the programs of a job leave out or take for granted, in sentences. `is_overruled`:
/// some collective does not have the algorithm that the run asks for.
[[nodiscard]] std::vector<std::string> workload_notes(const Model& model, const Strategy& strategy,
                                                      bool is_overruled);

}  // namespace headway
