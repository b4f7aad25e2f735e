#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// `text` in lines of at most `width` characters, broken at blanks; a word that is longer stands on
/// a line of its own, which is as long. The first line is for what follows `first_indent`
/// characters, the others for what follows `indent`. At least one line, without the indents.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width,
                                               std::size_t first_indent = 0,
                                               std::size_t indent = 0);

/// Columns that help is written for.
inline constexpr std::size_t kHelpWidth = 80;

/// `text` broken at spaces into lines of at most kHelpWidth columns, each ending in a newline. The
/// first one continues a line that is `used` columns long; the others are indented by `indent`.
[[nodiscard]] std::string wrapped_text(std::string_view text, std::size_t indent, std::size_t used);

/// `label` on the left, `text` wrapped from column `column` on; on lines of its own if the label
/// leaves no room.
[[nodiscard]] std::string labelled(const std::string& label, std::string_view text,
                                   std::size_t column);

}  // namespace headway
