#include "sim/files/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "sim/base/join_words.h"
#include "sim/base/limits.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/files/json_pointer.h"
#include "sim/files/json_value_text.h"
#include "sim/files/kinds/file_kind.h"
#include "sim/files/kinds/foreign_text.h"

namespace headway {
namespace {

/// What may have been meant, or what there is, of a long list its beginning.
std::string unknown_field_help(std::string_view key, const std::vector<std::string_view>& known) {
  constexpr std::size_t kFewFields = 8;
  std::string meant = meant_text(key, known);
  if (!meant.empty() || known.empty()) return meant;
  const std::size_t told = std::min(known.size(), kFewFields);
  return fmt::format("there are {}{}", join_words(std::span(known).first(told), ", "),
                     told < known.size() ? ", ... (`headway explain` lists fields)" : "");
}

/// In the order of the first of each.
std::vector<std::string_view> without_repeats(const std::vector<std::string>& keys) {
  std::vector<std::string_view> unique;
  for (const std::string& key : keys) {
    if (std::ranges::find(unique, key) == unique.end()) unique.push_back(key);
  }
  return unique;
}

constexpr std::string_view kObjectHelp = "write its fields in braces: {\"field\": value, ...}";

std::string text_help(const nlohmann::json& value) {
  return value.is_number() ? "write it in quotes, with its unit if it has one"
                           : "write it in quotes";
}

}  // namespace

ObjectReader::ObjectReader(JsonCursor object, Diagnostics& diagnostics)
    : object_(std::move(object)),
      diagnostics_(diagnostics),
      is_object_(object_.is_object()),
      resolved_(nlohmann::json::object()) {
  if (is_object_) return;
  diagnostics_.add(object_.problem(
      value_name(object_.document().root(), object_.pointer()) + " must be an object",
      kind_text(object_.value()), std::string(kObjectHelp)));
}

bool ObjectReader::has(std::string_view key) const {
  named_.emplace_back(key);
  return object_.member(key).has_value();
}

bool ObjectReader::has_asked(std::string_view key) const {
  return std::ranges::find(known_, key) != known_.end();
}

/// The member, noted as known; reports it if it is required and absent.
std::optional<JsonCursor> ObjectReader::take(std::string_view key, bool required,
                                             std::string_view example) {
  known_.emplace_back(key);
  named_.emplace_back(key);
  auto member = object_.member(key);
  const bool is_told = std::ranges::find(missing_, key) != missing_.end();
  if (!member && required && is_object_ && !is_told) {
    const std::string help =
        example.empty() ? "" : fmt::format("for example \"{}\": {}", key, example);
    diagnostics_.add(object_.problem(fmt::format("missing field \"{}\"", key), "", help));
  }
  return member;
}

void ObjectReader::report_missing(std::string_view key, std::string_view example) {
  if (!take(key, true, example)) missing_.emplace_back(key);
}

std::optional<std::string> ObjectReader::read_text(std::string_view key, bool required) {
  const auto member = take(key, required, "\"...\"");
  if (!member) return std::nullopt;
  if (!member->value().is_string()) {
    diagnostics_.add(member->problem(fmt::format("\"{}\" must be a text", key),
                                     kind_text(member->value()), text_help(member->value())));
    return std::nullopt;
  }
  return member->value().get<std::string>();
}

std::string ObjectReader::text(std::string_view key) {
  const std::string value = read_text(key, true).value_or("");
  (*resolved_)[std::string(key)] = value;
  return value;
}

std::string ObjectReader::text(std::string_view key, std::string fallback) {
  const std::string value = read_text(key, false).value_or(std::move(fallback));
  (*resolved_)[std::string(key)] = value;
  return value;
}

bool ObjectReader::flag(std::string_view key, bool fallback) {
  const auto member = take(key, false);
  bool value = fallback;
  if (member && !member->value().is_boolean()) {
    diagnostics_.add(member->problem(fmt::format("\"{}\" must be true or false", key),
                                     kind_text(member->value()),
                                     fmt::format("leave it out for {}", fallback)));
  } else if (member) {
    value = member->value().get<bool>();
  }
  (*resolved_)[std::string(key)] = value;
  return value;
}

std::size_t ObjectReader::choice_index(std::string_view key,
                                       const std::vector<std::string_view>& words,
                                       std::optional<std::size_t> fallback) {
  HEADWAY_CHECK(!words.empty(), "a choice of no words");
  std::string list;
  for (const std::string_view word : words) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", word);
  }
  const auto member = take(key, !fallback, fmt::format("\"{}\"", words.front()));
  std::size_t index = fallback.value_or(0);
  if (member && !member->value().is_string()) {
    diagnostics_.add(member->problem(fmt::format("\"{}\" must be a text", key),
                                     kind_text(member->value()), "it is one of " + list));
  } else if (member) {
    const std::string& value = member->value().get_ref<const std::string&>();
    const auto found = std::find(words.begin(), words.end(), value);
    if (found != words.end()) {
      index = static_cast<std::size_t>(found - words.begin());
    } else {
      const std::string meant = meant_text(value, words);
      diagnostics_.add(
          member->problem(fmt::format("{} cannot be {}", key, in_quotes(value)), "",
                          (meant.empty() ? "it" : meant + " It") + " is one of " + list));
    }
  }
  (*resolved_)[std::string(key)] = words[index];
  return index;
}

std::optional<JsonCursor> ObjectReader::part(std::string_view key) {
  auto member = take(key, false);
  if (member) (*resolved_)[std::string(key)] = member->value();
  return member;
}

std::optional<JsonCursor> ObjectReader::required_part(std::string_view key,
                                                      std::string_view example) {
  auto member = take(key, true, example);
  if (member) (*resolved_)[std::string(key)] = member->value();
  return member;
}

std::vector<JsonCursor> ObjectReader::elements(std::string_view key) {
  std::vector<JsonCursor> elements;
  const auto member = part(key);
  if (!member) return elements;
  if (!member->is_array()) {
    diagnostics_.add(member->problem(fmt::format("\"{}\" must be an array", key),
                                     kind_text(member->value()),
                                     "write it in brackets: [...], a single one too"));
    return elements;
  }
  for (std::size_t i = 0; i < member->value().size(); ++i) elements.push_back(member->element(i));
  return elements;
}

std::vector<std::pair<std::string, JsonCursor>> ObjectReader::members(std::string_view key) {
  std::vector<std::pair<std::string, JsonCursor>> members;
  const auto object = part(key);
  if (!object) return members;
  if (!object->is_object()) {
    diagnostics_.add(object->problem(fmt::format("\"{}\" must be an object", key),
                                     kind_text(object->value()), std::string(kObjectHelp)));
    return members;
  }
  for (const auto& item : object->value().items()) {
    if (auto member = object->member(item.key())) members.emplace_back(item.key(), *member);
  }
  return members;
}

void ObjectReader::report(std::string_view key, std::string message, std::string label,
                          std::string help) {
  const JsonCursor at = object_.member(key).value_or(object_);
  diagnostics_.add(at.problem(std::move(message), std::move(label), std::move(help)));
}

void ObjectReader::resolve(std::string_view key, nlohmann::json value) {
  (*resolved_)[std::string(key)] = std::move(value);
}

nlohmann::json ObjectReader::finish() {
  report_unknown();
  return std::move(*resolved_);
}

void ObjectReader::report_unknown() {
  if (!is_object_) return;
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  const std::vector<std::string_view> named = without_repeats(named_);
  for (const auto& item : object_.value().items()) {
    // Editors read "$schema" to know the schema file.
    const bool is_known = std::find(known.begin(), known.end(), item.key()) != known.end();
    const auto member = object_.member(item.key());
    if (is_known || item.key() == "$schema" || !member) continue;
    // What will only be counted is not compared with every field.
    const bool is_shown = std::ssize(diagnostics_.all()) < limits().problems;
    Diagnostic problem = member->key_problem(fmt::format("unknown field {}", in_quotes(item.key())),
                                             is_shown ? unknown_field_help(item.key(), named) : "");
    problem.location.line_text.clear();  // it would only repeat the name
    if (is_shown) problem.unknown_field = item.key();
    diagnostics_.add(std::move(problem));
  }
}

namespace {

std::string other_kind_help(std::string_view found, std::string_view expected) {
  if (are_of_one_kind(found, expected)) return "the file is of another version of the format";
  const std::string kind = file_kind_words(found);
  if (kind.empty()) return "the file is of another kind";
  const std::string_view use = file_kind_use(found);
  return fmt::format("the file is {}, where {} is needed{}{}", kind, file_kind_words(expected),
                     use.empty() ? "" : "; ", use);
}

}  // namespace

bool read_schema(ObjectReader& reader, std::string_view expected) {
  const JsonCursor& cursor = reader.cursor();
  if (!cursor.is_object()) return true;
  const auto schema = cursor.member("schema");
  const std::string found = reader.text("schema", std::string(expected));
  if (schema) {
    if (found == expected) return true;
    reader.report("schema", fmt::format("schema must be \"{}\"", expected), "",
                  other_kind_help(found, expected));
    return are_of_one_kind(found, expected);
  }
  if (const ForeignText* const foreign = foreign_object(cursor)) {
    reader.diagnostics().add(cursor.problem(
        fmt::format("this is {}, where {} is needed", foreign->what, file_kind_words(expected)), "",
        std::string(foreign->help)));
    return false;
  }
  reader.report("schema", "missing field \"schema\"", "",
                fmt::format("for example \"schema\": \"{}\"", expected));
  return true;
}

}  // namespace headway
