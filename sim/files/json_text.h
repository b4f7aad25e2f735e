#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headway {

/// A document for people and programs: indented by two, arrays of nothing but numbers, words and
/// such on one line, a newline at the end. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& document);

}  // namespace headway
