#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/json_document.h"
#include "sim/files/json_pointer.h"

namespace headway {
namespace {

const nlohmann::json* value_at(const nlohmann::json& root, const std::string& pointer) {
  const nlohmann::json* value = &root;
  for (const std::string& token : pointer_tokens(pointer)) {
    if (value->is_array()) {
      const std::size_t index = std::stoul(token);
      HEADWAY_CHECK(index < value->size(), "no element " + pointer);
      value = &(*value)[index];
    } else {
      HEADWAY_CHECK(value->is_object() && value->contains(token), "no value at " + pointer);
      value = &(*value)[token];
    }
  }
  return value;
}

}  // namespace

JsonCursor::JsonCursor(std::shared_ptr<const JsonDocument> document, std::string pointer)
    : document_(std::move(document)),
      pointer_(std::move(pointer)),
      value_(value_at(document_->root(), pointer_)) {}

bool JsonCursor::is_object() const { return value_->is_object(); }

bool JsonCursor::is_array() const { return value_->is_array(); }

std::size_t JsonCursor::size() const { return value_->size(); }

std::optional<std::string> JsonCursor::text() const {
  if (!value_->is_string()) return std::nullopt;
  return value_->get<std::string>();
}

std::optional<double> JsonCursor::number() const {
  if (!value_->is_number()) return std::nullopt;
  return value_->get<double>();
}

std::optional<JsonCursor> JsonCursor::member(std::string_view key) const {
  if (!value_->is_object()) return std::nullopt;
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) return std::nullopt;
  JsonCursor cursor = *this;
  append_token(cursor.pointer_, key);
  cursor.value_ = &*found;
  return cursor;
}

JsonCursor JsonCursor::element(std::size_t index) const {
  HEADWAY_CHECK(value_->is_array(), "no array at " + pointer_);
  HEADWAY_CHECK(index < value_->size(), "no such element of " + pointer_);
  JsonCursor cursor = *this;
  append_token(cursor.pointer_, std::to_string(index));
  cursor.value_ = &(*value_)[index];
  return cursor;
}

JsonCursor JsonCursor::over(const JsonCursor& base) const {
  HEADWAY_CHECK(pointer_.empty() && base.pointer_.empty(), "only whole documents fill each other");
  return JsonCursor(document_->over(base.document_));
}

Diagnostic JsonCursor::problem(std::string message, std::string label, std::string help) const {
  return {.message = std::move(message),
          .location = document_->value_location(pointer_),
          .pointer = pointer_,
          .label = std::move(label),
          .help = std::move(help)};
}

Diagnostic JsonCursor::key_problem(std::string message, std::string help) const {
  return {.message = std::move(message),
          .location = document_->key_location(pointer_),
          .pointer = pointer_,
          .help = std::move(help)};
}

}  // namespace headway
