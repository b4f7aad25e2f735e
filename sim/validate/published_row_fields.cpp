#include "sim/validate/published_row_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

std::optional<JsonCursor> object_member(const std::optional<JsonCursor>& of, const char* key) {
  if (!of || !of->is_object()) return std::nullopt;
  return of->member(key);
}

}  // namespace

std::optional<JsonCursor> PublishedTables::table(const char* name) const {
  auto found = object_member(root_, name);
  return found && found->is_object() ? found : std::nullopt;
}

std::size_t PublishedTables::columns() const {
  const auto names = object_member(root_, "columns");
  return names && names->is_array() ? names->value().size() : 0;
}

std::optional<std::size_t> PublishedTables::column(std::string_view name) const {
  if (columns() == 0) return std::nullopt;
  const nlohmann::json& names = object_member(root_, "columns")->value();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].is_string() && names[i].get_ref<const std::string&>() == name) return i;
  }
  return std::nullopt;
}

JsonCursor PublishedTables::entry(const char* name, const JsonCursor& part,
                                  Diagnostics& diagnostics) const {
  const auto entries = table(name);
  if (!entries || !part.value().is_string()) return part;
  const auto key = part.value().get<std::string>();
  if (auto found = entries->member(key)) return *found;
  std::vector<std::string_view> keys;
  for (const auto& [known, unused] : entries->value().items()) keys.push_back(known);
  const auto meant = closest(key, keys);
  diagnostics.add(part.problem(fmt::format("\"{}\" has no entry {}", name, in_quotes(key)), "",
                               meant ? fmt::format("did you mean \"{}\"?", *meant) : ""));
  return part;
}

nlohmann::json PublishedTables::train_unless_said() const {
  const auto found = table("train_unless_said");
  return found ? found->value() : nlohmann::json::object();
}

PublishedRowFields::PublishedRowFields(JsonCursor row, const PublishedTables& tables,
                                       Diagnostics& diagnostics)
    : row_(std::move(row)), tables_(tables), diagnostics_(diagnostics) {
  const nlohmann::json& value = row_.value();
  if (value.is_object()) return;
  if (!value.is_array()) {
    diagnostics_.add(
        row_.problem("a row is an object, or an array with its columns named", "", kHelpOfRows));
  } else if (value.size() != tables_.columns()) {
    diagnostics_.add(row_.problem(
        fmt::format("a row of {} values for {} columns", value.size(), tables_.columns()), "",
        "\"columns\" names what stands in a row, in its order"));
  }
}

std::optional<JsonCursor> PublishedRowFields::member(const char* key) const {
  std::optional<JsonCursor> found;
  if (row_.is_array()) {
    const auto column = tables_.column(key);
    if (column && *column < row_.value().size()) found = row_.element(*column);
  } else {
    found = object_member(row_, key);
  }
  return found && !found->value().is_null() ? found : std::nullopt;
}

std::string PublishedRowFields::text(const char* key) const {
  const auto found = member(key);
  return found ? found->text().value_or("") : "";
}

std::optional<JsonCursor> PublishedRowFields::object(const char* key, const char* table) const {
  if (const auto found = member(key)) {
    JsonCursor part = tables_.entry(table, *found, diagnostics_);
    if (part.is_object()) return part;
  }
  diagnostics_.add(
      row_.problem(fmt::format("a row needs \"{}\", an object", key), "", kHelpOfRows));
  return std::nullopt;
}

std::vector<std::string> PublishedRowFields::texts(const char* key, const char* table) const {
  std::vector<std::string> list;
  const auto found = member(key);
  if (!found || !found->is_array()) return list;
  for (std::size_t i = 0; i < found->value().size(); ++i) {
    const JsonCursor part = tables_.entry(table, found->element(i), diagnostics_);
    if (const auto text = part.text()) list.push_back(*text);
  }
  return list;
}

double PublishedRowFields::number(const std::optional<JsonCursor>& from, const char* key) const {
  const auto found = from ? object_member(from, key) : member(key);
  if (found && found->value().is_number() && found->value().get<double>() > 0.0) {
    return found->value().get<double>();
  }
  diagnostics_.add((found  ? *found
                    : from ? *from
                           : row_)
                       .problem(fmt::format("a row needs \"{}\", a positive number", key), "",
                                "write it without quotes or unit; times are in seconds"));
  return 1.0;
}

int PublishedRowFields::count(const char* key) const {
  constexpr double kMost = 1e8;
  const double value = number(std::nullopt, key);
  if (value <= kMost && value == std::trunc(value)) return static_cast<int>(value);
  diagnostics_.add(
      member(key)->problem(fmt::format("a row needs \"{}\", a whole number up to 100,000,000", key),
                           "", "write how many there were of them in all"));
  return 1;
}

}  // namespace headway
