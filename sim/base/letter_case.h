#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace headway {

/// With small letters for capital ones; ASCII.
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// As a sentence begins; ASCII. Empty stays empty.
[[nodiscard]] inline std::string with_capital(std::string text) {
  if (!text.empty()) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  }
  return text;
}

}  // namespace headway
