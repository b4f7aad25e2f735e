#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/files/json_document.h"

namespace headway {

/// A value that a `--set` put into a document.
struct AppliedOverride {
  std::string pointer;  ///< in the document
  std::string shown;    ///< "--set /model/layers=8", the place that messages name
};

/// Where messages say that it stands: its place, or "--set /model/layers=8", cut if it is long.
[[nodiscard]] std::string shown_override(const Override& override);

/// Sets the value at `pointer` of `root`; null takes a field away that is there. Nothing, with a
/// diagnostic, if the path does not exist.
[[nodiscard]] std::optional<AppliedOverride> apply_override(nlohmann::json& root,
                                                            const std::string& pointer,
                                                            const Override& override,
                                                            Diagnostics& diagnostics);

}  // namespace headway
