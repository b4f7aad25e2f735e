#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headway {

/// Reads a line from left to right. Each call takes what it is asked for, or takes nothing.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }

  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }
  /// Takes `expected` if it stands here.
  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  /// Takes everything up to the next `end`, and that too.
  std::optional<std::string_view> take_to(char end) {
    const std::size_t place = rest_.find(end);
    if (place == std::string_view::npos) return std::nullopt;
    const std::string_view taken = rest_.substr(0, place);
    rest_.remove_prefix(place + 1);
    return taken;
  }
  /// Takes what is between two double quotes, of which the last one of the line ends it if
  /// `greedy`.
  std::optional<std::string_view> take_quoted(bool greedy = false) {
    if (!rest_.starts_with('"')) return std::nullopt;
    const std::size_t end = greedy ? rest_.rfind('"') : rest_.find('"', 1);
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    const std::string_view taken = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return taken;
  }
  /// Takes the characters up to the next blank.
  std::string_view take_word() {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(word.size());
    return word;
  }
  template <class Number>
  std::optional<Number> take_number(int base = 10) {
    Number number{};
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), number, base);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }

 private:
  std::string_view rest_;
};

}  // namespace headway
