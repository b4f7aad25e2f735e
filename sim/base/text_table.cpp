#include "sim/base/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

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

std::string TextTable::text(int indent) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(character_count(column.title));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], character_count(row[i]));
    }
  }
  std::string text;
  const auto append_line = [&](const std::vector<std::string>& cells) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - character_count(cells[i]), ' ');
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append_line(titles);
  for (const auto& row : rows_) append_line(row);
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
