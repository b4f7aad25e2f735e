#include "reports/document/chart.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/base/diagnostic.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

using nlohmann::json;

std::string_view kind_name(Chart::Kind kind) {
  switch (kind) {
    case Chart::Kind::lines:
      return "lines";
    case Chart::Kind::bars:
      return "bars";
    case Chart::Kind::stacked_bars:
      return "stacked_bars";
  }
  HEADWAY_CHECK(false, "unknown kind of chart");
}

std::string_view style_name(Chart::Style style) {
  switch (style) {
    case Chart::Style::line:
      return "line";
    case Chart::Style::dashed:
      return "dashed";
    case Chart::Style::points:
      return "points";
    case Chart::Style::band_low:
      return "band_low";
  }
  HEADWAY_CHECK(false, "unknown style of series");
}

/// Six digits: more than a screen shows, and pages stay small.
json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(fmt::format("{:.6g}", value));
}

json numbers(const std::vector<double>& values) {
  json array = json::array();
  for (const double value : values) array.push_back(rounded(value));
  return array;
}

}  // namespace

std::string chart_json(const Chart& chart) {
  const std::size_t count = chart.kind == Chart::Kind::lines ? chart.x.size() : chart.labels.size();
  json series = json::array();
  for (const Chart::Series& one : chart.series) {
    HEADWAY_CHECK(one.values.size() == count, "a series has a value for each place");
    series.push_back({{"name", one.name},
                      {"values", numbers(one.values)},
                      {"style", style_name(one.style)},
                      {"colour", one.colour}});
  }
  json document = {{"kind", kind_name(chart.kind)},
                   {"x_title", chart.x_title},
                   {"y_title", chart.y_title},
                   {"logarithmic_x", chart.logarithmic_x},
                   {"logarithmic_y", chart.logarithmic_y},
                   {"binary_x", chart.binary_x},
                   {"from_zero", chart.from_zero},
                   {"series", std::move(series)}};
  if (chart.kind == Chart::Kind::lines) {
    document["x"] = numbers(chart.x);
  } else {
    document["labels"] = chart.labels;
  }
  const std::string text = compact_json(document);
  std::string safe;
  for (const char c : text) safe += c == '<' ? "\\u003c" : std::string(1, c);
  return safe;
}

}  // namespace headway
