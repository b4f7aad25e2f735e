#include "sim/base/source_text.h"

#include <algorithm>
#include <utility>

#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr std::size_t kLongestExcerptedLine = std::size_t{8} * 1024;
constexpr std::size_t kBlock = 1024;

/// Bytes that begin a character, so that counts of parts add up wherever a text is cut.
std::size_t characters_begun(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

SourceText::SourceText(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  if (text_.starts_with(kByteOrderMark)) text_.erase(0, kByteOrderMark.size());
  blocks_.reserve(text_.size() / kBlock + 1);
  Block at;
  for (std::size_t i = 0; i <= text_.size(); i += kBlock) {
    blocks_.push_back(at);
    const std::string_view block = std::string_view(text_).substr(i, kBlock);
    at.characters += characters_begun(block);
    at.lines += static_cast<std::size_t>(std::ranges::count(block, '\n'));
    const std::size_t last = block.rfind('\n');
    if (last != std::string_view::npos) at.line_start = i + last + 1;
  }
}

std::size_t SourceText::characters_up_to(std::size_t byte) const {
  const std::size_t block = byte / kBlock;
  return blocks_[block].characters +
         characters_begun(std::string_view(text_).substr(block * kBlock, byte - block * kBlock));
}

SourceLocation SourceText::location(std::size_t begin, std::size_t end) const {
  begin = std::min(begin, text_.size());
  const Block& block = blocks_[begin / kBlock];
  const std::size_t first_of_block = begin / kBlock * kBlock;
  const std::string_view before =
      std::string_view(text_).substr(first_of_block, begin - first_of_block);
  const std::size_t last_end = before.rfind('\n');
  const std::size_t start =
      last_end == std::string_view::npos ? block.line_start : first_of_block + last_end + 1;
  // No farther than anybody looks: a line may be the whole text.
  const std::size_t farthest =
      std::min(text_.size(), std::max(end, start + kLongestExcerptedLine + 2));
  const std::string_view near = std::string_view(text_).substr(0, farthest);
  std::size_t line_end = std::min(near.find('\n', begin), farthest);
  if (line_end > start && text_[line_end - 1] == '\r') --line_end;

  const std::string_view line = std::string_view(text_).substr(start, line_end - start);
  const std::size_t first = std::min(begin - start, line.size());
  const std::size_t last = std::clamp(end > start ? end - start : 0, first, line.size());
  const std::size_t length = character_count(line.substr(first, last - first));
  return {.file = name_,
          .line = static_cast<int>(block.lines) +
                  static_cast<int>(std::ranges::count(before, '\n')) + 1,
          .column = static_cast<int>(characters_up_to(start + first) - characters_up_to(start)) + 1,
          .length = static_cast<int>(std::max<std::size_t>(length, 1)),
          .line_text = line.size() > kLongestExcerptedLine ? std::string() : std::string(line)};
}

SourceLocation SourceText::whole() const { return {.file = name_}; }

}  // namespace headway
