#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headway {

/// How messages speak of JSON values.

[[nodiscard]] std::string kind_text(const nlohmann::json& value);  ///< "a text", "an array"
[[nodiscard]] std::string value_text(
    const nlohmann::json& value);  ///< "12.5", "\"a\"", cut if long
/// "\"fabric\"", "element 3 of \"ranks\"", "the document".
[[nodiscard]] std::string value_name(const nlohmann::json& root, const std::string& pointer);

}  // namespace headway
