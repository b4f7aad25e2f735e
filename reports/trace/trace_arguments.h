#pragma once

#include <string>
#include <string_view>

#include "sim/programs/workload.h"

namespace headway {

/// `text` as a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

/// The "args" of a trace event: members of a JSON object, written one after the other. A number
/// that is not finite is left out.
class TraceArguments {
 public:
  TraceArguments& add(std::string_view key, double value);
  TraceArguments& add(std::string_view key, const std::string& value);
  /// The micro-batch and chunk of an operation that belongs to a pass.
  TraceArguments& add_pass(const Operation& operation);
  /// The rate of `bytes` in `seconds`, unless it took no time.
  TraceArguments& add_bandwidth(double bytes, double seconds);

  /// Without braces around them.
  [[nodiscard]] std::string text() const { return text_; }

 private:
  void append(std::string_view key, std::string_view value);

  std::string text_;
};

}  // namespace headway
