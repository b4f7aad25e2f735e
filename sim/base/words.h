#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace headway {

/// How files and results spell a value of an enum.
template <class E>
using Word = std::pair<std::string_view, E>;
template <class E>
using Words = std::span<const Word<E>>;

/// All words of an enum, in the order in which lists show them: specialised beside the enum, and
/// written nowhere else.
template <class E>
inline constexpr Word<E> kWords[] = {};

/// Empty for a value that has none.
template <class E>
[[nodiscard]] constexpr std::string_view word_of(E value) {
  for (const auto& [word, known] : kWords<E>) {
    if (known == value) return word;
  }
  return {};
}

}  // namespace headway
