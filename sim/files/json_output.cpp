#include "sim/files/json_output.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace headway {

std::string json_document_text(const nlohmann::json& document) {
  constexpr int kIndent = 2;
  return document.dump(kIndent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::json json_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

}  // namespace headway
