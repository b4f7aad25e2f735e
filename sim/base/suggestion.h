#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// The candidates that may have been meant, each once; none if nothing is like `name`, whatever the
/// case of its letters. What differs by few edits (insert, delete, replace, swap of neighbours);
/// else those that have its words among theirs ("h100" in "h100_sxm"), unless these are many; else
/// what its words have among them ("hidden" in "hidden_size"); else what it abbreviates ("tp");
/// else the closest by edits.
[[nodiscard]] std::vector<std::string> alike(std::string_view name,
                                             const std::vector<std::string_view>& candidates);

/// The one candidate that may have been meant; nothing if there is none, or several.
[[nodiscard]] std::optional<std::string> closest(std::string_view name,
                                                 const std::vector<std::string_view>& candidates);

/// "did you mean "h100_pcie" or "h100_sxm"?"; empty if nothing is alike.
[[nodiscard]] std::string meant_text(std::string_view name,
                                     const std::vector<std::string_view>& candidates);

}  // namespace headway
