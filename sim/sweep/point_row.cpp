#include "sim/sweep/point_row.h"

#include <nlohmann/json.hpp>

#include "sim/base/byte_stream.h"
#include "sim/files/json_document.h"
#include "sim/files/json_text.h"
#include "sim/result/json/read_result.h"
#include "sim/result/json/result_json.h"
#include "sim/sweep/point_columns.h"

namespace headway {
namespace {

using nlohmann::json;

std::string text_of(const JsonValue& value) { return value->is_null() ? "" : value.text(); }

/// With a caller that puts and one that gets, the order stands once.
template <class Stream, class Row>
void pass(Stream& stream, Row& row) {
  stream(row.key);
  stream(row.axes);
  stream(row.status);
  stream(row.reason);
  stream(row.scenario);
  stream(row.result);
  stream(row.work);
}

}  // namespace

PointRow row_of(const SweepPoint& point) {
  PointRow row{.key = point.key,
               .axes = point.axes.text(),
               .status = point.status,
               .reason = point.reason,
               .scenario = text_of(point.scenario),
               .result = {},
               .numbers = std::vector<std::optional<double>>(point_columns().size())};
  if (point.prediction) {
    row.result = compact_result_text(*point.prediction);
    row.numbers = column_values(*point.prediction);
  }
  return row;
}

SweepPoint point_of(const PointRow& row, Diagnostics& diagnostics) {
  SweepPoint point{.key = row.key,
                   .axes = parsed_ordered_json(row.axes),
                   .status = row.status,
                   .reason = row.reason,
                   .numbers = row.numbers};
  if (!row.scenario.empty()) point.scenario = parsed_json(row.scenario);
  if (row.result.empty()) return point;
  const auto document = JsonDocument::parse("point " + row.key, row.result, diagnostics);
  if (document != nullptr) {
    point.prediction =
        std::make_shared<const Prediction>(read_result(JsonCursor(document), diagnostics));
  }
  return point;
}

std::string row_bytes(const PointRow& row) {
  ByteWriter bytes;
  const auto put = [&](const auto& value) { bytes.put(value); };
  pass(put, row);
  bytes.put(row.numbers.size());
  for (const std::optional<double>& number : row.numbers) {
    bytes.put(number.has_value());
    bytes.put(number.value_or(0.0));
  }
  return bytes.take();
}

PointRow row_of_bytes(const std::string& bytes) {
  ByteReader reader(bytes);
  PointRow row;
  const auto get = [&](auto& value) { reader.get(value); };
  pass(get, row);
  std::size_t count = 0;
  reader.get(count);
  for (std::size_t i = 0; i < count; ++i) {
    bool is_known = false;
    double number = 0.0;
    reader.get(is_known);
    reader.get(number);
    row.numbers.push_back(is_known ? std::optional(number) : std::nullopt);
  }
  return row;
}

}  // namespace headway
