#include "sim/jobs/rules/strategy_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/jobs/strategy.h"

namespace headway {

bool StrategyRule::depends_on(std::string_view field) const {
  return std::ranges::find(fields, field) != fields.end() ||
         std::ranges::find(besides, field) != besides.end();
}

const std::vector<StrategyRule>& strategy_rules() {
  static const std::vector<StrategyRule> kRules = [] {
    std::vector<StrategyRule> all;
    const auto add = [&all](const std::vector<StrategyRule>& rules) {
      all.insert(all.end(), rules.begin(), rules.end());
    };
    for (const auto& rules : {tensor_rules(), pipeline_rules(), expert_rules(), sharding_rules(),
                              optimizer_rules(), option_rules()}) {
      add(rules);
    }
    for (const SynchronisationPointer& scheme : synchronisation_schemes()) add(scheme->rules());
    add(compression_rules());
    add(table_rules());
    return all;
  }();
  return kRules;
}

std::string nearest_help(std::int64_t wanted, std::int64_t most,
                         const std::function<bool(std::int64_t)>& is_valid) {
  constexpr std::int64_t kFarthest = 1'000'000;  // nobody has more of anything to split by
  most = std::min(most, kFarthest);
  std::string help;
  for (std::int64_t below = std::min(wanted - 1, most); below >= 1; --below) {
    if (!is_valid(below)) continue;
    help = fmt::format("use {}", below);
    break;
  }
  for (std::int64_t above = wanted + 1; above <= most; ++above) {
    if (is_valid(above)) return help + fmt::format("{} {}", help.empty() ? "use" : " or", above);
  }
  return help;
}

}  // namespace headway
