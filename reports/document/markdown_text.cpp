#include "reports/document/markdown_text.h"

#include <algorithm>
#include <cctype>

#include "reports/document/sentence_parts.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// An underscore inside a word, as in llama3_405b, is no mark in GitHub's Markdown.
bool is_inside_word(std::string_view text, std::size_t i) {
  return i > 0 && i + 1 < text.size() && is_word_character(text[i - 1]) &&
         is_word_character(text[i + 1]);
}

bool is_mark(std::string_view text, std::size_t i) {
  constexpr std::string_view kMarks = "\\`*[]<>&~$";
  const char c = text[i];
  if (c == '_') return !is_inside_word(text, i);
  return kMarks.find(c) != std::string_view::npos;
}

/// The start of a line that does not begin a heading or a list.
std::string line_start(std::string escaped) {
  const bool starts_with_mark =
      !escaped.empty() && std::string_view("#+-=").find(escaped.front()) != std::string_view::npos;
  return starts_with_mark ? "\\" + escaped : escaped;
}

}  // namespace

std::string markdown_text(std::string_view text) { return line_start(markdown_cell(text)); }

std::string markdown_sentence_cell(std::string_view text) {
  std::string sentence;
  for (const SentencePart& part : sentence_parts(text)) {
    sentence += part.is_code ? "`" + printable(part.text) + "`" : markdown_cell(part.text);
  }
  return sentence;
}

std::string markdown_sentence(std::string_view text) {
  return line_start(markdown_sentence_cell(text));
}

std::string markdown_cell(std::string_view text) {
  std::string one_line(text);
  std::ranges::replace(one_line, '\n', ' ');
  const std::string shown = printable(one_line);
  std::string escaped;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (is_mark(shown, i)) escaped += '\\';
    escaped += shown[i];
  }
  return escaped;
}

std::string markdown_code(std::string_view text, std::string_view language) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string block = fence;
  block += language;
  block += '\n';
  block += text;
  if (!text.empty() && text.back() != '\n') block += '\n';
  return block + fence + '\n';
}

}  // namespace headway
