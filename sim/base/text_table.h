#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// A table in plain text: columns as wide as their widest cell, two spaces between them, numbers
/// aligned right. Widths count characters, not bytes (UTF-8). A column in which no row says anything
/// is not shown.
class TextTable {
 public:
  enum class Align { left, right };

  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit TextTable(std::vector<Column> columns);

  /// Missing cells are empty; more cells than columns is a bug.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }

  /// The same table with every title and cell passed through `change`.
  [[nodiscard]] TextTable with_cells(
      const std::function<std::string(std::string_view)>& change) const;

  /// Each line indented by `indent` spaces, no trailing blanks, a newline after each. Where lines
  /// would be longer than `most`, cells of columns of texts are wrapped, the widest first, as far
  /// as their longest words and titles allow; columns that still have no room stand below, behind
  /// the first one again.
  [[nodiscard]] std::string text(int indent = 0,
                                 std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  /// The same as a Markdown table; `|` in cells is escaped.
  [[nodiscard]] std::string markdown() const;
  /// The same as an HTML table; numbers have the class "number".
  [[nodiscard]] std::string html() const;

 private:
  /// Without columns in which no row says anything.
  [[nodiscard]] TextTable shown() const;
  [[nodiscard]] std::string shown_text(std::size_t margin, std::size_t most) const;
  /// Widths of the columns, so that a line has room as far as wrapping gives it.
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t room) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// How numbers stand in their column.
inline constexpr TextTable::Align kRight = TextTable::Align::right;

}  // namespace headway
