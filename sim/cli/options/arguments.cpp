#include "sim/cli/options/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/utf8.h"

namespace headway {

void refuse(std::string message, std::string help) {
  Diagnostic problem;
  problem.message = std::move(message);
  problem.help = std::move(help);
  throw InputError(std::move(problem));
}

Arguments::Arguments(const std::vector<Option>& table, std::vector<Use> uses,
                     std::vector<std::string> positional)
    : uses_(std::move(uses)), positional_(std::move(positional)) {
  for (const Option& option : table) known_.push_back(option.name);
}

bool Arguments::has(std::string_view option) const {
  HEADWAY_CHECK(std::ranges::find(known_, option) != known_.end(),
                fmt::format("the command has no option {}", option));
  return std::ranges::find(uses_, option, &Use::option) != uses_.end();
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  if (!has(option)) return std::nullopt;
  return std::ranges::find(uses_, option, &Use::option)->value;
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  std::vector<std::string> values;
  if (!has(option)) return values;
  for (const Use& use : uses_) {
    if (use.option == option) values.push_back(use.value);
  }
  return values;
}

std::optional<std::int64_t> Arguments::integer(std::string_view option, std::int64_t least,
                                               std::int64_t most) const {
  const std::optional<std::string> text = value(option);
  if (!text) return std::nullopt;
  if (const auto number = whole_number_in(*text, least, most)) return number;
  refuse(fmt::format("--{} needs a whole number from {} to {}, not {}", option, least, most,
                     in_quotes(*text)));
}

std::optional<std::int64_t> whole_number_in(std::string_view text, std::int64_t least,
                                            std::int64_t most) {
  const std::string digits(text);
  const char* const end = digits.c_str() + digits.size();
  std::int64_t number = 0;
  const auto [stopped, problem] = std::from_chars(digits.c_str(), end, number);
  const bool is_whole = problem == std::errc() && stopped == end;
  if (!is_whole || number < least || number > most) return std::nullopt;
  return number;
}

}  // namespace headway
