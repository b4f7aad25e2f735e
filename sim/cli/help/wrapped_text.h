#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headway {

/// Columns that help is written for.
inline constexpr std::size_t kHelpWidth = 80;

/// `text` broken at spaces into lines of at most kHelpWidth columns, each ending in a newline. The
/// first one continues a line that is `used` columns long; the others are indented by `indent`.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, std::size_t used);

/// `label` on the left, `text` wrapped from column `column` on; on lines of its own if the label
/// leaves no room.
[[nodiscard]] std::string labelled(const std::string& label, std::string_view text,
                                   std::size_t column);

}  // namespace headway
