#include "sim/launch/reading/megatron_layout.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "sim/base/parse_number.h"

namespace headway {
namespace {

// Letters of a layout that is written out: more than any model has layers.
constexpr std::size_t kMostLetters = 100'000;

/// Takes a "*12"; 1 where there is none, nothing for what is no such number.
std::optional<std::size_t> take_times(std::string_view& rest) {
  if (!rest.starts_with('*')) return 1;
  std::size_t length = 1;
  while (length < rest.size() && std::isdigit(static_cast<unsigned char>(rest[length])) != 0) {
    ++length;
  }
  const auto times = parse_number<std::size_t>(rest.substr(1, length - 1));
  rest.remove_prefix(length);
  return times && *times <= kMostLetters ? times : std::nullopt;
}

/// Letters and bars, each as often as it says; brackets hold no brackets.
std::optional<std::string> written_out(std::string_view rest) {
  std::string text;
  while (!rest.empty()) {
    std::string part(1, rest.front());
    if (rest.front() == '(') {
      const std::size_t end = rest.find(')');
      if (end == std::string_view::npos) return std::nullopt;
      const std::string_view inside = rest.substr(1, end - 1);
      if (inside.find('(') != std::string_view::npos) return std::nullopt;
      const auto inner = written_out(inside);
      if (!inner) return std::nullopt;
      part = *inner;
      rest.remove_prefix(end + 1);
    } else {
      rest.remove_prefix(1);
    }
    const auto times = take_times(rest);
    if (!times || text.size() + part.size() * *times > kMostLetters) return std::nullopt;
    for (std::size_t i = 0; i < *times; ++i) text += part;
  }
  return text;
}

}  // namespace

std::vector<int> layers_of_layout(std::string_view layout) {
  std::string plain(layout);
  std::erase_if(plain, [](char c) { return c == ' ' || c == ','; });
  const auto text = written_out(plain);
  if (!text || text->find_first_not_of("EtmL|") != std::string::npos) return {};
  std::vector<int> layers = {0};
  for (const char letter : *text) {
    if (letter == '|') layers.push_back(0);
    if (letter == 't') ++layers.back();
  }
  const bool has_layers = std::ranges::any_of(layers, [](int count) { return count > 0; });
  return has_layers ? layers : std::vector<int>{};
}

}  // namespace headway
