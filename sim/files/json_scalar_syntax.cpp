#include "sim/files/json_scalar_syntax.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

char at(std::string_view text, std::size_t position) {
  return position < text.size() ? text[position] : '\0';
}

std::optional<unsigned> four_hex_digits(std::string_view text, std::size_t position) {
  unsigned value = 0;
  for (std::size_t i = position; i < position + 4; ++i) {
    const char c = at(text, i);
    const char lower = static_cast<char>(c | 0x20);
    if (!is_digit(c) && (lower < 'a' || lower > 'f')) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : lower - 'a' + 10);
  }
  return value;
}

/// How long the escape at `position` (a backslash) is, or 0 if JSON does not know it. Characters
/// beyond U+FFFF are written as two, a high surrogate and a low one.
std::size_t escape_length(std::string_view text, std::size_t position) {
  const char kind = at(text, position + 1);
  if (kind != 'u') {
    return kind != '\0' && std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos ? 2
                                                                                               : 0;
  }
  const auto first = four_hex_digits(text, position + 2);
  if (!first || (*first >= 0xDC00 && *first <= 0xDFFF)) return 0;
  if (*first < 0xD800 || *first > 0xDBFF) return 6;
  const auto second = four_hex_digits(text, position + 8);
  const bool is_pair = at(text, position + 6) == '\\' && at(text, position + 7) == 'u' && second &&
                       *second >= 0xDC00 && *second <= 0xDFFF;
  return is_pair ? 12 : 0;
}

void skip_digits(std::string_view text, std::size_t& position) {
  while (is_digit(at(text, position))) ++position;
}

/// -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
bool is_json_number(std::string_view word) {
  std::size_t i = at(word, 0) == '-' ? 1 : 0;
  if (!is_digit(at(word, i))) return false;
  if (at(word, i) == '0') {
    ++i;
  } else {
    skip_digits(word, i);
  }
  if (at(word, i) == '.') {
    if (!is_digit(at(word, ++i))) return false;
    skip_digits(word, i);
  }
  if (at(word, i) == 'e' || at(word, i) == 'E') {
    ++i;
    if (at(word, i) == '+' || at(word, i) == '-') ++i;
    if (!is_digit(at(word, i))) return false;
    skip_digits(word, i);
  }
  return i == word.size();
}

/// The end of "400 Gb/s" written without quotes, or `position` if no unit follows the number.
std::size_t end_of_bare_quantity(std::string_view text, std::size_t position) {
  const std::size_t unit = text.find_first_not_of(' ', position);
  if (unit == std::string_view::npos || !is_letter(text[unit])) return position;
  const std::size_t end = std::min(text.find_first_of(",]}\"\r\n", unit), text.size());
  return text.find_last_not_of(" \t", end - 1) + 1;
}

std::string lower_case_without_sign(std::string_view word) {
  std::string lower(word.substr(word.starts_with('+') || word.starts_with('-') ? 1 : 0));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace

bool is_word_character(char c) {
  return is_digit(c) || is_letter(c) || c == '_' || c == '+' || c == '-' || c == '.';
}

std::optional<SyntaxProblem> string_problem(std::string_view text, std::size_t& position) {
  ++position;
  while (position < text.size() && text[position] != '"') {
    const char c = text[position];
    if (c == '\n' || c == '\r') {
      return SyntaxProblem{position - 1, position, "a text is not closed before its line ends",
                           "close it with a double quote; a line break is written \\n"};
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      return SyntaxProblem{position, position + 1, "a control character in a text",
                           "a tab is written \\t, others as in \\u001b"};
    }
    if (c != '\\') {
      ++position;
      continue;
    }
    const std::size_t length = escape_length(text, position);
    if (length == 0 && position + 1 < text.size()) {
      return SyntaxProblem{position, position + 2, "an escape that JSON does not know",
                           "JSON knows \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits"};
    }
    position += std::max<std::size_t>(length, 1);
  }
  if (position >= text.size()) {
    return SyntaxProblem{text.size() - 1, text.size(), "the input ends inside a text",
                         "close it with a double quote, then close every { and ["};
  }
  ++position;
  return std::nullopt;
}

std::optional<SyntaxProblem> word_problem(std::string_view text, std::size_t& position) {
  const std::size_t begin = position;
  while (is_word_character(at(text, position))) ++position;
  const std::string word(text.substr(begin, position - begin));
  const std::string shown = in_quotes(word);
  SyntaxProblem problem{begin, position};

  if (word == "true" || word == "false" || word == "null") return std::nullopt;
  if (is_digit(word.back()) || is_digit(word.front())) {
    if (const std::size_t end = end_of_bare_quantity(text, position);
        end > position && is_json_number(word)) {
      problem.end = end;
      problem.message = "a text needs quotes";
      problem.help = fmt::format("write {}", in_quotes(text.substr(begin, end - begin)));
      return problem;
    }
  }
  if (is_json_number(word)) {
    if (std::isfinite(std::strtod(word.c_str(), nullptr))) return std::nullopt;
    problem.message = "the number is too large";
    problem.help = "numbers go up to about 1.8e308";
    return problem;
  }
  const std::string lower = lower_case_without_sign(word);
  if (lower == "nan" || lower == "inf" || lower == "infinity") {
    problem.message = fmt::format("{} is not a JSON number", shown);
    problem.help = "leave the field out, or write a finite number";
  } else if (const auto meant =
                 closest(lower == "none" ? "null" : lower, {"true", "false", "null"})) {
    problem.message = fmt::format("JSON does not know the word {}", shown);
    problem.help = fmt::format("write {}", *meant);
  } else if (is_digit(at(lower, 0)) || at(lower, 0) == '.' || lower.empty()) {
    problem.message = fmt::format("{} is not a number in JSON's form", shown);
    problem.help = "write numbers such as 12, -0.5 or 1e9; a number with a unit goes in quotes";
  } else {
    problem.message = fmt::format("JSON does not know the word {}", shown);
    problem.help = fmt::format("texts go in double quotes: {}", shown);
  }
  return problem;
}

}  // namespace headway
