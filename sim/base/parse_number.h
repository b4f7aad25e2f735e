#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace headway {

/// The number that the whole text is, in digits of `base` where it is an integer: no blanks, no
/// plus, no unit. Nothing if it is none, or does not fit in a Number. Of doubles "inf" and "nan"
/// are some.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, int base = 10) {
  const char* const begin = text.data();  // std::from_chars asks for no end of the text but ours
  const char* const end = begin + text.size();
  Number number{};
  std::from_chars_result result;
  if constexpr (std::is_floating_point_v<Number>) {
    result = std::from_chars(begin, end, number);
  } else {
    result = std::from_chars(begin, end, number, base);
  }
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

}  // namespace headway
