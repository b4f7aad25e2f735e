#include "sim/cli/help/wrapped_text.h"

#include "sim/base/utf8.h"

namespace headway {

std::string wrapped(std::string_view text, std::size_t indent, std::size_t used) {
  std::string lines;
  bool is_first_word = true;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t width = character_count(word);
    if (!is_first_word && used + 1 + width > kHelpWidth) {
      lines += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!is_first_word) {
      lines += " ";
      ++used;
    }
    lines += word;
    used += width;
    is_first_word = false;
  }
  return lines + "\n";
}

std::string labelled(const std::string& label, std::string_view text, std::size_t column) {
  constexpr std::size_t kGap = 2;
  const std::size_t width = character_count(label);
  if (text.empty()) return label + "\n";
  if (width + kGap > column) {
    return label + "\n" + std::string(column, ' ') + wrapped(text, column, column);
  }
  return label + std::string(column - width, ' ') + wrapped(text, column, column);
}

}  // namespace headway
