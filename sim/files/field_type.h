#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/json_reader.h"
#include "sim/files/json_value.h"

namespace headway {

/// What values a field takes: for people, and as a JSON Schema (2020-12) for editors.
struct FieldType {
  std::string text;  ///< "whole number, 1 to 1,000,000"
  JsonValue schema;
};

[[nodiscard]] FieldType text_type();
[[nodiscard]] FieldType flag_type();
[[nodiscard]] FieldType whole_type(const Range& range);
[[nodiscard]] FieldType number_type(const Range& range);
/// A text with a unit; Q is one of the quantities of sim/base/units.h.
template <class Q>
[[nodiscard]] FieldType quantity_type(const Range& range);
[[nodiscard]] FieldType word_type(std::span<const std::string_view> words);
/// One that is the same every time, such as "headway/topology/1".
[[nodiscard]] FieldType constant_type(std::string_view value);
/// An object, its fields told apart.
[[nodiscard]] FieldType object_type();
[[nodiscard]] FieldType file_type();  ///< an object, or the name of a file that has it
[[nodiscard]] FieldType either(const FieldType& one, const FieldType& other);
[[nodiscard]] FieldType array_type(const FieldType& element, std::string_view of);

/// What a field means, as rows have it: prose, its line breaks without meaning but before "limits:
/// ", "see: " and "default: ", which begin a line and a part of their own.
struct FieldNotes {
  std::string about;     ///< the first sentence stands in lists
  std::string limits;    ///< what the field has to fit
  std::string see;       ///< related names, sources
  std::string fallback;  ///< the default in words, where it is no constant
};
[[nodiscard]] FieldNotes field_notes(std::string_view text);

/// Adds another thing that the field has to fit.
void add_limit(FieldNotes& notes, std::string_view limit);

/// A row of a table of fields, for whoever tells of it.
struct FieldDescription {
  std::string name;
  FieldType type;
  FieldNotes notes;  ///< `fallback` is never empty: "required", or what the field is by default
  JsonValue value;   ///< the default; null where it is no constant
  bool required = false;
};
[[nodiscard]] FieldDescription described_field(std::string_view name, const FieldType& type,
                                               std::string_view notes, bool required,
                                               const JsonValue& fallback);

/// Those of an object at `place`: "cost", say.
void append_fields(std::vector<FieldDescription>& all, std::string_view place,
                   std::vector<FieldDescription> fields);

/// The schema of an object with these fields and no others.
[[nodiscard]] JsonValue object_schema(std::span<const FieldDescription> fields);

// Values of members as JSON.
[[nodiscard]] JsonValue json_of(bool value);
[[nodiscard]] JsonValue json_of(std::int64_t value);
[[nodiscard]] JsonValue json_of(double value);
[[nodiscard]] JsonValue json_of(std::string_view value);
[[nodiscard]] JsonValue json_of(const std::vector<std::int64_t>& values);
[[nodiscard]] JsonValue json_of(const std::vector<std::string_view>& values);

[[nodiscard]] JsonValue empty_object();

/// Reports what nobody asked for in a part of the reader's object, and resolves it.
void finish_part(ObjectReader& reader, std::string_view key, ObjectReader& part);

/// Reports a field that says nothing here: "shape needs distribution \"weibull\"", or `why`.
void refuse_field(ObjectReader& reader, std::string_view key, std::string_view need,
                  std::string_view why);

/// Sets what the reader's object resolves to; null says nothing.
void resolve_field(ObjectReader& reader, std::string_view key, const JsonValue& value);

/// Sets a member of an object; null takes it away.
void set_member(nlohmann::json& object, std::string_view key, const JsonValue& value);

}  // namespace headway
