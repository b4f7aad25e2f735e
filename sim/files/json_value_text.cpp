#include "sim/files/json_value_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/utf8.h"
#include "sim/files/json_pointer.h"
#include "sim/files/json_text.h"

namespace headway {

std::string kind_text(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::object:
      return "an object";
    case nlohmann::json::value_t::array:
      return "an array";
    case nlohmann::json::value_t::string:
      return "a text";
    case nlohmann::json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case nlohmann::json::value_t::null:
      return "null";
    default:
      return "a number";
  }
}

std::string value_text(const nlohmann::json& value) {
  if (value.is_structured()) return kind_text(value);
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return compact_json(value);
}

std::string value_name(const nlohmann::json& root, const std::string& pointer) {
  if (pointer.empty()) return "the document";
  const std::string parent = pointer.substr(0, pointer.rfind('/'));
  const std::string name = last_token(pointer);
  if (!root.at(nlohmann::json::json_pointer(parent)).is_array()) return in_quotes(name);
  if (parent.empty()) return fmt::format("element {}", name);
  return fmt::format("element {} of {}", name, in_quotes(last_token(parent)));
}

}  // namespace headway
