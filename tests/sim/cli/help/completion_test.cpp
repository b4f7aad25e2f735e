#include "sim/cli/help/completion.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "sim/cli/command.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/help/help.h"

namespace headway {
namespace {

using testing::HasSubstr;

TEST(Completion, OffersCommandsThenTheirOptionsThenTheirWords) {
  EXPECT_EQ(candidates({"simu"}), "simulate\ttime, throughput, memory, and what limits them\n");
  EXPECT_EQ(candidates({"simulate", "x", "--replic"}), "--replicas\truns with other random draws\n");
  EXPECT_EQ(candidates({"simulate", "x", "--color", "a"}), "auto\t\nalways\t\n");
  EXPECT_EQ(candidates({"completion", "z"}), "zsh\t\n");
}

TEST(Completion, LeavesFilesToTheShell) {
  EXPECT_EQ(candidates({"simulate", "x", "-o", "a"}), "");
  EXPECT_EQ(candidates({"simulate", "sc"}), "");
  EXPECT_EQ(candidates({"nothing", "--"}), "");
  EXPECT_EQ(candidates({}), "");
}

TEST(Completion, KnowsEveryCommandAndOption) {
  for (const Command& command : commands()) {
    EXPECT_THAT("\n" + candidates({""}), HasSubstr("\n" + command.name + "\t"));
    const std::string options = "\n" + candidates({command.name, "-"});
    for (const Option& option : command.options) {
      EXPECT_THAT(options, HasSubstr("\n--" + option.name + "\t")) << command.name;
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
