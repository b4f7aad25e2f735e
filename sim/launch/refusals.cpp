#include "sim/launch/refusals.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/files/json_text.h"

namespace headway {

void leave_unsaid(std::string_view flag, std::string_view field, std::string_view beside,
                  const nlohmann::json& strategy, FlagList& flags) {
  const auto removed = std::erase_if(
      flags.settings, [&](const std::string& setting) { return setting.starts_with(flag); });
  if (removed == 0) return;
  const std::string name(field);
  flags.unsaid.push_back(
      {name, fmt::format("{} beside {}", unquoted_json(strategy.at(name)), beside)});
}

}  // namespace headway
