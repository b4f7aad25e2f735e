#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/help/completion.h"
#include "sim/cli/help/help.h"
#include "sim/scenario/provenance.h"

namespace headway {
namespace {

/// Text as man(7) shows it: a backslash is one, a hyphen stays one that can be copied, and no line
/// starts with a control character.
std::string roff(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  const bool is_control = !safe.empty() && (safe.front() == '.' || safe.front() == '\'');
  return is_control ? "\\&" + safe : safe;
}

std::string term(const std::string& name, std::string_view meaning) {
  return fmt::format(".TP\n.B {}\n{}\n", name, roff(meaning));
}

std::string option_name(const Option& option) {
  std::string name = "--" + option.name;
  if (option.letter != '\0') name = fmt::format("-{}, {}", option.letter, name);
  if (!option.value.empty()) name += " " + option.value;
  return roff(name);
}

std::string command_part(const Command& command) {
  std::string text =
      fmt::format(".SS \"headway {} {}\"\n{}\n.PP\n{}\n", roff(command.name),
                  roff(command.arguments), roff(command.about), roff(command.details));
  for (const Option& option : command.options) {
    text += term(option_name(option), option_text(option) + ".");
  }
  for (const Example& example : command.examples) {
    text +=
        fmt::format(".PP\n.nf\n.RS\n{}\n.RE\n.fi\n{}.\n", roff(example.line), roff(example.about));
  }
  return text;
}

}  // namespace

std::string man_page() {
  std::string text = fmt::format(
      ".TH HEADWAY 1 \"\" \"headway {}\" \"User Commands\"\n"
      ".SH NAME\n"
      "headway \\- predicts how fast a model trains on a cluster\n"
      ".SH SYNOPSIS\n"
      ".B headway\n"
      ".I COMMAND\n"
      "[\\fIOPTION\\fR]...\n"
      ".SH DESCRIPTION\n"
      "Predicts throughput, memory and what limits a training job, from a scenario that names the "
      "model, the cluster, what things cost and how the work is split. Results go to standard "
      "output, all else to standard error.\n"
      ".SH COMMANDS\n",
      headway_version());
  for (const Command& command : commands()) text += command_part(command);
  text += ".SH EXIT STATUS\n";
  for (const ExitCodeText& code : exit_codes()) {
    text += term(fmt::format("{}", static_cast<int>(code.code)),
                 fmt::format("{}: {}", code.name, code.meaning));
  }
  text += ".SH ENVIRONMENT\n";
  for (const HelpTerm& variable : environment_terms()) {
    text += term(std::string(variable.name), variable.meaning);
  }
  return text + fmt::format(".SH FILES\n{}\n", roff(files_text()));
}

}  // namespace headway
