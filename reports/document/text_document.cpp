#include "reports/document/text_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "sim/base/utf8.h"
#include "sim/base/wrap_text.h"

namespace headway {
namespace {

constexpr std::size_t kColumns = 100;

/// Every line starts with `lead` or, from the second on, as many blanks.
std::string broken_lines(std::string_view text, std::string_view lead, std::size_t columns) {
  std::string lines;
  std::istringstream given{std::string(text)};
  for (std::string one; std::getline(given, one);) {
    for (const std::string& line : wrapped(printable(one), columns, lead.size(), lead.size())) {
      lines += (lines.empty() ? std::string(lead) : std::string(lead.size(), ' ')) + line + "\n";
    }
  }
  return lines;
}

struct TextBlock {
  std::size_t columns = kColumns;  ///< of sentences
  std::size_t table_columns = kColumns;
  int indent = 2;
  bool is_brief = false;

  std::string operator()(const Paragraph& paragraph) const {
    return broken_lines(paragraph.text, "", columns);
  }
  std::string operator()(const Notice& notice) const {
    return broken_lines(notice.text, "warning: ", columns);
  }
  std::string operator()(const BulletList& list) const {
    std::string text;
    for (const std::string& item : list.items) text += broken_lines(item, "  - ", columns);
    return text;
  }
  std::string operator()(const FactList& list) const {
    std::string text;
    for (const auto& [name, value] : list.facts) {
      text +=
          broken_lines(value, fmt::format("  {:<{}}", printable(name), list.name_width), columns);
    }
    return text;
  }
  std::string operator()(const KeyNumbers& numbers) const {
    if (is_brief) return "";
    TextTable table({{"number"}, {"median"}, {"5th to 95th percentile"}});
    for (const KeyNumber& number : numbers.numbers) {
      table.add_row({number.name, number.median, number.interval});
    }
    return (*this)(table);
  }
  std::string operator()(const Code& code) const {
    if (!code.summary.empty()) return "";
    std::string text;
    std::istringstream lines(code.text);
    for (std::string line; std::getline(lines, line);) text += "  " + printable(line) + "\n";
    return text;
  }
  std::string operator()(const TextTable& table) const {
    return table.with_cells(printable).text(indent, table_columns);
  }
  std::string operator()(const Figure& figure) const { return (*this)(figure.table); }
  std::string operator()(const HeatMap& map) const {
    std::vector<TextTable::Column> titles = {{map.row_title + " by " + map.column_title}};
    for (const std::string& column : map.columns) {
      titles.push_back({column, TextTable::Align::right});
    }
    TextTable table(std::move(titles));
    for (const auto& [name, cells] : map.rows) {
      std::vector<std::string> row = {name};
      for (const HeatMap::Cell& cell : cells) row.push_back(cell.text);
      table.add_row(std::move(row));
    }
    return (*this)(table);
  }
};

std::string text_with(const TextBlock& writer, const Document& document) {
  std::string text = broken_lines(document.title, "", writer.columns);
  if (!document.lead.empty()) text += broken_lines(document.lead, "", writer.columns);
  for (const DocumentSection& section : document.sections) {
    if (section.shown == Shown::on_pages) continue;
    if (!writer.is_brief) text += "\n" + printable(section.heading) + "\n";
    for (const DocumentBlock& block : section.blocks) {
      const std::string content = std::visit(writer, block);
      if (!content.empty()) text += "\n" + content;
    }
  }
  return text;
}

}  // namespace

std::string text_of(const Document& document, std::size_t columns) {
  const std::size_t most = std::min(columns, kColumns);
  return text_with({.columns = most, .table_columns = most}, document);
}

std::string brief_text_of(const Document& document, std::size_t columns, int indent) {
  return text_with(
      {.columns = kUnbroken, .table_columns = columns, .indent = indent, .is_brief = true},
      document);
}

}  // namespace headway
