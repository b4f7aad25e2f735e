#include "sim/files/json_value.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace headway {

template <class Json>
HeldJson<Json>::HeldJson() : value_(std::make_shared<Json>()) {}
template <class Json>
std::shared_ptr<Json> HeldJson<Json>::held(const Json& value) {
  return std::make_shared<Json>(value);
}
template <class Json>
std::shared_ptr<Json> HeldJson<Json>::held(Json&& value) {
  return std::make_shared<Json>(std::move(value));
}
template <class Json>
Json& HeldJson<Json>::own() {
  if (value_.use_count() > 1) value_ = std::make_shared<Json>(*value_);
  return *value_;
}

template class HeldJson<nlohmann::json>;
template class HeldJson<nlohmann::ordered_json>;

bool operator==(const JsonValue& a, const JsonValue& b) { return *a == *b; }

}  // namespace headway
