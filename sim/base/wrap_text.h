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

}  // namespace headway
