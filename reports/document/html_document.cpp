#include "reports/document/html_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/document/assets.h"
#include "reports/document/html_page.h"
#include "reports/document/sentence_parts.h"

namespace headway {
namespace {

/// A table below a figure with more rows than this is folded away.
constexpr std::size_t kRowsShown = 14;
constexpr std::size_t kRowsShownAlone = 40;  ///< where there is no figure

std::string html_table(const TextTable& table) {
  return "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n" +
         table.html() + "</div>\n";
}

std::string folded(const std::string& summary, const std::string& content) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", escaped_html(summary),
                     content);
}

/// Percent of a text as it may stand in a URL (RFC 3986, section 2.1).
std::string url_escaped(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  std::string escaped;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

std::string sentence(std::string_view text) {
  std::string html;
  for (const SentencePart& part : sentence_parts(text)) {
    html += part.is_code ? "<code>" + escaped_html(part.text) + "</code>" : escaped_html(part.text);
  }
  return html;
}

/// Sentences with their line ends.
std::string lines_text(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return sentence(text);
  return sentence(text.substr(0, end)) + "<br>\n" + lines_text(text.substr(end + 1));
}

class HtmlBlocks {
 public:
  std::string operator()(const Paragraph& paragraph) const {
    return fmt::format("<p>{}</p>\n", lines_text(paragraph.text));
  }

  std::string operator()(const Notice& notice) const {
    return fmt::format("<p class=\"notice\">{}</p>\n", sentence(notice.text));
  }

  std::string operator()(const BulletList& list) const {
    std::string text = "<ul>\n";
    for (const std::string& item : list.items) {
      text += fmt::format("<li>{}</li>\n", sentence(item));
    }
    return text + "</ul>\n";
  }

  std::string operator()(const FactList& list) const {
    std::string text = "<table class=\"facts\"><tbody>\n";
    for (const auto& [name, value] : list.facts) {
      text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped_html(name),
                          sentence(value));
    }
    return text + "</tbody></table>\n";
  }

  std::string operator()(const KeyNumbers& numbers) const {
    std::string text = "<dl class=\"numbers\">\n";
    for (const KeyNumber& number : numbers.numbers) {
      text += fmt::format("<div><dt>{}</dt><dd><strong>{}</strong>", escaped_html(number.name),
                          escaped_html(number.median));
      if (!number.interval.empty()) {
        text += fmt::format("<span>{}</span>", escaped_html(number.interval));
      }
      text += "</dd></div>\n";
    }
    return text + "</dl>\n";
  }

  std::string operator()(const Code& code) const {
    std::string text;
    if (!code.file_name.empty()) {
      text += fmt::format("<p><a download=\"{}\" href=\"data:text/plain,{}\">Save as {}</a></p>\n",
                          escaped_html(code.file_name), url_escaped(code.text),
                          escaped_html(code.file_name));
    }
    text += "<pre tabindex=\"0\"><code>";
    std::size_t begin = 0;  // escaped_html shows line ends as replacement characters
    while (begin <= code.text.size()) {
      const std::size_t end = std::min(code.text.find('\n', begin), code.text.size());
      text += escaped_html(std::string_view(code.text).substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    text += "</code></pre>\n";
    return code.summary.empty() ? text : folded(code.summary, text);
  }

  std::string operator()(const TextTable& table) const {
    if (table.row_count() <= kRowsShownAlone) return html_table(table);
    return folded(fmt::format("The {} rows of this table", table.row_count()), html_table(table));
  }

  std::string operator()(const Figure& figure) {
    std::string picture;
    if (const Chart* const chart = std::get_if<Chart>(&figure.picture)) {
      picture = canvas(*chart, figure.title);
    } else {
      picture = std::get<Drawing>(figure.picture).html;
    }
    std::string text;
    if (!picture.empty()) {
      text = fmt::format("<figure>\n{}", picture);
      if (!figure.caption.empty()) {
        text += fmt::format("<figcaption>{}</figcaption>\n", sentence(figure.caption));
      }
      text += "</figure>\n";
    }
    const std::string table = html_table(figure.table);
    if (figure.table.row_count() <= kRowsShown || picture.empty()) return text + table;
    return text +
           folded(fmt::format("The {} rows of this figure", figure.table.row_count()), table);
  }

  std::string operator()(const HeatMap& map) const {
    std::string text = fmt::format(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n"
        "<table class=\"heat\">\n<thead><tr><th>{} by {}</th>",
        escaped_html(map.row_title), escaped_html(map.column_title));
    for (const std::string& column : map.columns) {
      text += fmt::format("<th scope=\"col\">{}</th>", escaped_html(column));
    }
    text += "</tr></thead>\n<tbody>\n";
    for (const auto& [name, cells] : map.rows) {
      text += fmt::format("<tr><th scope=\"row\">{}</th>", escaped_html(name));
      for (const HeatMap::Cell& cell : cells) text += heat_cell(cell);
      text += "</tr>\n";
    }
    return text + "</tbody>\n</table>\n</div>\n";
  }

  [[nodiscard]] bool has_charts() const { return charts_ > 0; }

 private:
  /// The chart's data stands beside its canvas; without Chart.js there is none of both.
  std::string canvas(const Chart& chart, const std::string& title) {
    if (chart_library().empty()) return "";
    ++charts_;
    constexpr std::size_t kBarHeight = 34;
    constexpr std::size_t kBarHeightOnPaper = 20;
    constexpr std::size_t kAxesHeight = 90;
    constexpr std::size_t kLegendHeight = 44;  ///< two lines of it on a phone
    const bool has_legend = chart.kind == Chart::Kind::stacked_bars;
    const bool is_lines = chart.kind == Chart::Kind::lines;
    const auto height = [&](std::size_t bar) {
      return kAxesHeight + (has_legend ? kLegendHeight : 0) + bar * chart.labels.size();
    };
    return fmt::format(
        "<div class=\"chart\" style=\"height:{0}px;--on-paper:{4}px\"><canvas id=\"chart-{1}\" "
        "tabindex=\"0\" "
        "role=\"img\" aria-label=\"{2}\"></canvas></div>\n"
        "<script type=\"application/json\" data-chart=\"chart-{1}\">{3}</script>\n",
        is_lines ? 380 : height(kBarHeight), charts_, escaped_html(title), chart_json(chart),
        is_lines ? 280 : height(kBarHeightOnPaper));
  }

  static std::string heat_cell(const HeatMap::Cell& cell) {
    const std::string reason =
        cell.reason.empty() ? "" : fmt::format("<small>{}</small>", escaped_html(cell.reason));
    if (!cell.shade) {
      return fmt::format("<td class=\"impossible\">{}{}</td>", escaped_html(cell.text), reason);
    }
    return fmt::format("<td style=\"--shade:{:.0f}%\">{}{}</td>",
                       100.0 * std::clamp(*cell.shade, 0.0, 1.0), escaped_html(cell.text), reason);
  }

  int charts_ = 0;
};

}  // namespace

std::string html_of(const Document& document) {
  std::string body = fmt::format("<main>\n<h1>{}</h1>\n", escaped_html(document.title));
  if (!document.lead.empty()) {
    body += fmt::format("<p class=\"lead\">{}</p>\n", lines_text(document.lead));
  }
  HtmlBlocks blocks;
  for (const DocumentSection& section : document.sections) {
    if (section.shown == Shown::on_terminals) continue;
    body += fmt::format("<section>\n<h2>{}</h2>\n", escaped_html(section.heading));
    for (const DocumentBlock& block : section.blocks) body += std::visit(blocks, block);
    body += "</section>\n";
  }
  body += "</main>\n";
  if (blocks.has_charts()) {
    body +=
        fmt::format("<script>{}</script>\n<script>{}</script>\n", chart_library(), chart_script());
  }
  return html_page(document.title, body);
}

}  // namespace headway
