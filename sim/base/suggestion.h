#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// The candidate closest to `name` by edits (insert, delete, replace, swap of neighbours), or
/// nothing if none is close enough to be what was meant.
[[nodiscard]] std::optional<std::string> closest(std::string_view name,
                                                 const std::vector<std::string_view>& candidates);

}  // namespace headway
