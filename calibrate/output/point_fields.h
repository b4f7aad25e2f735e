#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "calibrate/suite/point.h"
#include "sim/files/field_table.h"

namespace headway {

/// A table whose rows are all required, but for flags and those that say something of some objects
/// only: the program itself writes what is read by it.
template <class Object>
[[nodiscard]] FieldTable<Object> required_fields(
    std::vector<std::pair<std::string_view, FieldMember<Object>>> rows) {
  std::vector<Field<Object>> fields;
  for (auto& [name, member] : rows) {
    member.is_required = !member.is_used;
    fields.push_back({name, std::move(member), {}});
  }
  return FieldTable<Object>(std::move(fields));
}

/// Null says nothing.
void append_member(nlohmann::ordered_json& json, std::string_view key, const JsonValue& value);
/// Adds the fields of an object, in the order of their table.
template <class Object>
void append_members(nlohmann::ordered_json& json, const FieldTable<Object>& fields,
                    const Object& object) {
  for (const auto& [name, member, notes] : fields.fields()) {
    if (!member.is_used || member.is_used(object)) append_member(json, name, member.write(object));
  }
}

[[nodiscard]] const FieldTable<GemmPoint>& gemm_fields();

// A point among the fields of an object, its kind in the field "point".
void append_point(nlohmann::ordered_json& json, const Point& point);
/// Nothing for an unknown kind, which is reported: nobody knows what fields that has.
[[nodiscard]] std::optional<Point> read_point(ObjectReader& reader);

}  // namespace headway
