#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headway {

/// What editors and PowerShell write in front of UTF-8; no part of the text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Position of the first byte that is not well-formed UTF-8 (RFC 3629), or npos.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view text);

/// How many characters (code points) `text` holds; a stray byte counts as one.
[[nodiscard]] std::size_t character_count(std::string_view text);

/// The byte position of character `index`, or the size if there are fewer characters.
[[nodiscard]] std::size_t character_position(std::string_view text, std::size_t index);

/// `text` safe to show on a terminal: a tab becomes a space, control characters and bytes that are
/// not UTF-8 become U+FFFD, each one character wide so that columns stay where they were.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` in double quotes, printable, cut with "..." if it is long.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace headway
