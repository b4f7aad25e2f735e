#include "sim/cli/options/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/parse_number.h"
#include "sim/base/utf8.h"

namespace headway {

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
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

}  // namespace headway
