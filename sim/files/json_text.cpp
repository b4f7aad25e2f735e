#include "sim/files/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headway {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

bool fits_on_a_line(const json& value) {
  return value.empty() || (value.is_array() && std::ranges::none_of(value, &json::is_structured));
}

void append(std::string& text, const json& value, const std::string& indent) {
  if (!value.is_structured()) {
    text += compact_json(value);
    return;
  }
  const bool is_array = value.is_array();
  if (fits_on_a_line(value)) {
    text += is_array ? "[" : "{";
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) text += ", ";
      text += compact_json(value[i]);
    }
    text += is_array ? "]" : "}";
    return;
  }
  const std::string deeper = indent + "  ";
  text += is_array ? "[" : "{";
  bool is_first = true;
  for (const auto& item : value.items()) {
    text += (is_first ? "\n" : ",\n") + deeper;
    if (!is_array) text += compact_json(json(item.key())) + ": ";
    append(text, item.value(), deeper);
    is_first = false;
  }
  text += "\n" + indent + (is_array ? "]" : "}");
}

}  // namespace

std::string json_text(const json& document) {
  std::string text;
  append(text, document, "");
  return text + "\n";
}

std::string compact_json(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string compact_json(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string unquoted_json(const json& value) {
  return value.is_string() ? value.get<std::string>() : compact_json(value);
}

std::string unquoted_json(const ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : compact_json(value);
}

json parsed_json(std::string_view text) { return json::parse(text); }

ordered_json parsed_ordered_json(std::string_view text) { return ordered_json::parse(text); }

bool is_json(std::string_view text) { return json::accept(text); }

}  // namespace headway
