#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// A regular expression as ECMAScript has them, without references back to groups, so that no text
/// takes exponentially long to match. It holds the standard library's, which each library
/// that uses it would compile anew, for seconds.
class Pattern {
 public:
  enum class Letters { as_written, small_or_capital };
  /// The part of the text that matched, then what each group did, empty if it had no part in it.
  using Match = std::vector<std::string_view>;

  /// Throws std::invalid_argument if `expression` is none.
  explicit Pattern(const std::string& expression, Letters letters = Letters::as_written);

  [[nodiscard]] std::size_t group_count() const;
  /// The matches point into `text`.
  [[nodiscard]] std::optional<Match> first_in(std::string_view text) const;
  [[nodiscard]] std::vector<Match> all_in(std::string_view text) const;  ///< none overlaps another

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace headway
