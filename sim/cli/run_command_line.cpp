#include "sim/cli/run_command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>

#include "sim/base/diagnostic.h"
#include "sim/base/shell_text.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/failure.h"
#include "sim/cli/help/completion.h"
#include "sim/cli/help/help.h"
#include "sim/cli/interrupt.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/limit_option.h"
#include "sim/cli/options/parse_arguments.h"

namespace headway {
namespace {

/// Whether one of `wanted` stands among the words that may be options.
bool asks_for(const std::vector<std::string>& words, std::initializer_list<const char*> wanted) {
  const auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end, [&](const std::string& word) {
    return std::ranges::find(wanted, word) != wanted.end();
  });
}

std::string line_of(const std::vector<std::string>& words) {
  std::string line = "headway";
  for (const std::string& word : words) line += " " + shell_quoted(word);
  return line;
}

/// `headway`, `headway -h`, `headway --version`: what needs no command. Nothing if there is one.
std::optional<int> run_without_command(const std::vector<std::string>& words, Terminal& terminal) {
  const bool starts_with_option = !words.empty() && words.front().starts_with('-');
  if (!words.empty() && !starts_with_option) return std::nullopt;
  if (words.empty() || asks_for(words, {"-h", "--help"})) {
    terminal.print(overview());
    return kExitDone;
  }
  if (asks_for(words, {"--version"})) {
    terminal.print(version_text(asks_for(words, {"-v", "--verbose"})));
    return kExitDone;
  }
  refuse(fmt::format("{} stands where the name of a command is expected", words.front()),
         "options follow the command: `headway COMMAND [OPTION]...`; `headway -h` lists "
         "the commands");
}

int run_words(const std::vector<std::string>& words, Terminal& terminal, FailureContext& context) {
  if (const auto code = run_without_command(words, terminal)) return *code;
  if (words.front() == "__complete") {  // for the shells' completions, which hide it
    terminal.print(candidates({words.begin() + 1, words.end()}));
    return kExitDone;
  }
  if (words.front() == "help") {
    terminal.print(words.size() == 1 ? overview() : full_help(command_named(words[1])));
    return kExitDone;
  }
  const Command& command = command_named(words.front());
  context.outcome = command.outcome;
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (asks_for(rest, {"--help"})) {
    terminal.print(full_help(command));
    return kExitDone;
  }
  if (asks_for(rest, {"-h"})) {
    terminal.print(short_help(command));
    return kExitDone;
  }
  const Arguments arguments = parse_arguments(command, rest);
  if (const auto colour = arguments.value("color"))
    terminal.set_colour(value_named<When>(*colour).value());
  terminal.set_quiet(arguments.has("quiet"));
  terminal.set_verbose(arguments.has("verbose"));
  set_limits(arguments);
  end_on_interrupt(line_of(words));
  return command.run({command, arguments, terminal, context.scenario_fingerprint});
}

}  // namespace

int run_command_line(const std::vector<std::string>& words) {
  FailureContext context{.outcome = "nothing was done", .scenario_fingerprint = {}};
  std::optional<Terminal> terminal;
  try {
    terminal.emplace();
    return run_words(words, *terminal, context);
  } catch (...) {
    try {
      if (!terminal) terminal.emplace(Terminal::plain());
      return report_failure(*terminal, context);
    } catch (const std::bad_alloc&) {
      constexpr std::string_view kNoMemory = "error: there is not enough memory\n";
      static_cast<void>(!::write(STDERR_FILENO, kNoMemory.data(), kNoMemory.size()));
      return kExitEnvironment;
    }
  }
}

}  // namespace headway
