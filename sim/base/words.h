#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Nothing for what is no word of it.
template <class E>
[[nodiscard]] constexpr std::optional<E> value_named(std::string_view word) {
  for (const auto& [known, value] : kWords<E>) {
    if (known == word) return value;
  }
  return std::nullopt;
}

/// As options list them.
template <class E>
[[nodiscard]] std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (const auto& [word, unused] : kWords<E>) words.emplace_back(word);
  return words;
}

}  // namespace headway
