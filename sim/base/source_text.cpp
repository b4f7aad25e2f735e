#include "sim/base/source_text.h"

#include <algorithm>
#include <utility>

#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr std::size_t kLongestExcerptedLine = std::size_t{8} * 1024;
constexpr std::size_t kBlock = 1024;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Bytes that begin a character, so that counts of parts add up wherever a text is cut.
std::size_t characters_begun(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

SourceText::SourceText(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), line_starts_{0} {
  if (text_.starts_with(kByteOrderMark)) text_.erase(0, kByteOrderMark.size());
  for (std::size_t i = text_.find('\n'); i != std::string::npos; i = text_.find('\n', i + 1)) {
    line_starts_.push_back(i + 1);
  }
  std::size_t characters = 0;
  for (std::size_t i = 0; i <= text_.size(); i += kBlock) {
    characters_before_.push_back(characters);
    characters += characters_begun(std::string_view(text_).substr(i, kBlock));
  }
}

std::size_t SourceText::characters_up_to(std::size_t byte) const {
  const std::size_t block = byte / kBlock;
  return characters_before_[block] +
         characters_begun(std::string_view(text_).substr(block * kBlock, byte - block * kBlock));
}

SourceLocation SourceText::location(std::size_t begin, std::size_t end) const {
  begin = std::min(begin, text_.size());
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), begin);
  const std::size_t start = *std::prev(after);
  std::size_t line_end = after == line_starts_.end() ? text_.size() : *after - 1;
  if (line_end > start && text_[line_end - 1] == '\r') --line_end;

  const std::string_view line = std::string_view(text_).substr(start, line_end - start);
  const std::size_t first = std::min(begin - start, line.size());
  const std::size_t last = std::clamp(end > start ? end - start : 0, first, line.size());
  const std::size_t length = character_count(line.substr(first, last - first));
  return {.file = name_,
          .line = static_cast<int>(after - line_starts_.begin()),
          .column = static_cast<int>(characters_up_to(start + first) - characters_up_to(start)) + 1,
          .length = static_cast<int>(std::max<std::size_t>(length, 1)),
          .line_text = line.size() > kLongestExcerptedLine ? std::string() : std::string(line)};
}

SourceLocation SourceText::whole() const { return {.file = name_}; }

}  // namespace headway
