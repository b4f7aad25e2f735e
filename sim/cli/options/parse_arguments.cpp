#include "sim/cli/options/parse_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <set>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/file_text.h"
#include "sim/base/join_words.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/reference/explain.h"

namespace headway {
namespace {

namespace po = boost::program_options;

std::string see_help(const Command& command) {
  return fmt::format("`headway {} -h` shows the options", command.name);
}

po::options_description description_of(const Command& command) {
  po::options_description description;
  for (const Option& option : command.options) {
    std::string names = option.name;
    if (option.letter != '\0') names += fmt::format(",{}", option.letter);
    if (option.value.empty()) {
      description.add_options()(names.c_str(), "");
    } else {
      description.add_options()(names.c_str(), po::value<std::vector<std::string>>(), "");
    }
  }
  return description;
}

/// "/strategy/tensor_parallel" of "--tensor-parallel": people write fields as options. Nothing
/// where no field of a scenario's main parts is called so.
std::optional<std::string> field_named(std::string option) {
  option.erase(0, option.find_first_not_of('-'));
  std::ranges::replace(option, '-', '_');
  for (const Topic* const topic : topics_named(option, topics())) {
    for (const std::string_view part : {"strategy.", "cluster.", "run.", "cost."}) {
      if (topic->kind != TopicKind::field || topic->name != std::string(part) + option) continue;
      std::string pointer = "/" + topic->name;
      std::ranges::replace(pointer, '.', '/');
      return pointer;
    }
  }
  return std::nullopt;
}

std::string unknown_option_help(const Command& command, const std::string& word) {
  std::vector<std::string> names;
  names.reserve(command.options.size());
  for (const Option& option : command.options) names.push_back("--" + option.name);
  const std::string name = word.substr(0, word.find('='));
  const bool takes_fields = std::ranges::count(names, "--set") > 0;
  if (const auto field = takes_fields ? field_named(name) : std::nullopt) {
    return fmt::format("a field of the scenario: write --set {}=VALUE", *field);
  }
  const auto meant = closest(name, {names.begin(), names.end()});
  return (meant ? fmt::format("did you mean {}? ", *meant) : "") + see_help(command);
}

/// The option that Boost complains of; it names it with or without dashes.
const Option* find_option(const Command& command, std::string name) {
  name.erase(0, name.find_first_not_of('-'));
  const auto found = std::ranges::find_if(command.options, [&](const Option& option) {
    return option.name == name || (name.size() == 1 && name.front() == option.letter);
  });
  return found == command.options.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_syntax(const Command& command,
                                const po::invalid_command_line_syntax& error) {
  const Option* const option = find_option(command, error.get_option_name());
  const std::string name = option != nullptr ? "--" + option->name : error.get_option_name();
  using Kind = po::invalid_syntax;
  switch (error.kind()) {
    case Kind::missing_parameter:
    case Kind::empty_adjacent_parameter:
      refuse(fmt::format("{} needs a value", name),
             option != nullptr ? fmt::format("{} {}: {}", name, option->value, option->help)
                               : see_help(command));
    case Kind::extra_parameter:
      refuse(fmt::format("{} takes no value", name), see_help(command));
    default:
      refuse(fmt::format("the command line cannot be understood: {}", error.what()),
             see_help(command));
  }
}

po::parsed_options parsed(const Command& command, const std::vector<std::string>& words,
                          const po::options_description& options) {
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    return po::command_line_parser(words).options(options).style(style).run();
  } catch (const po::unknown_option& error) {
    const std::string word = error.get_option_name();
    refuse(fmt::format("unknown option {}", in_quotes(word)), unknown_option_help(command, word));
  } catch (const po::invalid_command_line_syntax& error) {
    refuse_syntax(command, error);
  } catch (const po::error& error) {
    refuse(fmt::format("the command line cannot be understood: {}", error.what()),
           see_help(command));
  }
}

void check_use(const Option& option, const Arguments::Use& use, std::set<std::string>& seen,
               Diagnostics& diagnostics) {
  Diagnostic problem;
  if (!seen.insert(option.name).second && !option.repeatable && !option.value.empty()) {
    problem.message = fmt::format("--{} is given twice", option.name);
    diagnostics.add(problem);
  }
  if (option.words.empty() || std::ranges::find(option.words, use.value) != option.words.end()) {
    return;
  }
  problem.message = fmt::format("--{} cannot be {}", option.name, in_quotes(use.value));
  problem.help = name_help(use.value, option.words);
  diagnostics.add(problem);
}

/// What does not go together.
void check_company(const Command& command, const std::set<std::string>& seen,
                   Diagnostics& diagnostics) {
  for (const Option& option : command.options) {
    if (!seen.contains(option.name)) continue;
    for (const std::string& other : option.excludes) {
      if (!seen.contains(other)) continue;
      diagnostics.add({.message = fmt::format("--{} does not go with --{}", option.name, other),
                       .help = "leave one of them out"});
    }
  }
}

void check_count(const Command& command, const std::vector<std::string>& positional,
                 Diagnostics& diagnostics) {
  Diagnostic problem;
  problem.help = fmt::format("`headway {} -h` shows examples", command.name);
  if (!command.words.empty()) {
    problem.help = fmt::format("one of {}; {}", join_words(command.words, ", "), problem.help);
  }
  if (positional.size() < command.least_arguments) {
    problem.message = fmt::format("{} needs {}", command.name, command.arguments);
    diagnostics.add(problem);
  }
  for (std::size_t i = command.most_arguments; i < positional.size(); ++i) {
    problem.message =
        fmt::format("{} is one argument too many: `headway {}`", in_quotes(positional[i]),
                    command.name + (command.arguments.empty() ? "" : " " + command.arguments));
    diagnostics.add(problem);
  }
}

}  // namespace

Arguments parse_arguments(const Command& command, const std::vector<std::string>& words) {
  const po::options_description options = description_of(command);
  std::vector<Arguments::Use> uses;
  std::vector<std::string> positional;
  std::set<std::string> seen;
  Diagnostics diagnostics;
  for (const po::option& given : parsed(command, words, options).options) {
    if (given.position_key >= 0 || given.string_key.empty()) {
      positional.insert(positional.end(), given.value.begin(), given.value.end());
      continue;
    }
    const Option* const option = find_option(command, given.string_key);
    HEADWAY_CHECK(option != nullptr, "Boost found an option that is not in the table");
    uses.push_back({option->name, given.value.empty() ? "" : given.value.front()});
    check_use(*option, uses.back(), seen, diagnostics);
  }
  check_company(command, seen, diagnostics);
  check_count(command, positional, diagnostics);
  diagnostics.throw_if_errors();
  return {command.options, std::move(uses), std::move(positional)};
}

}  // namespace headway
