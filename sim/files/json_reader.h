#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/quantity_text.h"
#include "sim/base/words.h"
#include "sim/files/json_document.h"
#include "sim/files/json_value.h"

namespace headway {

/// The values that a number may take. Bounds are inclusive unless `open` is set for the lower one.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open = false;  ///< `least` itself is not allowed
};
[[nodiscard]] constexpr Range positive() { return {.least = 0.0, .open = true}; }
[[nodiscard]] constexpr Range at_least(double least) { return {.least = least}; }
[[nodiscard]] constexpr Range between(double least, double most) {
  return {.least = least, .most = most};
}

/// Reads the fields of one JSON object, collecting every problem instead of stopping at the first,
/// and writes down the object as it was understood, every default included (`resolved`).
///
/// Each call names a field once. A field that is missing without a default, of the wrong type, out
/// of range or without its unit becomes a diagnostic, and the call returns the default or the least
/// allowed value, so that reading goes on; nobody uses what was read once there are errors.
/// `finish` reports the fields that nobody asked for, with did-you-mean.
class ObjectReader {
 public:
  /// Reports a value that is not an object; every field is then read as missing, silently.
  ObjectReader(JsonCursor object, Diagnostics& diagnostics);

  [[nodiscard]] bool has(std::string_view key) const;
  /// If the field is not there, reports so with this example of it, as JSON has it; whoever reads
  /// it then says no more.
  void report_missing(std::string_view key, std::string_view example);
  /// Whether somebody has asked for the field.
  [[nodiscard]] bool has_asked(std::string_view key) const;
  [[nodiscard]] const JsonCursor& cursor() const { return object_; }
  [[nodiscard]] Diagnostics& diagnostics() { return diagnostics_; }

  std::string text(std::string_view key);
  std::string text(std::string_view key, std::string fallback);
  bool flag(std::string_view key, bool fallback);
  std::int64_t integer(std::string_view key, Range range);
  std::int64_t integer(std::string_view key, Range range, std::int64_t fallback);
  double number(std::string_view key, Range range);
  double number(std::string_view key, Range range, double fallback);

  /// A text with its unit, such as "400 Gb/s"; `range` is in SI base units.
  template <class Q>
  Q quantity(std::string_view key, Range range);
  template <class Q>
  Q quantity(std::string_view key, Range range, Q fallback);

  /// One of a few words. Lists them, with did-you-mean, when it is none of them.
  template <class E>
  E choice(std::string_view key, Words<E> words) {
    return words[choice_index(key, word_list(words), std::nullopt)].second;
  }
  template <class E>
  E choice(std::string_view key, Words<E> words, E fallback) {
    std::size_t index = 0;
    while (index + 1 < words.size() && words[index].second != fallback) ++index;
    return words[choice_index(key, word_list(words), index)].second;
  }

  /// Some of a few words, each once and at least one, by their indices in the order given. Nothing
  /// if the field is absent.
  std::optional<std::vector<std::size_t>> choices(std::string_view key,
                                                  const std::vector<std::string_view>& words,
                                                  bool required);
  /// An array of whole numbers; nothing if it is absent.
  std::optional<std::vector<std::int64_t>> integers(std::string_view key, Range range,
                                                    bool required);

  /// A member to be read by somebody else; nothing if it is absent. `required_part` reports it.
  std::optional<JsonCursor> part(std::string_view key);
  std::optional<JsonCursor> required_part(std::string_view key, std::string_view example = "");
  /// The elements of an array member; empty if absent or not an array (which is reported).
  std::vector<JsonCursor> elements(std::string_view key);
  /// The names and values of an object member, in file order is not kept (sorted by name).
  std::vector<std::pair<std::string, JsonCursor>> members(std::string_view key);

  /// Reports at the field (at the object if the field is absent).
  void report(std::string_view key, std::string message, std::string label = "",
              std::string help = "");

  /// Sets what `resolved` shows for a part that somebody else read.
  void resolve(std::string_view key, nlohmann::json value);

  /// Reports unknown fields and returns the resolved object. Call once, last.
  [[nodiscard]] nlohmann::json finish();
  /// The same where nobody wants the object.
  void report_unknown();

 private:
  template <class E>
  static std::vector<std::string_view> word_list(Words<E> words) {
    std::vector<std::string_view> list;
    for (const auto& word : words) list.push_back(word.first);
    return list;
  }
  std::size_t choice_index(std::string_view key, const std::vector<std::string_view>& words,
                           std::optional<std::size_t> fallback);
  std::optional<JsonCursor> take(std::string_view key, bool required,
                                 std::string_view example = "");
  std::optional<std::string> read_text(std::string_view key, bool required);
  std::optional<std::int64_t> read_integer(std::string_view key, const Range& range, bool required);
  std::optional<double> read_number(std::string_view key, const Range& range, bool required);
  template <class Q>
  std::optional<Q> read_quantity(std::string_view key, const Range& range, bool required);

  JsonCursor object_;
  Diagnostics& diagnostics_;
  bool is_object_;
  std::vector<std::string> known_;          ///< read by somebody
  std::vector<std::string> missing_;        ///< whose lack is told already
  mutable std::vector<std::string> named_;  ///< those, and what was asked after: for suggestions
  JsonValue resolved_;
};

/// Checks that /schema is `expected` ("headway/topology/1"); absent or other is a diagnostic.
/// False for a file of another kind or program: every field of it would only be one problem more.
[[nodiscard]] bool read_schema(ObjectReader& reader, std::string_view expected);

}  // namespace headway
