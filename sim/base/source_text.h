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
  [[nodiscard]] std::size_t characters_up_to(std::size_t byte) const;

  std::string name_;
  std::string text_;
  std::vector<std::size_t> line_starts_;
  /// Of the text up to every kilobyte: the columns of a line of megabytes are not counted anew for
  /// each of its problems.
  std::vector<std::size_t> characters_before_;
};

}  // namespace headway
