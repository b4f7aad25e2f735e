#pragma once

#include <string>
#include <string_view>

namespace headway {

/// `text` as Markdown that shows exactly it, on one line: characters that Markdown or HTML would
/// take as marks are escaped, line ends become spaces, control characters U+FFFD. `|` is left to
/// the table that the text may stand in.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// The same for text that does not start a line, where fewer characters are marks: "-0.6" in a
/// table.
[[nodiscard]] std::string markdown_cell(std::string_view text);

// Sentences, in which code stands between backticks (sentence_parts.h), which Markdown shows as
// such.
[[nodiscard]] std::string markdown_sentence(std::string_view text);
/// One that does not start a line.
[[nodiscard]] std::string markdown_sentence_cell(std::string_view text);

/// `text` as a code block of `language`, fenced so that nothing in it can end the block.
[[nodiscard]] std::string markdown_code(std::string_view text, std::string_view language);

}  // namespace headway
