#include "reports/document/markdown_document.h"

#include <fmt/format.h>

#include <sstream>

#include "reports/document/markdown_text.h"

namespace headway {
namespace {

std::string markdown_table(const TextTable& table) {
  return table.with_cells(markdown_cell).markdown();
}

/// Text with its line ends.
std::string lines_text(const std::string& text) {
  std::string lines;
  std::istringstream given(text);
  for (std::string line; std::getline(given, line);) {
    lines += (lines.empty() ? "" : "\\\n") + markdown_sentence(line);
  }
  return lines;
}

/// Each block with the newline that ends it.
struct MarkdownBlock {
  std::string operator()(const Paragraph& paragraph) const {
    return lines_text(paragraph.text) + "\n";
  }

  std::string operator()(const Notice& notice) const {
    return "> " + markdown_sentence(notice.text) + "\n";
  }

  std::string operator()(const BulletList& list) const {
    std::string text;
    for (const std::string& item : list.items)
      text += fmt::format("- {}\n", markdown_sentence(item));
    return text;
  }

  std::string operator()(const FactList& list) const {
    std::string text;
    for (const auto& [name, value] : list.facts) {
      text += fmt::format("- {}: {}\n", markdown_text(name), markdown_sentence_cell(value));
    }
    return text;
  }

  std::string operator()(const KeyNumbers& numbers) const {
    TextTable table({{"number"},
                     {"median", TextTable::Align::right},
                     {"5th to 95th percentile", TextTable::Align::right}});
    for (const KeyNumber& number : numbers.numbers) {
      table.add_row({number.name, number.median, number.interval});
    }
    return markdown_table(table);
  }

  std::string operator()(const Code& code) const {
    std::string block = markdown_code(code.text, code.language);
    if (code.summary.empty()) return block;
    return fmt::format("<details>\n<summary>{}</summary>\n\n{}\n</details>\n",
                       markdown_cell(code.summary), block);
  }

  std::string operator()(const TextTable& table) const { return markdown_table(table); }

  std::string operator()(const Figure& figure) const { return markdown_table(figure.table); }

  std::string operator()(const HeatMap& map) const {
    std::vector<TextTable::Column> columns = {{map.row_title + " by " + map.column_title}};
    for (const std::string& column : map.columns) {
      columns.push_back({column, TextTable::Align::right});
    }
    TextTable table(std::move(columns));
    BulletList reasons;
    for (const auto& [name, cells] : map.rows) {
      std::vector<std::string> row = {name};
      for (std::size_t i = 0; i < cells.size(); ++i) {
        row.push_back(cells[i].text);
        if (!cells[i].shade && !cells[i].reason.empty()) {
          reasons.items.push_back(fmt::format("{} {}, {} {}: {}", map.row_title, name,
                                              map.column_title, map.columns[i], cells[i].reason));
        }
      }
      table.add_row(std::move(row));
    }
    std::string text = markdown_table(table);
    if (!reasons.items.empty()) text += "\n" + (*this)(reasons);
    return text;
  }
};

}  // namespace

std::string markdown_of(const Document& document) {
  std::string text = fmt::format("# {}\n", markdown_cell(document.title));
  if (!document.lead.empty()) text += fmt::format("\n{}\n", lines_text(document.lead));
  for (const DocumentSection& section : document.sections) {
    if (section.shown == Shown::on_terminals) continue;
    text += fmt::format("\n## {}\n", markdown_cell(section.heading));
    for (const DocumentBlock& block : section.blocks) {
      text += "\n" + std::visit(MarkdownBlock{}, block);
    }
  }
  return text;
}

}  // namespace headway
