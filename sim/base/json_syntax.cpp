#include <fmt/format.h>

#include <algorithm>

#include "sim/base/json_parse.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

struct Spot {
  std::size_t begin;
  std::size_t end;
};

Diagnostic problem_at(const SourceText& source, Spot spot, std::string message,
                      std::string help = "") {
  return {.message = std::move(message),
          .location = source.location(spot.begin, spot.end),
          .help = std::move(help)};
}

bool is_word_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '+' || c == '-' || c == '.';
}

/// Where the parser stumbled: the start of the word that it was reading, so that "NaN" and "01"
/// are named whole.
Spot word_around(std::string_view text, std::size_t position) {
  Spot spot{position, std::min(position + 1, text.size())};
  if (position >= text.size() || !is_word_character(text[position])) return spot;
  while (spot.begin > 0 && is_word_character(text[spot.begin - 1])) --spot.begin;
  while (spot.end < text.size() && is_word_character(text[spot.end])) ++spot.end;
  return spot;
}

/// The last character before `position` that is not blank, or NUL.
std::size_t before(std::string_view text, std::size_t position) {
  return position == 0 ? std::string_view::npos : text.find_last_not_of(kBlanks, position - 1);
}

Diagnostic problem_with_word(const SourceText& source, Spot spot) {
  const std::string_view word = source.text().substr(spot.begin, spot.end - spot.begin);
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  lower.erase(
      0, lower.find_first_not_of("+-") == std::string::npos ? 0 : lower.find_first_not_of("+-"));
  const std::string shown = in_quotes(word);
  if (lower == "nan" || lower == "inf" || lower == "infinity") {
    return problem_at(source, spot, fmt::format("{} is not a JSON number", shown),
                      "leave the field out, or write a finite number");
  }
  if (lower == "true" || lower == "false" || lower == "null") {
    return problem_at(source, spot, fmt::format("unknown word {}", shown),
                      fmt::format("write {}", lower));
  }
  if (lower == "none") {
    return problem_at(source, spot, fmt::format("unknown word {}", shown), "write null");
  }
  if (!lower.empty() && ((lower[0] >= '0' && lower[0] <= '9') || lower[0] == '.')) {
    return problem_at(source, spot, fmt::format("{} is not a number in JSON's form", shown),
                      "write numbers such as 12, -0.5 or 1e9; texts with a unit go in quotes");
  }
  return problem_at(source, spot, fmt::format("unknown word {}", shown),
                    "names and texts go in double quotes");
}

}  // namespace

Diagnostic syntax_problem(const SourceText& source, std::size_t stopped_at,
                          const std::string& last_read) {
  const std::string_view text = source.text();
  if (text.find_first_not_of(kBlanks) == std::string_view::npos) {
    return {.message = "the file is empty", .location = source.whole()};
  }
  // `stopped_at` counts the bytes read. A token that was read in full but does not belong here
  // ends there; otherwise the last byte read is the one that does not fit.
  const bool whole_token =
      last_read.size() > 1 && last_read.size() <= stopped_at &&
      text.substr(stopped_at - last_read.size(), last_read.size()) == last_read;
  const bool is_closed_text = whole_token && last_read.front() == '"' && last_read.back() == '"';
  std::size_t at = stopped_at == 0 ? 0 : stopped_at - 1;
  if (is_closed_text) at = stopped_at - last_read.size();

  if (at >= text.size()) {
    const std::size_t last = before(text, text.size());
    const bool in_text = last_read.starts_with('"') && !is_closed_text;
    return problem_at(source, {last, last + 1}, "the file ends too early",
                      in_text ? "close the text with a double quote"
                              : "close every { and [; perhaps the file was cut off");
  }
  const char c = text[at];
  if (last_read.starts_with('"') && !is_closed_text) {
    if (c == '\n' || c == '\r' || c == '\t' || static_cast<unsigned char>(c) < 0x20) {
      const bool is_line_end = c == '\n' || c == '\r';
      const std::size_t spot = is_line_end && at > 0 ? at - 1 : at;
      return problem_at(source, {spot, spot + 1},
                        is_line_end ? "the text is not closed before the end of its line"
                                    : "a control character inside a text",
                        is_line_end ? "close it with a double quote; a line break is written \\n"
                                    : "write \\t for a tab, \\u0000 and so on for others");
    }
    return problem_at(source, {at, at + 1}, "an escape in a text that JSON does not know",
                      "JSON knows \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits");
  }
  const std::size_t previous = before(text, word_around(text, at).begin);
  const char last = previous == std::string_view::npos ? '\0' : text[previous];
  if (c == '/' || c == '#' || (c == '*' && at > 0 && text[at - 1] == '/') ||
      (at > 0 && text[at - 1] == '/')) {
    const std::size_t begin = c == '#' || at == 0 || text[at - 1] != '/' ? at : at - 1;
    return problem_at(source, {begin, begin + (c == '#' ? 1U : 2U)}, "JSON has no comments",
                      "remove it; most objects take a \"description\" or \"source\" text");
  }
  if (c == '\'') {
    return problem_at(source, {at, at + 1}, "a text in single quotes", "use double quotes");
  }
  if ((c == '}' || c == ']') && last == ',') {
    return problem_at(source, {previous, previous + 1},
                      fmt::format("a comma before the closing {}", c), "remove the comma");
  }
  if (is_word_character(c) &&
      (last == ':' || last == ',' || last == '[' || last == '{' || last == '\0')) {
    const Spot spot = word_around(text, at);
    const std::string_view word = text.substr(spot.begin, spot.end - spot.begin);
    const bool is_plain_number = word.find_first_not_of("0123456789") == std::string_view::npos &&
                                 (word[0] != '0' || word.size() == 1);
    if (!is_plain_number) return problem_with_word(source, spot);
  }
  const Spot spot = is_closed_text ? Spot{at, stopped_at} : word_around(text, at);
  if (c == ',' || c == ':') {
    return problem_at(source, spot, fmt::format("unexpected \"{}\"", c),
                      last == ',' ? "remove one of the commas" : "");
  }
  const bool after_value = last == '"' || last == '}' || last == ']' || is_word_character(last);
  if (after_value && c != '}' && c != ']') {
    return problem_at(source, spot, "a comma, a colon or the end is missing before this",
                      "fields are written \"name\": value, with commas between them");
  }
  if (last == '{' || last == ',') {
    return problem_at(
        source, spot,
        fmt::format("unexpected {}", in_quotes(text.substr(spot.begin, spot.end - spot.begin))),
        "fields are written \"name\": value, with commas between them");
  }
  return problem_at(
      source, spot,
      fmt::format("unexpected {}", in_quotes(text.substr(spot.begin, spot.end - spot.begin))));
}

}  // namespace headway
