#include "reports/answers/answer.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "reports/document/html_document.h"
#include "reports/document/markdown_document.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

struct Format {
  std::string_view suffix;
  void (*write)(const Answer&, std::ostream&);
};

/// One line a format.
constexpr std::array<Format, 4> kFormats{{
    {".json", [](const Answer& answer, std::ostream& out) { answer.json.write_to(out); }},
    {".md", [](const Answer& answer, std::ostream& out) { out << markdown_of(answer.document()); }},
    {".html", [](const Answer& answer, std::ostream& out) { out << html_of(answer.document()); }},
    {".csv", [](const Answer& answer, std::ostream& out) { answer.csv.write_to(out); }},
}};

}  // namespace

std::string AnswerText::operator()() const {
  std::ostringstream text;
  write_(text);
  return std::move(text).str();
}

std::vector<std::string> answer_suffixes() {
  std::vector<std::string> suffixes;
  for (const Format& format : kFormats) suffixes.emplace_back(format.suffix);
  return suffixes;
}

void write_answer_as(std::string_view suffix, const Answer& answer, std::ostream& out) {
  const auto* const format = std::ranges::find(kFormats, suffix, &Format::suffix);
  HEADWAY_CHECK(format != kFormats.end(), "suffixes are checked before");
  format->write(answer, out);
}

std::string answer_as(std::string_view suffix, const Answer& answer) {
  std::ostringstream text;
  write_answer_as(suffix, answer, text);
  return std::move(text).str();
}

}  // namespace headway
