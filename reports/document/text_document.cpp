#include "reports/document/text_document.h"

#include <algorithm>
#include <sstream>

#include "sim/base/utf8.h"
#include "sim/base/wrap_text.h"

namespace headway {
namespace {

constexpr std::size_t kColumns = 100;

/// Broken at blanks; every line starts with `lead` or, from the second on, as many blanks.
std::string wrapped_lines(std::string_view text, std::string_view lead) {
  std::string lines;
  for (const std::string& line : wrapped(printable(text), kColumns, lead.size(), lead.size())) {
    lines += (lines.empty() ? std::string(lead) : std::string(lead.size(), ' ')) + line + "\n";
  }
  return lines;
}

std::string table_text(const TextTable& table) {
  return table.with_cells(printable).text(2, kColumns);
}

struct TextBlock {
  std::string operator()(const Paragraph& paragraph) const {
    return wrapped_lines(paragraph.text, "");
  }
  std::string operator()(const Notice& notice) const {
    return wrapped_lines(notice.text, "warning: ");
  }
  std::string operator()(const BulletList& list) const {
    std::string text;
    for (const std::string& item : list.items) text += wrapped_lines(item, "  - ");
    return text;
  }
  std::string operator()(const KeyNumbers& numbers) const {
    TextTable table({{"number"}, {"median"}, {"5th to 95th percentile"}});
    for (const KeyNumber& number : numbers.numbers) {
      table.add_row({number.name, number.median, number.interval});
    }
    return table_text(table);
  }
  std::string operator()(const Code& code) const {
    if (!code.summary.empty()) return "";
    std::string text;
    std::istringstream lines(code.text);
    for (std::string line; std::getline(lines, line);) text += "  " + printable(line) + "\n";
    return text;
  }
  std::string operator()(const TextTable& table) const { return table_text(table); }
  std::string operator()(const Figure& figure) const { return table_text(figure.table); }
  std::string operator()(const HeatMap& map) const {
    std::vector<TextTable::Column> columns = {{map.row_title + " by " + map.column_title}};
    for (const std::string& column : map.columns) {
      columns.push_back({column, TextTable::Align::right});
    }
    TextTable table(std::move(columns));
    for (const auto& [name, cells] : map.rows) {
      std::vector<std::string> row = {name};
      for (const HeatMap::Cell& cell : cells) row.push_back(cell.text);
      table.add_row(std::move(row));
    }
    return table_text(table);
  }
};

}  // namespace

std::string text_of(const Document& document) {
  std::string text = wrapped_lines(document.title, "");
  if (!document.lead.empty()) text += wrapped_lines(document.lead, "");
  for (const DocumentSection& section : document.sections) {
    text += "\n" + printable(section.heading) + "\n";
    for (const DocumentBlock& block : section.blocks) {
      const std::string content = std::visit(TextBlock{}, block);
      if (!content.empty()) text += "\n" + content;
    }
  }
  return text;
}

}  // namespace headway
