#include "reports/report_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reports/answers/prediction_document.h"
#include "reports/csv_report.h"
#include "reports/document/html_document.h"
#include "reports/document/markdown_document.h"
#include "sim/base/diagnostic.h"
#include "sim/result/json/result_json.h"

namespace headway {
namespace {

struct Writer {
  std::string_view suffix;
  ReportFormat format;
  std::string (*document)(const Prediction&);
  std::string (*study)(const Study&);
};

std::string study_markdown(const Study& study) { return markdown_of(study_document(study)); }
std::string study_html(const Study& study) { return html_of(study_document(study)); }

/// One line a format.
constexpr std::array<Writer, 4> kWriters{{
    {".json", ReportFormat::json, result_json_text, study_json_text},
    {".md", ReportFormat::markdown, markdown_report, study_markdown},
    {".html", ReportFormat::html, html_report, study_html},
    {".csv", ReportFormat::csv, csv_report, study_csv},
}};

}  // namespace

std::optional<ReportFormat> format_of(const std::filesystem::path& path) {
  std::string suffix = path.extension().string();
  std::ranges::transform(suffix, suffix.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto writer = std::ranges::find(kWriters, suffix, &Writer::suffix);
  if (writer == kWriters.end()) return std::nullopt;
  return writer->format;
}

std::vector<std::string> report_suffixes() {
  std::vector<std::string> suffixes;
  for (const Writer& writer : kWriters) suffixes.emplace_back(writer.suffix);
  return suffixes;
}

namespace {

const Writer& writer_of(ReportFormat format) {
  const auto writer = std::ranges::find(kWriters, format, &Writer::format);
  HEADWAY_CHECK(writer != kWriters.end(), "a report format without a writer");
  return *writer;
}

}  // namespace

std::string report_in(ReportFormat format, const Prediction& prediction) {
  return writer_of(format).document(prediction);
}

std::string report_in(ReportFormat format, const Study& study) {
  return writer_of(format).study(study);
}

}  // namespace headway
