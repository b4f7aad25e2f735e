#include "reports/document/sentence_parts.h"

namespace headway {

std::vector<SentencePart> sentence_parts(std::string_view text) {
  std::vector<SentencePart> parts;
  const auto add = [&](std::string_view part, bool is_code) {
    if (!part.empty()) parts.push_back({part, is_code});
  };
  while (!text.empty()) {
    const std::size_t begin = text.find('`');
    const std::size_t end = begin == std::string_view::npos ? begin : text.find('`', begin + 1);
    if (end == std::string_view::npos || end == begin + 1) {
      add(text, false);
      break;
    }
    add(text.substr(0, begin), false);
    add(text.substr(begin + 1, end - begin - 1), true);
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace headway
