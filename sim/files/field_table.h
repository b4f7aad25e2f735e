#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/words.h"
#include "sim/files/field_type.h"
#include "sim/files/json_reader.h"

namespace headway {

/// What a field needs to say anything: `field` to be `value`, such as "\"full\"" or "above 0".
struct FieldNeed {
  std::string_view field;
  std::string_view value = {};
  std::string_view why = {};  ///< it says nothing else
  std::string_view set = {};  ///< what mends it, where `value` is no value

  [[nodiscard]] std::string_view set_to() const { return set.empty() ? value : set; }
};

/// Where the value of a field goes in an Object, and when it means something.
template <class Object>
struct FieldMember {
  FieldType type;
  /// What the object holds before is the default. Empty for what somebody else reads.
  std::function<void(ObjectReader&, std::string_view key, bool required, Object&)> read = {};
  std::function<JsonValue(const Object&)> write = {};  ///< null is not written

  bool is_required = false;
  bool is_presettable = false;
  std::function<bool(const Object&)> is_used = {};  ///< always, where it is empty
  FieldNeed need = {};
  /// Parts of it: the first that does not hold is told in its place.
  std::vector<std::pair<bool (*)(const Object&), FieldNeed>> need_parts = {};
  bool is_strict = false;         ///< an error where it is given and says nothing
  std::string_view example = {};  ///< as JSON, where one of its type alone would mislead
  void (*settle)(Object&) = nullptr;
  std::vector<FieldDescription> children = {};  ///< of an object, or of each in an array

  FieldMember required() && { return is_required = true, std::move(*this); }
  /// The same; where it is missing, the help shows this value of it, as JSON has it.
  FieldMember required_as(std::string_view text) && {
    return is_required = true, example = text, std::move(*this);
  }
  /// A named set of defaults may have the field.
  FieldMember presettable() && { return is_presettable = true, std::move(*this); }
  /// It says something about such objects only: it is written for those, and read if it is given.
  FieldMember where(bool (*used)(const Object&), FieldNeed needs = {}) && {
    return is_used = used, need = needs, std::move(*this);
  }
  /// With need_parts.
  FieldMember told_as(bool (*holds)(const Object&), FieldNeed part) && {
    return need_parts.emplace_back(holds, part), std::move(*this);
  }
  /// What an object for which it says nothing lacks.
  [[nodiscard]] const FieldNeed& lacking(const Object& object) const {
    for (const auto& [holds, part] : need_parts) {
      if (!holds(object)) return part;
    }
    return need;
  }
  /// As `where`, and it is an error for others.
  FieldMember only_where(bool (*used)(const Object&), FieldNeed needs) && {
    return is_used = used, need = needs, is_strict = true, std::move(*this);
  }
  /// What it is made of, where that has a table of its own.
  FieldMember made_of(std::vector<FieldDescription> fields) && {
    return children = std::move(fields), std::move(*this);
  }
  /// Its default comes from the fields before it.
  FieldMember settled(void (*by)(Object&)) && { return settle = by, std::move(*this); }
};

/// A field of a JSON object, all there is to know of it: reader and writer, help and schema come
/// from it.
template <class Object>
struct Field {
  std::string_view name;
  FieldMember<Object> member;
  std::string_view notes;  ///< see FieldNotes
};

/// The fields of an Object, in the order in which they are read.
template <class Object>
class FieldTable {
 public:
  explicit FieldTable(std::vector<Field<Object>> fields) : fields_(std::move(fields)) {}

  [[nodiscard]] const std::vector<Field<Object>>& fields() const { return fields_; }

  /// `wants` is asked before each field whether the object has it, and may set its default.
  template <class Wants>
  void read(ObjectReader& reader, Object& object, Wants wants) const {
    for (const auto& [name, member, notes] : fields_) {
      if (!member.read || !wants(name, member)) continue;
      if (member.is_used && !member.is_used(object)) {
        const bool is_given = reader.has(name);
        if (is_given && member.is_strict)
          refuse_field(reader, name, need_text(member), member.need.why);
        if (!is_given || member.is_strict) continue;
      }
      if (!member.example.empty()) reader.report_missing(name, member.example);
      member.read(reader, name, member.is_required, object);
      if (member.write) resolve_field(reader, name, member.write(object));
    }
  }
  void read(ObjectReader& reader, Object& object) const {
    read(reader, object, [&](std::string_view, const FieldMember<Object>& member) {
      if (member.settle) member.settle(object);
      return true;
    });
  }

  /// Sets the fields in `json` to what reading them gave this object, and takes those away that
  /// say nothing about it.
  void write(const Object& object, nlohmann::json& json) const {
    for (const auto& [name, member, notes] : fields_) {
      if (!member.write) continue;
      const bool is_used = !member.is_used || member.is_used(object);
      set_member(json, name, is_used ? member.write(object) : JsonValue());
    }
  }

  [[nodiscard]] JsonValue written(const Object& object) const {
    JsonValue json = empty_object();
    write(object, *json);
    return json;
  }

  /// With the defaults that the object has.
  [[nodiscard]] std::vector<FieldDescription> described(const Object& object = {}) const {
    std::vector<FieldDescription> rows;
    for (const auto& [name, member, notes] : fields_) {
      const JsonValue value = member.write ? member.write(object) : JsonValue();
      const bool is_required = member.is_required && !member.is_used;
      rows.push_back(described_field(name, member.type, notes, is_required, value));
      if (!member.need.field.empty()) add_limit(rows.back().notes, need_text(member));
      append_fields(rows, name, member.children);
    }
    return rows;
  }

 private:
  static std::string need_text(const FieldMember<Object>& member) {
    return member.need.value.empty()
               ? fmt::format("needs {}", member.need.field)
               : fmt::format("needs {} {}", member.need.field, member.need.value);
  }

  std::vector<Field<Object>> fields_;
};

// What a row says of its member.

/// Somebody else reads it.
template <class Object>
FieldMember<Object> elsewhere(const FieldType& type) {
  return {.type = type};
}

template <class Value>
inline constexpr bool kMayBeMissing = false;
template <class Value>
inline constexpr bool kMayBeMissing<std::optional<Value>> = true;

/// `take(reader, key)` is its value, `take(reader, key, before)` that or else the one before;
/// `json` writes it. A std::optional is read and written where it is there.
template <class Object, class Value, class Take, class Json>
FieldMember<Object> member_of(const FieldType& type, Value Object::*member, Take take, Json json) {
  return {.type = type,
          .read =
              [=](ObjectReader& reader, std::string_view key, bool required, Object& object) {
                Value& held = object.*member;
                if constexpr (kMayBeMissing<Value>) {
                  if (required || reader.has(key)) held = take(reader, key);
                } else {
                  held = required ? take(reader, key) : take(reader, key, held);
                }
              },
          .write =
              [=](const Object& object) {
                if constexpr (kMayBeMissing<Value>) {
                  return object.*member ? json(*(object.*member)) : JsonValue();
                } else {
                  return json(object.*member);
                }
              }};
}

template <class Object>
FieldMember<Object> text(std::string Object::*member) {
  return member_of(
      text_type(), member,
      [](ObjectReader& reader, std::string_view key, const auto&... before) {
        return reader.text(key, before...);
      },
      [](const std::string& text) { return json_of(text); });
}

/// One that may be left out, and is empty then.
template <class Object>
FieldMember<Object> optional_text(std::string Object::*member) {
  return {.type = text_type(),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool, Object& object) {
                if (reader.has(key)) object.*member = reader.text(key);
              },
          .write =
              [=](const Object& object) {
                const std::string& held = object.*member;
                return held.empty() ? JsonValue() : json_of(held);
              }};
}

template <class Object>
FieldMember<Object> flag(bool Object::*member) {
  return {.type = flag_type(),
          .read = [=](ObjectReader& reader, std::string_view key, bool,
                      Object& object) { object.*member = reader.flag(key, object.*member); },
          .write = [=](const Object& object) { return json_of(object.*member); }};
}

/// Of an integer, or of an enum whose values are the numbers of the field.
template <class Object, class Whole>
FieldMember<Object> whole(Whole Object::*member, Range range) {
  return member_of(
      whole_type(range), member,
      [=](ObjectReader& reader, std::string_view key, auto... before) {
        const std::int64_t read = reader.integer(key, range, static_cast<std::int64_t>(before)...);
        if constexpr (kMayBeMissing<Whole>) {
          return static_cast<typename Whole::value_type>(read);
        } else {
          return static_cast<Whole>(read);
        }
      },
      [](auto number) { return json_of(static_cast<std::int64_t>(number)); });
}

template <class Object, class Number>
FieldMember<Object> number(Number Object::*member, Range range) {
  return member_of(
      number_type(range), member,
      [=](ObjectReader& reader, std::string_view key, auto... before) {
        return reader.number(key, range, before...);
      },
      [](double number) { return json_of(number); });
}

template <class Object, class Q>
FieldMember<Object> quantity(Q Object::*member, Range range) {
  return member_of(
      quantity_type<Q>(range), member,
      [=](ObjectReader& reader, std::string_view key, auto... before) {
        return reader.quantity<Q>(key, range, before...);
      },
      [](Q held) { return json_of(exact_text(held)); });
}
template <class Object, class Q>
FieldMember<Object> quantity(std::optional<Q> Object::*member, Range range) {
  return member_of(
      quantity_type<Q>(range), member,
      [=](ObjectReader& reader, std::string_view key) { return reader.quantity<Q>(key, range); },
      [](Q held) { return json_of(exact_text(held)); });
}

template <class E>
std::vector<std::string_view> texts_of(Words<E> words) {
  std::vector<std::string_view> texts;
  for (const Word<E>& word : words) texts.push_back(word.first);
  return texts;
}

/// One of `words`, which have to outlive the row, of what `get` and `set` say.
template <class Object, class E, class Get, class Set>
FieldMember<Object> word(Words<E> words, Get get, Set set) {
  return {.type = word_type(texts_of(words)),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool required, Object& object) {
                set(object,
                    required ? reader.choice(key, words) : reader.choice(key, words, get(object)));
              },
          .write =
              [=](const Object& object) {
                for (const auto& [text, value] : words) {
                  if (value == get(object)) return json_of(text);
                }
                return JsonValue();
              }};
}
template <class Object, class E>
FieldMember<Object> word(E Object::*member, std::type_identity_t<Words<E>> words = kWords<E>) {
  return word<Object>(
      words, [=](const Object& object) { return object.*member; },
      [=](Object& object, E value) { object.*member = value; });
}
/// One that may be missing.
template <class Object, class E>
FieldMember<Object> word(std::optional<E> Object::*member,
                         std::type_identity_t<Words<E>> words = kWords<E>) {
  return {.type = word_type(texts_of(words)),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool, Object& object) {
                if (!(object.*member) && !reader.has(key)) return;
                const E before = (object.*member).value_or(words.front().second);
                object.*member = reader.choice(key, words, before);
              },
          .write =
              [=](const Object& object) {
                for (const auto& [text, value] : words) {
                  if (object.*member == value) return json_of(text);
                }
                return JsonValue();
              }};
}

template <class Object, class Whole>
FieldMember<Object> wholes(std::vector<Whole> Object::*member, Range range) {
  return {.type = array_type(whole_type(range), "whole numbers"),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool required, Object& object) {
                const auto values = reader.integers(key, range, required);
                if (values) (object.*member).assign(values->begin(), values->end());
              },
          .write =
              [=](const Object& object) {
                return json_of(
                    std::vector<std::int64_t>((object.*member).begin(), (object.*member).end()));
              }};
}

/// Some of a few words, each once and at least one.
template <class Object, class E>
FieldMember<Object> words(std::vector<E> Object::*member) {
  const Words<E> known = kWords<E>;
  return {.type = array_type(word_type(texts_of(known)), "texts"),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool required, Object& object) {
                const auto chosen = reader.choices(key, texts_of(known), required);
                if (!chosen) return;
                (object.*member).clear();
                for (const std::size_t index : *chosen) {
                  (object.*member).push_back(known[index].second);
                }
              },
          .write =
              [=](const Object& object) {
                std::vector<std::string_view> texts;
                for (const E value : object.*member) texts.push_back(word_of(value));
                return json_of(texts);
              }};
}

/// A field of what an object holds, that stands among the object's own.
template <class Object, class Held>
FieldMember<Object> within(Held Object::*held, const FieldMember<Held>& member) {
  return {.type = member.type,
          .read = [=](ObjectReader& reader, std::string_view key, bool required,
                      Object& object) { member.read(reader, key, required, object.*held); },
          .write = [=](const Object& object) { return member.write(object.*held); },
          .children = member.children};
}

/// An object with a table of its own; a std::optional where it may be missing.
template <class Object, class Held, class Part>
FieldMember<Object> part(Held Object::*member, const FieldTable<Part>& (*fields)()) {
  return {.type = object_type(),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool required, Object& object) {
                const auto given = required ? reader.required_part(key) : reader.part(key);
                if (!given) return;
                ObjectReader inner(*given, reader.diagnostics());
                Part read{};
                if constexpr (!kMayBeMissing<Held>) read = object.*member;
                fields().read(inner, read);
                finish_part(reader, key, inner);
                object.*member = std::move(read);
              },
          .write =
              [=](const Object& object) {
                if constexpr (kMayBeMissing<Held>) {
                  return object.*member ? fields().written(*(object.*member)) : JsonValue();
                } else {
                  return fields().written(object.*member);
                }
              },
          .children = fields().described()};
}

}  // namespace headway
