#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headway {

/// What keeps bytes [begin, end) of a text from being JSON, in words for a diagnostic.
struct SyntaxProblem {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string message = {};
  std::string help = {};
};

/// Reads the quoted text at `position` (a double quote) and leaves `position` behind it.
[[nodiscard]] std::optional<SyntaxProblem> string_problem(std::string_view text,
                                                          std::size_t& position);

/// Letters, digits, signs, points and underscores: what a number or a word consists of.
[[nodiscard]] bool is_word_character(char c);

/// The same for the word or number at `position`.
[[nodiscard]] std::optional<SyntaxProblem> word_problem(std::string_view text,
                                                        std::size_t& position);

}  // namespace headway
