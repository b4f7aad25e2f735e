#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/join_words.h"
#include "sim/files/json_reader.h"

namespace headway {

std::optional<std::vector<std::size_t>> ObjectReader::choices(
    std::string_view key, const std::vector<std::string_view>& words, bool required) {
  const std::string help = fmt::format("use some of {}", join_words(words, ", "));
  const std::optional<JsonCursor> given = required ? required_part(key) : part(key);
  if (!given) return std::nullopt;
  std::vector<std::size_t> chosen;
  for (const JsonCursor& element : elements(key)) {
    const nlohmann::json& value = element.value();
    const auto known = value.is_string()
                           ? std::ranges::find(words, value.get_ref<const std::string&>())
                           : words.end();
    const auto index = static_cast<std::size_t>(known - words.begin());
    if (known == words.end()) {
      diagnostics_.add(
          element.problem(fmt::format("{} has none like this", key), "not one of them", help));
    } else if (std::ranges::find(chosen, index) != chosen.end()) {
      diagnostics_.add(element.problem(fmt::format("{} names one twice", key), "named before",
                                       "leave one of the two out"));
    } else {
      chosen.push_back(index);
    }
  }
  if (given->is_array() && given->value().empty()) {
    report(key, fmt::format("{} has to name at least one", key), "empty", help);
  }
  return chosen;
}

std::optional<std::vector<std::int64_t>> ObjectReader::integers(std::string_view key, Range range,
                                                                bool required) {
  const std::optional<JsonCursor> given = required ? required_part(key) : part(key);
  if (!given) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const JsonCursor& element : elements(key)) {
    const nlohmann::json& value = element.value();
    const bool fits = value.is_number_integer() && value >= range.least && value <= range.most;
    if (!fits) {
      diagnostics_.add(element.problem(
          fmt::format("{} has whole numbers, {:.0f} to {:.0f} each", key, range.least, range.most),
          "not one of them", fmt::format("for example {:.0f}", std::max(range.least, 1.0))));
    }
    // Whoever reads on, for what else is wrong, may count on the range.
    values.push_back(fits ? value.get<std::int64_t>() : static_cast<std::int64_t>(range.least));
  }
  return values;
}

}  // namespace headway
