#include "sim/base/wrap_text.h"

#include <algorithm>

#include "sim/base/utf8.h"

namespace headway {

std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t first_indent,
                                 std::size_t indent) {
  std::vector<std::string> lines(1);
  std::size_t used = first_indent;
  bool is_empty = true;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word(text.substr(begin, end - begin));
    const std::size_t length = character_count(word);
    if (!is_empty && used + 1 + length > width) {
      lines.emplace_back();
      used = indent;
      is_empty = true;
    }
    lines.back() += (is_empty ? "" : " ") + word;
    used += (is_empty ? 0 : 1) + length;
    is_empty = false;
    begin = end + 1;
  }
  return lines;
}

std::string wrapped_text(std::string_view text, std::size_t indent, std::size_t used) {
  std::string lines;
  for (const std::string& line : wrapped(text, kHelpWidth, used, indent)) {
    lines += (lines.empty() ? "" : std::string(indent, ' ')) + line + "\n";
  }
  return lines;
}

std::string labelled(const std::string& label, std::string_view text, std::size_t column) {
  constexpr std::size_t kGap = 2;
  const std::size_t width = character_count(label);
  if (text.empty()) return label + "\n";
  if (width + kGap > column) {
    return label + "\n" + std::string(column, ' ') + wrapped_text(text, column, column);
  }
  return label + std::string(column - width, ' ') + wrapped_text(text, column, column);
}

}  // namespace headway
