#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace headway {

/// The words or whole numbers of a range, one after the other, with `separator` between any two.
/// fmt::join takes a compiler half a second in every library that asks for it.
template <class Range>
[[nodiscard]] std::string join_words(const Range& range, std::string_view separator) {
  std::string text;
  bool is_first = true;
  for (const auto& value : range) {
    if (!is_first) text += separator;
    is_first = false;
    if constexpr (std::integral<std::remove_cvref_t<decltype(value)>>) {
      text += std::to_string(value);
    } else {
      text += std::string_view(value);
    }
  }
  return text;
}

}  // namespace headway
