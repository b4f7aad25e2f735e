#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// A text and its lines: turns byte positions into the places that messages name.
class SourceText {
 public:
  SourceText(std::string name, std::string text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view text() const { return text_; }

  /// The place of bytes [begin, end); what goes beyond the line of `begin` is not underlined. A
  /// line of more than 8 KiB (a machine's file) is named without an excerpt.
  [[nodiscard]] SourceLocation location(std::size_t begin, std::size_t end) const;
  /// The text as a whole.
  [[nodiscard]] SourceLocation whole() const;

 private:
  /// What is known of the text up to every kilobyte: the columns of a line of megabytes are not
  /// counted anew for each of its problems, and a text of nothing but lines takes no more than
  /// another one.
  struct Block {
    std::size_t characters = 0;
    std::size_t lines = 0;       ///< that have ended
    std::size_t line_start = 0;  ///< of the line that the block begins in
  };
  [[nodiscard]] std::size_t characters_up_to(std::size_t byte) const;

  std::string name_;
  std::string text_;
  std::vector<Block> blocks_;
};

}  // namespace headway
