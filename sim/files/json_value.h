#pragma once

#include <concepts>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace headway {

/// A JSON value as a member of plain data. It owns the value, is copied with it and compares like
/// it, and lets headers do with the library's declaration alone; whoever looks inside includes
/// nlohmann/json.hpp. Null until something is assigned. Copies share the value until one of them is
/// changed: no reference to change it by may be held while it is copied.
template <class Json>
class HeldJson {
 public:
  HeldJson();
  /// Takes a JSON value and nothing that would become one: the library's lists in braces mean
  /// something else on the way through a constructor.
  template <class Value>
  requires std::same_as<std::remove_cvref_t<Value>, Json> HeldJson(Value&& value)
      : held_(held(std::forward<Value>(value))) {}
  operator const Json&() const { return value(); }
  [[nodiscard]] const Json& operator*() const { return value(); }
  [[nodiscard]] Json& operator*() { return own(); }
  [[nodiscard]] const Json* operator->() const { return &value(); }
  [[nodiscard]] Json* operator->() { return &own(); }
  /// `compact_json` of the value, written once for all who share it.
  [[nodiscard]] const std::string& text() const;

 private:
  struct Held;
  [[nodiscard]] static std::shared_ptr<Held> held(const Json& value);
  [[nodiscard]] static std::shared_ptr<Held> held(Json&& value);
  [[nodiscard]] const Json& value() const;
  /// The value, of nobody else.
  [[nodiscard]] Json& own();

  std::shared_ptr<Held> held_;  // never empty, but for what was moved from
};

extern template class HeldJson<nlohmann::json>;
extern template class HeldJson<nlohmann::ordered_json>;

using JsonValue = HeldJson<nlohmann::json>;
using OrderedJsonValue = HeldJson<nlohmann::ordered_json>;  ///< members stay in the order given

[[nodiscard]] bool operator==(const JsonValue& a, const JsonValue& b);

}  // namespace headway
