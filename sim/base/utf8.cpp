#include "sim/base/utf8.h"

#include <fmt/format.h>

namespace headway {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::size_t kLongestQuote = 60;

unsigned byte_at(std::string_view text, std::size_t position) {
  return static_cast<unsigned char>(text[position]);
}

/// Length in bytes of the well-formed character at `position`, or 0 if there is none.
std::size_t character_length(std::string_view text, std::size_t position) {
  const unsigned first = byte_at(text, position);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned least_second = 0x80;
  unsigned most_second = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) least_second = 0xA0;  // else overlong
    if (first == 0xED) most_second = 0x9F;   // else a surrogate
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) least_second = 0x90;
    if (first == 0xF4) most_second = 0x8F;  // else beyond U+10FFFF
  } else {
    return 0;
  }
  if (position + length > text.size()) return 0;
  const unsigned second = byte_at(text, position + 1);
  if (second < least_second || second > most_second) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, position + i) & 0xC0U) != 0x80) return 0;
  }
  return length;
}

std::size_t step(std::string_view text, std::size_t position) {
  const std::size_t length = character_length(text, position);
  return length == 0 ? 1 : length;
}

bool is_control(std::string_view character) {
  const unsigned first = byte_at(character, 0);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  if (first == 0xC2) return byte_at(character, 1) < 0xA0;  // C1 controls, U+0080 to U+009F
  // What ends a line for others (YAML, JavaScript), U+2028 and U+2029, and what turns the direction
  // of what follows, U+202A to U+202E and U+2066 to U+2069.
  return (character >= "\u2028" && character <= "\u202E") ||
         (character >= "\u2066" && character <= "\u2069");
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t length = character_length(text, position);
    if (length == 0) return position;
    position += length;
  }
  return std::string_view::npos;
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t position = 0; position < text.size(); position += step(text, position)) ++count;
  return count;
}

std::size_t character_position(std::string_view text, std::size_t index) {
  std::size_t position = 0;
  while (index > 0 && position < text.size()) {
    position += step(text, position);
    --index;
  }
  return position;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t length = character_length(text, position);
    const std::string_view character = text.substr(position, length == 0 ? 1 : length);
    if (character == "\t") {
      shown += ' ';
    } else {
      shown += length == 0 || is_control(character) ? kReplacement : character;
    }
    position += character.size();
  }
  return shown;
}

std::string in_quotes(std::string_view text) {
  const std::size_t end = character_position(text, kLongestQuote);
  return fmt::format("\"{}{}\"", printable(text.substr(0, end)), end < text.size() ? "..." : "");
}

}  // namespace headway
