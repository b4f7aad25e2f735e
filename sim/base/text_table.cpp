#include "sim/base/text_table.h"

#include <fmt/format.h>

#include <algorithm>
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

TextTable TextTable::shown() const {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool says_something =
        std::ranges::any_of(rows_, [i](const auto& row) { return !row[i].empty(); });
    if (i == 0 || rows_.empty() || says_something) places.push_back(i);
  }
  if (places.size() == columns_.size()) return *this;
  const auto chosen = [&](const auto& all) {
    std::remove_cvref_t<decltype(all)> kept;
    for (const std::size_t place : places) kept.push_back(all[place]);
    return kept;
  };
  TextTable table(chosen(columns_));
  for (const auto& row : rows_) table.add_row(chosen(row));
  return table;
}

std::vector<std::size_t> TextTable::widths(std::size_t room) const {
  std::vector<std::size_t> widths;
  std::vector<std::size_t> least;  // that a column can be narrowed to
  std::size_t whole = kBetween * (columns_.size() - 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = character_count(columns_[i].title);
    std::size_t word_width = width;
    for (const auto& row : rows_) {
      width = std::max(width, character_count(row[i]));
      if (columns_[i].align != Align::left) continue;
      for (const std::string& word : wrapped(row[i], 1)) {
        word_width = std::max(word_width, character_count(word) + kHanging);
      }
    }
    widths.push_back(width);
    least.push_back(columns_[i].align == Align::left ? std::min(width, word_width) : width);
    whole += width;
  }
  while (whole > room) {
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == least[i]) continue;
      if (widest == columns_.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == columns_.size()) break;
    const std::size_t taken = std::min(whole - room, widths[widest] - least[widest]);
    widths[widest] -= taken;
    whole -= taken;
  }
  return widths;
}

std::string TextTable::text(int indent, std::size_t most) const {
  return shown().shown_text(static_cast<std::size_t>(indent), most);
}

std::string TextTable::shown_text(std::size_t margin, std::size_t most) const {
  const std::size_t room = most - std::min(most, margin);
  const std::vector<std::size_t> widths = this->widths(room);
  std::string text;
  std::vector<std::size_t> panel;  // of columns that stand side by side
  const auto append_line = [&](const std::vector<std::string>& cells) {
    std::string line(margin, ' ');
    for (const std::size_t i : panel) {
      const std::string padding(widths[i] - character_count(cells[i]), ' ');
      if (i != panel.front()) line += std::string(kBetween, ' ');
      line += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const auto append_panel = [&] {
    if (!text.empty()) text += "\n";
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    append_line(titles);
    for (const std::vector<std::string>& row : rows_) {
      std::vector<std::vector<std::string>> cells(row.size());
      std::size_t lines = 1;
      for (const std::size_t i : panel) {
        const bool is_wrapped = character_count(row[i]) > widths[i];
        cells[i] = is_wrapped ? wrapped(row[i], widths[i], 0, kHanging) : std::vector{row[i]};
        lines = std::max(lines, cells[i].size());
      }
      for (std::size_t line = 0; line < lines; ++line) {
        std::vector<std::string> shown(row.size());
        for (const std::size_t i : panel) {
          if (line >= cells[i].size()) continue;
          shown[i] = std::string(line == 0 ? 0 : kHanging, ' ') + cells[i][line];
        }
        append_line(shown);
      }
    }
  };
  std::size_t taken = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (panel.size() > 1 && taken + kBetween + widths[i] > room) {
      append_panel();
      panel = {0};  // says what a row is about
      taken = widths[0];
    }
    taken += (panel.empty() ? 0 : kBetween) + widths[i];
    panel.push_back(i);
  }
  append_panel();
  return text;
}

std::string TextTable::markdown() const {
  const TextTable table = shown();
  std::string text = "|";
  std::string rule = "|";
  for (const Column& column : table.columns_) {
    text += fmt::format(" {} |", escaped_for_markdown(column.title));
    rule += column.align == Align::right ? " ---: |" : " --- |";
  }
  text += fmt::format("\n{}\n", rule);
  for (const auto& row : table.rows_) {
    text += "|";
    for (const std::string& cell : row) text += fmt::format(" {} |", escaped_for_markdown(cell));
    text += "\n";
  }
  return text;
}

std::string TextTable::html() const {
  const TextTable table = shown();
  const auto cell = [&](const char* tag, std::size_t column, const std::string& content) {
    const bool is_number = table.columns_[column].align == Align::right;
    std::string shown = escaped_for_html(content);
    // The range of a number may stand below it, where the table has no room.
    const std::size_t range = is_number ? shown.find(" (") : std::string::npos;
    if (range != std::string::npos) shown.insert(range + 1, "<wbr>");
    return fmt::format("<{}{}>{}</{}>", tag, is_number ? " class=\"number\"" : "", shown, tag);
  };
  std::string text = "<table>\n<thead><tr>";
  for (std::size_t i = 0; i < table.columns_.size(); ++i) {
    text += cell("th", i, table.columns_[i].title);
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows_) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) text += cell("td", i, row[i]);
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table>\n";
}

}  // namespace headway
