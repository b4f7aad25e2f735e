#include "sim/files/json_value.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace headway {

template <class Json>
HeldJson<Json>::HeldJson() : value_(std::make_unique<Json>()) {}
template <class Json>
std::unique_ptr<Json> HeldJson<Json>::held(const Json& value) {
  return std::make_unique<Json>(value);
}
template <class Json>
std::unique_ptr<Json> HeldJson<Json>::held(Json&& value) {
  return std::make_unique<Json>(std::move(value));
}
template <class Json>
HeldJson<Json>::HeldJson(const HeldJson& other) : value_(std::make_unique<Json>(*other.value_)) {}
template <class Json>
HeldJson<Json>::HeldJson(HeldJson&& other) noexcept = default;
template <class Json>
HeldJson<Json>& HeldJson<Json>::operator=(const HeldJson& other) {
  if (this != &other) value_ = std::make_unique<Json>(*other.value_);
  return *this;
}
template <class Json>
HeldJson<Json>& HeldJson<Json>::operator=(HeldJson&& other) noexcept = default;
template <class Json>
HeldJson<Json>::~HeldJson() = default;

template class HeldJson<nlohmann::json>;
template class HeldJson<nlohmann::ordered_json>;

bool operator==(const JsonValue& a, const JsonValue& b) { return *a == *b; }

}  // namespace headway
