#include "sim/cli/help/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/base/wrap_text.h"
#include "sim/cli/exit_codes.h"
#include "sim/engine/engine_version.h"
#include "sim/files/input_files.h"
#include "sim/scenario/provenance.h"

namespace headway {
namespace {

constexpr std::size_t kOptionColumn = 28;
constexpr std::size_t kOverviewColumn = 25;
constexpr std::size_t kTermColumn = 22;

constexpr std::array<std::pair<OptionGroup, std::string_view>, 4> kGroups = {{
    {OptionGroup::input, "Input"},
    {OptionGroup::run, "Run"},
    {OptionGroup::output, "Output"},
    {OptionGroup::help, "Help"},
}};

constexpr std::array<HelpTerm, 5> kEnvironment = {{
    {"COLUMNS", "that tables keep to, where the terminal does not say"},
    {"HEADWAY_COLOR", "auto, always or never, where --color does not say"},
    {"HEADWAY_JOBS", "simulations at a time, where --jobs does not say"},
    {"HEADWAY_DATA_DIR",
     "a folder with scenarios/, topologies/ and calibrate/profiles/ of your "
     "own, searched before what is installed"},
    {"NO_COLOR", "no colours if it is set to anything, where nothing above says otherwise"},
}};

constexpr std::string_view kFiles =
    "Scenarios, topologies, profiles and models are JSON. A name that is no file is looked for "
    "beside the file that uses it, then in the data folders: $HEADWAY_DATA_DIR, ../share/headway "
    "beside the program, the source tree it was built from. `headway list` shows what is there.";

std::string usage(const Command& command) {
  std::string text = "Usage: headway " + command.name;
  if (!command.arguments.empty()) text += " " + command.arguments;
  return text + " [OPTION]...\n";
}

std::string example_text(const Example& example) {
  constexpr std::size_t kIndent = 6;
  return "  " + example.line + "\n" + labelled("", example.about, kIndent);
}

std::string option_label(const Option& option) {
  std::string label = option.letter != '\0' ? fmt::format("  -{}, ", option.letter) : "      ";
  label += "--" + option.name;
  if (!option.value.empty()) label += " " + option.value;
  return label;
}

/// Who reads the short help has found it: its last line names what is left of that group.
std::string options_text(const Command& command, bool in_full) {
  std::string text;
  for (const auto& [group, title] : kGroups) {
    if (group == OptionGroup::help && !in_full) continue;
    std::string lines;
    for (const Option& option : command.options) {
      if (option.group != group) continue;
      lines += labelled(option_label(option), option_text(option), kOptionColumn);
    }
    if (!lines.empty()) text += fmt::format("\n{}:\n{}", title, lines);
  }
  return text;
}

std::string body(const Command& command, bool in_full) {
  std::string text = usage(command) + "\n" + wrapped_text(command.about, 0, 0) + "\nExamples:\n";
  for (const Example& example : command.examples) text += example_text(example);
  return text + options_text(command, in_full);
}

std::string reference_text() {
  std::string text = "\nExit codes:\n";
  for (const ExitCodeText& code : exit_codes()) {
    text += labelled(fmt::format("  {:>3}  {}", static_cast<int>(code.code), code.name),
                     code.meaning, kTermColumn + 14);
  }
  text += "\nEnvironment:\n";
  for (const auto& [name, meaning] : kEnvironment) {
    text += labelled(fmt::format("  {}", name), meaning, kTermColumn);
  }
  text += "\nLimits:\n";
  for (const NamedLimit& limit : named_limits()) {
    text += labelled(fmt::format("  {}", limit.name),
                     fmt::format("{} [{}]", limit.about, grouped_digits(Limits{}.*limit.value)),
                     kTermColumn);
  }
  return text + "\nFiles:\n  " + wrapped_text(kFiles, 2, 2);
}

}  // namespace

std::string option_text(const Option& option) {
  std::string text = option.help;
  if (option.repeatable) text += "; repeatable";
  if (!option.fallback.empty()) text += fmt::format(" [{}]", option.fallback);
  return text;
}

std::span<const HelpTerm> environment_terms() { return kEnvironment; }

std::string_view files_text() { return kFiles; }

std::string overview() {
  std::string text =
      "Headway predicts how fast a model trains on a cluster before it is bought:\n"
      "  headway simulate llama3_405b_16384 --set /strategy/virtual_stages=4 -o r.html\n\n";
  std::string group;
  for (const Command& command : commands()) {
    if (command.group != group) text += fmt::format("{}:\n", command.group);
    group = command.group;
    const std::string arguments = command.arguments.empty() ? "" : " " + command.arguments;
    text +=
        labelled(fmt::format("  {}{}", command.name, arguments), command.summary, kOverviewColumn);
  }
  return text +
         "\n`headway COMMAND -h` explains a command, `headway COMMAND --help` all of it.\n"
         "`headway --version` tells the version, with -v all that results depend on.\n";
}

std::string short_help(const Command& command) {
  return body(command, false) +
         fmt::format("\n`headway {} --help` adds details, exit codes and environment.\n",
                     command.name);
}

std::string full_help(const Command& command) {
  std::string text = body(command, true);
  text += "\nDetails:\n  " + wrapped_text(command.details, 2, 2);
  return text + reference_text();
}

std::string version_text(bool verbose) {
  std::string text = fmt::format("headway {}\n", headway_version());
  if (!verbose) return text;
  text += fmt::format("SimGrid {}: CM02, no cross-traffic, TCP-gamma off\n", engine_version());
  text += fmt::format("compiler {}\n", __VERSION__);
  for (const std::filesystem::path& folder : data_folders()) {
    text += fmt::format("data {}\n", folder.string());
  }
  return text;
}

}  // namespace headway
