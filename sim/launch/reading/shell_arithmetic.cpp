#include <cctype>
#include <cstdint>
#include <optional>

#include "sim/base/parse_number.h"
#include "sim/launch/reading/shell_script.h"

namespace headway {
namespace {

// Larger results are no counts of anything, and sums of products of two such do not overflow.
constexpr std::int64_t kMostResult = 1'000'000'000;
constexpr int kDeepestBrackets = 32;

/// Sums of products of numbers, names and brackets, from left to right.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, const std::map<std::string, std::string>& variables)
      : rest_(text), variables_(variables) {}

  std::optional<std::int64_t> value() {
    const auto value = sum(0);
    skip_blanks();
    return rest_.empty() ? value : std::nullopt;
  }

 private:
  using Number = std::optional<std::int64_t>;

  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(1);
    }
  }
  /// The next character, taken if it is one of these; else 0.
  char take_any(std::string_view wanted) {
    skip_blanks();
    if (rest_.empty() || wanted.find(rest_.front()) == std::string_view::npos) return '\0';
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }
  static Number combined(char operation, Number a, Number b) {
    if (!a || !b) return std::nullopt;
    if ((operation == '/' || operation == '%') && *b == 0) return std::nullopt;
    const std::int64_t value = operation == '+'   ? *a + *b
                               : operation == '-' ? *a - *b
                               : operation == '*' ? *a * *b
                               : operation == '/' ? *a / *b
                                                  : *a % *b;
    return value > kMostResult || value < -kMostResult ? std::nullopt : Number(value);
  }
  Number sum(int depth) {
    Number value = product(depth);
    while (const char operation = take_any("+-")) {
      value = combined(operation, value, product(depth));
    }
    return value;
  }
  Number product(int depth) {
    Number value = operand(depth);
    while (const char operation = take_any("*/%")) {
      value = combined(operation, value, operand(depth));
    }
    return value;
  }
  Number operand(int depth) {
    if (depth > kDeepestBrackets) return std::nullopt;
    if (take_any("(") != '\0') {
      const Number value = sum(depth + 1);
      return take_any(")") != '\0' ? value : std::nullopt;
    }
    if (take_any("-") != '\0') return combined('-', 0, operand(depth + 1));
    static_cast<void>(take_any("$"));
    const bool is_braced = take_any("{") != '\0';
    std::size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '_')) {
      ++length;
    }
    const std::string word(rest_.substr(0, length));
    rest_.remove_prefix(length);
    if (is_braced && take_any("}") == '\0') return std::nullopt;
    const auto variable = variables_.find(word);
    const auto number =
        parse_number<std::int64_t>(variable == variables_.end() ? word : variable->second);
    const bool is_count = number && *number <= kMostResult && *number >= -kMostResult;
    return is_count ? number : std::nullopt;
  }

  std::string_view rest_;
  const std::map<std::string, std::string>& variables_;
};

}  // namespace

std::string shell_arithmetic(std::string_view text,
                             const std::map<std::string, std::string>& variables) {
  const auto value = Arithmetic(text, variables).value();
  return value ? std::to_string(*value) : "";
}

}  // namespace headway
