#include "sim/files/field_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

/// "1 to 8", "above 0", "at least 1", "above 0 up to 8"; empty for all numbers.
std::string range_text(const Range& range) {
  const auto shown = [](double bound) {
    return std::floor(bound) == bound && std::abs(bound) < 1e15
               ? grouped_digits(static_cast<long long>(bound))
               : fmt::format("{:g}", bound);
  };
  const bool has_most = std::isfinite(range.most);
  if (!std::isfinite(range.least)) return has_most ? "up to " + shown(range.most) : "";
  if (range.open) {
    return "above " + shown(range.least) + (has_most ? " up to " + shown(range.most) : "");
  }
  return has_most ? shown(range.least) + " to " + shown(range.most)
                  : "at least " + shown(range.least);
}

FieldType bounded_type(std::string_view what, const char* type, const Range& range) {
  nlohmann::json schema = {{"type", type}};
  // Whole where it is: 1 and not 1.0.
  const auto bound = [](double value) {
    return std::floor(value) == value && std::abs(value) < 1e15
               ? nlohmann::json(static_cast<std::int64_t>(value))
               : nlohmann::json(value);
  };
  if (std::isfinite(range.least)) {
    schema[range.open ? "exclusiveMinimum" : "minimum"] = bound(range.least);
  }
  if (std::isfinite(range.most)) schema["maximum"] = bound(range.most);
  const std::string limits = range_text(range);
  return {limits.empty() ? std::string(what) : fmt::format("{}, {}", what, limits), schema};
}

/// Several in quotes, the last one behind "or".
std::string alternatives(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char* const before = i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += fmt::format("{}\"{}\"", before, words[i]);
  }
  return text;
}

/// 8, "ring"; 1 rather than 1.0.
std::string value_in_words(const nlohmann::json& value) {
  const double number = value.is_number() ? value.get<double>() : 0.5;
  return std::floor(number) == number ? fmt::format("{:g}", number) : compact_json(value);
}

}  // namespace

FieldType text_type() { return {"text", nlohmann::json{{"type", "string"}}}; }

FieldType flag_type() { return {"true or false", nlohmann::json{{"type", "boolean"}}}; }

FieldType whole_type(const Range& range) { return bounded_type("whole number", "integer", range); }

FieldType number_type(const Range& range) {
  FieldType type = bounded_type("number", "number", range);
  if (range.open && !std::isfinite(range.most)) {
    type.text = "number " + range_text(range);  // "number above 0"
  }
  return type;
}

template <class Q>
FieldType quantity_type(const Range& range) {
  // A number, then a unit: readers know which.
  const char* const pattern = R"(^\s*[-+0-9.][-+0-9.eE]*\s*[A-Za-z]+(/s)?\s*$)";
  std::string_view what = dimension_name<Q>();  // "a bandwidth"
  what.remove_prefix(what.find(' ') + 1);
  const nlohmann::json schema = {{"type", "string"},
                                 {"pattern", pattern},
                                 {"examples", nlohmann::json::array({example_text<Q>()})}};
  static_cast<void>(range);  // no schema compares texts
  return {fmt::format("text with a unit: {}", what), schema};
}
template FieldType quantity_type<Seconds>(const Range&);
template FieldType quantity_type<Bytes>(const Range&);
template FieldType quantity_type<BytesPerSecond>(const Range&);
template FieldType quantity_type<Flops>(const Range&);
template FieldType quantity_type<FlopsPerSecond>(const Range&);

FieldType word_type(std::span<const std::string_view> words) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string_view word : words) list.push_back(word);
  return {alternatives(words), nlohmann::json{{"enum", list}}};
}

FieldType object_type() { return {"an object", nlohmann::json{{"type", "object"}}}; }

FieldType file_type() {
  FieldType file{"the name of a file", nlohmann::json{{"type", "string"}}};
  FieldType type = either(object_type(), file);
  type.text = "an object, or the name of a file";
  return type;
}

FieldType either(const FieldType& one, const FieldType& other) {
  return {one.text + " or " + other.text,
          nlohmann::json{{"anyOf", nlohmann::json::array({*one.schema, *other.schema})}}};
}

FieldType constant_type(std::string_view value) {
  return {fmt::format("\"{}\"", value), nlohmann::json{{"const", value}}};
}

FieldType array_type(const FieldType& element, std::string_view of) {
  return {fmt::format("array of {}", of),
          nlohmann::json{{"type", "array"}, {"items", *element.schema}}};
}

FieldNotes field_notes(std::string_view text) {
  FieldNotes notes;
  const std::pair<std::string_view, std::string*> parts[] = {
      {"limits: ", &notes.limits}, {"see: ", &notes.see}, {"default: ", &notes.fallback}};
  std::string* part = &notes.about;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (const auto& [name, begun] : parts) {
      if (!line.starts_with(name)) continue;
      line.remove_prefix(name.size());
      part = begun;
    }
    if (!part->empty() && !line.empty()) *part += ' ';
    *part += line;
  }
  return notes;
}

void add_limit(FieldNotes& notes, std::string_view limit) {
  if (!notes.limits.empty()) notes.limits += "; ";
  notes.limits += limit;
}

FieldDescription described_field(std::string_view name, const FieldType& type,
                                 std::string_view notes, bool required, const JsonValue& fallback) {
  FieldDescription field{std::string(name), type, field_notes(notes), fallback, required};
  std::string& words = field.notes.fallback;
  if (required) words = "required";
  if (!words.empty()) {
    field.value = nlohmann::json::parse(words, nullptr, false);  // "true", say
    if (field.value->is_discarded()) field.value = nlohmann::json();
  } else {
    const bool is_nothing =
        fallback->is_null() ||
        (fallback->is_string() && fallback->get_ref<const std::string&>().empty());
    words = is_nothing ? "none" : value_in_words(*fallback);
  }
  return field;
}

void append_fields(std::vector<FieldDescription>& all, std::string_view place,
                   std::vector<FieldDescription> fields) {
  for (FieldDescription& field : fields) {
    field.name = fmt::format("{}.{}", place, field.name);
    all.push_back(std::move(field));
  }
}

JsonValue object_schema(std::span<const FieldDescription> fields) {
  nlohmann::json properties = nlohmann::json::object();
  nlohmann::json required = nlohmann::json::array();
  for (const FieldDescription& field : fields) {
    nlohmann::json& property = properties[field.name] = *field.type.schema;
    property["description"] = field.notes.about;
    if (!field.value->is_null()) property["default"] = *field.value;
    if (field.required) required.push_back(field.name);
  }
  nlohmann::json schema = {
      {"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

JsonValue json_of(bool value) { return nlohmann::json(value); }
JsonValue json_of(std::int64_t value) { return nlohmann::json(value); }
JsonValue json_of(double value) { return nlohmann::json(value); }
JsonValue json_of(std::string_view value) { return nlohmann::json(value); }
JsonValue json_of(const std::vector<std::int64_t>& values) { return nlohmann::json(values); }
JsonValue json_of(const std::vector<std::string_view>& values) { return nlohmann::json(values); }

JsonValue empty_object() { return nlohmann::json::object(); }

void finish_part(ObjectReader& reader, std::string_view key, ObjectReader& part) {
  reader.resolve(key, part.finish());
}

void refuse_field(ObjectReader& reader, std::string_view key, std::string_view need,
                  std::string_view why) {
  const std::string needs = fmt::format("{} {}", key, need);
  reader.report(key, why.empty() ? needs : std::string(why), why.empty() ? "" : needs,
                "leave it out");
  static_cast<void>(reader.part(key));
}

void resolve_field(ObjectReader& reader, std::string_view key, const JsonValue& value) {
  if (!value->is_null()) reader.resolve(key, *value);
}

void set_member(nlohmann::json& object, std::string_view key, const JsonValue& value) {
  if (value->is_null()) {
    object.erase(std::string(key));
  } else {
    object[std::string(key)] = *value;
  }
}

}  // namespace headway
