#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headway {

/// A document for people and programs: indented by two, arrays of nothing but numbers, words and
/// such on one line, a newline at the end. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& document);

// What the library has for these is a template, which each room that uses it would compile anew.

/// On one line, without blanks. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string compact_json(const nlohmann::json& value);
[[nodiscard]] std::string compact_json(const nlohmann::ordered_json& value);
/// A text as it is, without quotes; anything else as compact_json has it.
[[nodiscard]] std::string unquoted_json(const nlohmann::json& value);
[[nodiscard]] std::string unquoted_json(const nlohmann::ordered_json& value);
/// Of a text that we wrote; throws the library's parse_error where it is no JSON.
[[nodiscard]] nlohmann::json parsed_json(std::string_view text);
[[nodiscard]] nlohmann::ordered_json parsed_ordered_json(std::string_view text);
[[nodiscard]] bool is_json(std::string_view text);

}  // namespace headway
