#include "reports/answers/answer.h"

#include <algorithm>
#include <array>

#include "reports/document/html_document.h"
#include "reports/document/markdown_document.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

struct Format {
  std::string_view suffix;
  std::string (*text)(const Answer&);
};

/// One line a format.
constexpr std::array<Format, 4> kFormats{{
    {".json", [](const Answer& answer) { return answer.json(); }},
    {".md", [](const Answer& answer) { return markdown_of(answer.document()); }},
    {".html", [](const Answer& answer) { return html_of(answer.document()); }},
    {".csv", [](const Answer& answer) { return answer.csv(); }},
}};

}  // namespace

std::vector<std::string> answer_suffixes() {
  std::vector<std::string> suffixes;
  for (const Format& format : kFormats) suffixes.emplace_back(format.suffix);
  return suffixes;
}

std::string answer_as(std::string_view suffix, const Answer& answer) {
  const auto* const format = std::ranges::find(kFormats, suffix, &Format::suffix);
  HEADWAY_CHECK(format != kFormats.end(), "suffixes are checked before");
  return format->text(answer);
}

}  // namespace headway
