#include "sim/cli/options/limit_option.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/base/file_text.h"
#include "sim/base/limits.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr std::int64_t kLargestLimit = std::int64_t{1} << 53;

void set_limit(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string name = text.substr(0, equals);
  const auto named = std::ranges::find(named_limits(), name, &NamedLimit::name);
  if (named == named_limits().end()) {
    std::vector<std::string> names;
    for (const NamedLimit& limit : named_limits()) names.emplace_back(limit.name);
    refuse(fmt::format("no limit is called {}", in_quotes(name)), name_help(name, names));
  }
  const std::string number = equals < text.size() ? text.substr(equals + 1) : "";
  const auto value = whole_number_in(number, 1, kLargestLimit);
  if (!value) {
    refuse(fmt::format("--limit {} needs a whole number from 1 to {}, not {}", name, kLargestLimit,
                       in_quotes(number)),
           fmt::format("it is the number of {}, now {}", named->about, limits().*named->value));
  }
  limits().*named->value = *value;
}

}  // namespace

Option limit_option() {
  return {.name = "limit",
          .value = "NAME=NUMBER",
          .help = "takes larger inputs: cables=8000000",
          .group = OptionGroup::input,
          .repeatable = true};
}

void set_limits(const Arguments& arguments) {
  for (const std::string& text : arguments.values("limit")) set_limit(text);
}

}  // namespace headway
