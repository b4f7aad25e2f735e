#include "sim/base/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/utf8.h"
#include "sim/base/wrap_text.h"

namespace headway {
namespace {

constexpr std::size_t kBetween = 2;  ///< blanks between columns
constexpr std::size_t kHanging = 2;  ///< blanks before further lines of a cell

std::string escaped_for_markdown(const std::string& cell) {
  std::string escaped;
  for (const char c : cell) {
    if (c == '|') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string escaped_for_html(const std::string& cell) {
  std::string escaped;
  for (const char c : cell) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
  HEADWAY_CHECK(cells.size() <= columns_.size(), "a table row has more cells than columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

TextTable TextTable::with_cells(const std::function<std::string(std::string_view)>& change) const {
  TextTable changed = *this;
  for (Column& column : changed.columns_) column.title = change(column.title);
  for (auto& row : changed.rows_) {
    for (std::string& cell : row) cell = change(cell);
  }
  return changed;
}

std::string TextTable::text(int indent, std::size_t most) const {
  std::vector<std::size_t> widths;
  std::optional<std::size_t> widest;  // of texts
  std::size_t whole = static_cast<std::size_t>(indent) + kBetween * (columns_.size() - 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = character_count(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, character_count(row[i]));
    if (columns_[i].align == Align::left && (!widest || width > widths[*widest])) widest = i;
    widths.push_back(width);
    whole += width;
  }
  if (widest && whole > most) {
    std::size_t& width = widths[*widest];
    std::size_t least = character_count(columns_[*widest].title);
    for (const auto& row : rows_) {
      for (const std::string& word : wrapped(row[*widest], 1)) {
        least = std::max(least, character_count(word) + kHanging);
      }
    }
    width = std::min(width, std::max(least, width - std::min(width, whole - most)));
  }
  std::string text;
  const auto append_line = [&](const std::vector<std::string>& cells) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - character_count(cells[i]), ' ');
      if (i > 0) line += std::string(kBetween, ' ');
      line += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  append_line(titles);
  for (std::vector<std::string> row : rows_) {
    std::vector<std::string> lines;
    if (widest) lines = wrapped(row[*widest], widths[*widest], 0, kHanging);
    if (widest) row[*widest] = lines.front();
    append_line(row);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      std::vector<std::string> rest(row.size());
      rest[*widest] = std::string(kHanging, ' ') + lines[i];
      append_line(rest);
    }
  }
  return text;
}

std::string TextTable::markdown() const {
  std::string text = "|";
  std::string rule = "|";
  for (const Column& column : columns_) {
    text += fmt::format(" {} |", escaped_for_markdown(column.title));
    rule += column.align == Align::right ? " ---: |" : " --- |";
  }
  text += fmt::format("\n{}\n", rule);
  for (const auto& row : rows_) {
    text += "|";
    for (const std::string& cell : row) text += fmt::format(" {} |", escaped_for_markdown(cell));
    text += "\n";
  }
  return text;
}

std::string TextTable::html() const {
  const auto cell = [&](const char* tag, std::size_t column, const std::string& content) {
    const char* const name = columns_[column].align == Align::right ? " class=\"number\"" : "";
    return fmt::format("<{}{}>{}</{}>", tag, name, escaped_for_html(content), tag);
  };
  std::string text = "<table>\n<thead><tr>";
  for (std::size_t i = 0; i < columns_.size(); ++i) text += cell("th", i, columns_[i].title);
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows_) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) text += cell("td", i, row[i]);
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table>\n";
}

}  // namespace headway
