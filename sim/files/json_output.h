#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headway {

/// A document as all commands print it: indented, a newline at the end. Bytes that are not UTF-8
/// become U+FFFD.
[[nodiscard]] std::string json_document_text(const nlohmann::json& document);

/// JSON has neither infinity nor not-a-number: null for these.
[[nodiscard]] nlohmann::json json_number(double value);

}  // namespace headway
