#include "sim/files/json_value.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/json_text.h"

namespace headway {

template <class Json>
struct HeldJson<Json>::Held {
  Json value;
  std::string text;  ///< empty until asked for
};

template <class Json>
HeldJson<Json>::HeldJson() {
  static const std::shared_ptr<Held> null = held(Json());  // points of a sweep have a million
  held_ = null;
}
template <class Json>
std::shared_ptr<typename HeldJson<Json>::Held> HeldJson<Json>::held(const Json& value) {
  return held(Json(value));
}
template <class Json>
std::shared_ptr<typename HeldJson<Json>::Held> HeldJson<Json>::held(Json&& value) {
  auto made = std::make_shared<Held>();
  made->value = std::move(value);
  return made;
}
template <class Json>
const Json& HeldJson<Json>::value() const {
  return held_->value;
}
template <class Json>
Json& HeldJson<Json>::own() {
  if (held_.use_count() > 1) held_ = held(held_->value);
  held_->text.clear();
  return held_->value;
}
template <class Json>
const std::string& HeldJson<Json>::text() const {
  if (held_->text.empty()) held_->text = compact_json(held_->value);
  return held_->text;
}

template class HeldJson<nlohmann::json>;
template class HeldJson<nlohmann::ordered_json>;

bool operator==(const JsonValue& a, const JsonValue& b) { return *a == *b; }

}  // namespace headway
