#include "reports/document/csv_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"

namespace headway {
namespace {

using nlohmann::json;

struct Column {
  std::string name;
  json::json_pointer place;
};

Column column_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string path(equals == std::string_view::npos ? text : text.substr(equals + 1));
  const std::string name(equals == std::string_view::npos ? path.substr(path.rfind('/') + 1)
                                                          : text.substr(0, equals));
  return {name, json::json_pointer("/" + path)};
}

std::string plain_text(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return csv_number(value.get<double>());
  if (!value.is_array()) return compact_json(value);
  std::string list;
  for (const json& element : value) list += (list.empty() ? "" : " ") + plain_text(element);
  return list;
}

std::string cell_of(const json& value) {
  return value.is_number() ? plain_text(value) : csv_cell(plain_text(value));
}

}  // namespace

std::string csv_cell(std::string_view text) {
  std::string cell;
  constexpr std::string_view kStartsFormula = "=+-@\t\r";
  if (!text.empty() && kStartsFormula.find(text.front()) != std::string_view::npos) cell = "'";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell.find_first_of(",\"\r\n") == std::string::npos ? cell : "\"" + cell + "\"";
}

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string csv_cells(const std::vector<std::string>& texts) {
  std::string line;
  for (std::size_t i = 0; i < texts.size(); ++i) line += (i > 0 ? "," : "") + csv_cell(texts[i]);
  return line;
}

std::string csv_of(const json& records, std::initializer_list<std::string_view> columns) {
  std::vector<Column> places;
  std::vector<std::string> names;
  for (const std::string_view text : columns) {
    places.push_back(column_of(text));
    names.push_back(places.back().name);
  }
  std::string text = csv_cells(names) + "\n";
  for (const json& record : records) {
    std::string row;
    for (const Column& column : places) {
      if (&column != &places.front()) row += ",";
      if (record.contains(column.place)) row += cell_of(record.at(column.place));
    }
    text += row + "\n";
  }
  return text;
}

}  // namespace headway
