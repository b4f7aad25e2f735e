#include "sim/cli/options/scenario_options.h"

namespace headway {
namespace {

constexpr std::int64_t kMostReplicas = 10'000;
constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;  // whole numbers that JSON keeps

}  // namespace

std::vector<Override> overrides_of(const Arguments& arguments, Diagnostics& diagnostics,
                                   const std::string& option) {
  std::vector<Override> overrides;
  for (const std::string& text : arguments.values(option)) {
    try {
      overrides.push_back(parse_override(text, "--" + option));
    } catch (const InputError& error) {
      for (const Diagnostic& problem : error.diagnostics()) diagnostics.add(problem);
    }
  }
  return overrides;
}

ScenarioOptions scenario_options_of(const Arguments& arguments, Diagnostics& diagnostics) {
  ScenarioOptions options;
  options.overrides = overrides_of(arguments, diagnostics);
  options.profile = arguments.value("profile");
  if (const auto seed = arguments.integer("seed", 0, kLargestSeed)) {
    options.seed = static_cast<std::uint64_t>(*seed);
  }
  if (const auto replicas = arguments.integer("replicas", 1, kMostReplicas)) {
    options.replicas = static_cast<int>(*replicas);
  }
  return options;
}

void show_warnings(const Diagnostics& diagnostics, Terminal& terminal) {
  if (diagnostics.all().empty()) return;
  terminal.narrate(rendered(diagnostics.all(), "", terminal.colours_errors()) + "\n");
}

}  // namespace headway
