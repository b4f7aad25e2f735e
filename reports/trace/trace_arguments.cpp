#include "reports/trace/trace_arguments.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"

namespace headway {

std::string json_string(std::string_view text) { return compact_json(nlohmann::json(text)); }

TraceArguments& TraceArguments::add(std::string_view key, double value) {
  if (std::isfinite(value)) append(key, fmt::format("{:.12g}", value));
  return *this;
}

TraceArguments& TraceArguments::add(std::string_view key, const std::string& value) {
  append(key, json_string(value));
  return *this;
}

TraceArguments& TraceArguments::add_pass(const Operation& operation) {
  if (operation.micro_batch >= 0) append("micro_batch", std::to_string(operation.micro_batch));
  if (operation.chunk >= 0) append("chunk", std::to_string(operation.chunk));
  return *this;
}

TraceArguments& TraceArguments::add_bandwidth(double bytes, double seconds) {
  return seconds > 0.0 ? add("bandwidth_bytes_per_s", bytes / seconds) : *this;
}

void TraceArguments::append(std::string_view key, std::string_view value) {
  text_ += fmt::format("{}{}:{}", text_.empty() ? "" : ",", json_string(key), value);
}

}  // namespace headway
