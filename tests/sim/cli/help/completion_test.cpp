#include "sim/cli/help/completion.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>

#include "sim/cli/command.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/help/help.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using testing::HasSubstr;

/// What a shell prints for a script.
std::string output_of_bash(const std::string& script) {
  const ScratchFolder scratch;
  const std::string command =
      "bash " + scratch.write("completion.bash", bash_completion() + script) + " 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 4096> buffer{};
  while (fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) output += buffer.data();
  return output;
}

/// What bash offers after `words`, the last of which is being typed.
std::string offered(const std::string& words, int last) {
  return output_of_bash(fmt::format(
      "COMP_WORDS=({}); COMP_CWORD={}; _headway; echo \"${{COMPREPLY[*]}}\"\n", words, last));
}

TEST(BashCompletion, OffersCommandsThenTheirOptionsThenTheirWords) {
  EXPECT_EQ(offered("headway simu", 1), "simulate\n");
  EXPECT_EQ(offered("headway simulate x --replic", 3), "--replicas\n");
  EXPECT_EQ(offered("headway simulate x --color a", 4), "auto always\n");
  EXPECT_EQ(offered("headway completion z", 2), "zsh\n");
  EXPECT_EQ(offered("headway simulate x -o a", 4), "\n");  // left to the shell: a file
}

TEST(BashCompletion, KnowsEveryCommandAndOption) {
  for (const Command& command : commands()) {
    EXPECT_THAT(" " + offered("headway ''", 1), HasSubstr(command.name));
    const std::string options = offered(fmt::format("headway {} --", command.name), 2);
    for (const Option& option : command.options) {
      EXPECT_THAT(options, HasSubstr("--" + option.name)) << command.name;
    }
  }
}

TEST(ZshCompletion, KnowsEveryCommandAndOption) {
  const std::string text = zsh_completion();
  EXPECT_TRUE(text.starts_with("#compdef headway\n"));
  for (const Command& command : commands()) {
    EXPECT_THAT(text, HasSubstr("'" + command.name + ":"));
    const std::size_t begin = text.find("\n    " + command.name + ")\n");
    ASSERT_NE(begin, std::string::npos) << command.name;
    const std::string part = text.substr(begin, text.find(";;", begin) - begin);
    for (const Option& option : command.options) {
      EXPECT_THAT(part, HasSubstr("--" + option.name + "[")) << command.name;
    }
  }
}

TEST(FishCompletion, KnowsEveryCommandAndOption) {
  const std::string text = fish_completion();
  for (const Command& command : commands()) {
    EXPECT_THAT(text, HasSubstr("-n __fish_use_subcommand -f -a " + command.name + " "));
    for (const Option& option : command.options) {
      EXPECT_THAT(text, HasSubstr(fmt::format("_seen_subcommand_from {}' -l {} ", command.name,
                                              option.name)));
    }
  }
}

/// As man(7) writes them.
std::string with_hyphens(std::string text) {
  for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  return text;
}

TEST(ManPage, HasEveryCommandOptionExitCodeAndVariable) {
  const std::string page = man_page();
  for (const Command& command : commands()) {
    const std::size_t begin = page.find(".SS \"headway " + with_hyphens(command.name));
    ASSERT_NE(begin, std::string::npos) << command.name;
    const std::string part = page.substr(begin, page.find("\n.S", begin + 1) - begin);
    for (const Option& option : command.options) {
      EXPECT_THAT(part, HasSubstr(with_hyphens("--" + option.name))) << command.name;
    }
  }
  for (const ExitCodeText& code : exit_codes()) {
    EXPECT_THAT(page, HasSubstr(fmt::format(".B {}\n", static_cast<int>(code.code))));
  }
  for (const HelpTerm& variable : environment_terms()) {
    EXPECT_THAT(page, HasSubstr(fmt::format(".B {}\n", variable.name)));
  }
}

TEST(ManPage, NoLineOfTextIsAControlLineByChance) {
  std::istringstream page(man_page());
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with('.') && !line.starts_with('\'')) continue;
    EXPECT_THAT(line, testing::MatchesRegex("\\.(TH|SH|SS|TP|B|I|PP|nf|fi|RS|RE)( .*)?")) << line;
  }
}

}  // namespace
}  // namespace headway
