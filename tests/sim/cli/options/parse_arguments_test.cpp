#include "sim/cli/options/parse_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

using testing::ElementsAre;

Command sample_command() {
  Command command;
  command.name = "cook";
  command.arguments = "DISH";
  command.options = {
      {.name = "salt", .letter = 's', .value = "GRAMS", .help = "how much"},
      {.name = "spice", .value = "NAME", .help = "which", .repeatable = true},
      {.name = "done", .value = "WHEN", .help = "when", .words = {"rare", "well"}},
      {.name = "hot", .letter = 'x', .help = "serve hot"},
      {.name = "cold", .help = "serve cold", .excludes = {"hot", "done"}},
  };
  command.least_arguments = 1;
  command.most_arguments = 2;
  return command;
}

/// What is said of a wrong command line.
std::string problem_with(const std::vector<std::string>& words) {
  try {
    static_cast<void>(parse_arguments(sample_command(), words));
  } catch (const InputError& error) {
    std::string text;
    for (const Diagnostic& problem : error.diagnostics()) {
      text += (text.empty() ? "" : "; ") + problem.message;
      if (!problem.help.empty()) text += " (" + problem.help + ")";
    }
    return text;
  }
  return "none";
}

TEST(ParseArguments, WhatDoesNotGoTogetherIsTold) {
  EXPECT_EQ(problem_with({"soup", "--done", "well", "-x", "--cold"}),
            "--cold does not go with --hot (leave one of them out); "
            "--cold does not go with --done (leave one of them out)");
  EXPECT_EQ(problem_with({"soup", "--done", "well", "-x"}), "none");
}

TEST(ParseArguments, AFieldWrittenAsAnOptionIsShownAsASet) {
  Command command = sample_command();
  const auto help = [&](const std::string& option) {
    try {
      static_cast<void>(parse_arguments(command, {"soup", option, "4"}));
    } catch (const InputError& error) {
      return error.diagnostics().front().help;
    }
    return std::string("none");
  };
  EXPECT_EQ(help("--nodes"), "`headway cook -h` shows the options");
  command.options.push_back({.name = "set", .value = "POINTER=VALUE", .help = "changes a field"});
  EXPECT_EQ(help("--nodes"), "a field of the scenario: write --set /cluster/nodes=VALUE");
  EXPECT_EQ(help("--tensor-parallel"),
            "a field of the scenario: write --set /strategy/tensor_parallel=VALUE");
}

TEST(ParseArguments, WhereFewWordsWillDoTheyAreNamed) {
  Command command = sample_command();
  command.words = {"soup", "stew"};
  try {
    static_cast<void>(parse_arguments(command, {}));
    FAIL() << "DISH is missing";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().help,
              "one of soup, stew; `headway cook -h` shows examples");
  }
}

TEST(ParseArguments, OptionsStandAnywhereAndValuesInEveryForm) {
  const Arguments arguments = parse_arguments(
      sample_command(), {"-s5", "soup", "--spice=thyme", "-x", "--spice", "mint", "bowl"});
  EXPECT_EQ(arguments.value("salt"), "5");
  EXPECT_TRUE(arguments.has("hot"));
  EXPECT_FALSE(arguments.has("done"));
  EXPECT_THAT(arguments.values("spice"), ElementsAre("thyme", "mint"));
  EXPECT_THAT(arguments.positional(), ElementsAre("soup", "bowl"));
}

TEST(ParseArguments, ADashIsAnArgumentAndTwoEndTheOptions) {
  EXPECT_THAT(parse_arguments(sample_command(), {"-", "--", "--hot"}).positional(),
              ElementsAre("-", "--hot"));
}

TEST(ParseArguments, AValueMayBeginWithADashOrHoldEqualsSigns) {
  const Arguments arguments =
      parse_arguments(sample_command(), {"soup", "-s", "-5", "--spice", "/a=b=c"});
  EXPECT_EQ(arguments.value("salt"), "-5");
  EXPECT_EQ(arguments.value("spice"), "/a=b=c");
}

TEST(ParseArguments, ASwitchMayBeGivenTwice) {
  EXPECT_TRUE(parse_arguments(sample_command(), {"soup", "-x", "-x"}).has("hot"));
}

TEST(ParseArguments, AbbreviationsAreNotGuessed) {
  EXPECT_EQ(problem_with({"soup", "--sal", "5"}),
            "unknown option \"--sal\" (did you mean --salt? `headway cook -h` shows the options)");
}

TEST(ParseArguments, UnknownShortOptionsAreNamed) {
  EXPECT_EQ(problem_with({"soup", "-q"}),
            "unknown option \"-q\" (`headway cook -h` shows the options)");
}

TEST(ParseArguments, AMissingValueIsToldWithWhatItWouldBe) {
  EXPECT_EQ(problem_with({"soup", "--salt"}), "--salt needs a value (--salt GRAMS: how much)");
  EXPECT_EQ(problem_with({"soup", "-s"}), "--salt needs a value (--salt GRAMS: how much)");
  EXPECT_EQ(problem_with({"soup", "--salt="}), "--salt needs a value (--salt GRAMS: how much)");
}

TEST(ParseArguments, ASwitchTakesNoValue) {
  EXPECT_EQ(problem_with({"soup", "--hot=very"}),
            "--hot takes no value (`headway cook -h` shows the options)");
}

TEST(ParseArguments, SeveralProblemsAreToldAtOnce) {
  EXPECT_EQ(problem_with({"--done", "raw", "--salt", "1", "--salt", "2"}),
            "--done cannot be \"raw\" (there are rare, well); --salt is given twice; "
            "cook needs DISH (`headway cook -h` shows examples)");
}

TEST(ParseArguments, TooManyArgumentsAreNamed) {
  EXPECT_EQ(problem_with({"soup", "bowl", "spoon"}),
            "\"spoon\" is one argument too many: `headway cook DISH` "
            "(`headway cook -h` shows examples)");
}

TEST(Arguments, WholeNumbersAreHeldToTheirRange) {
  const Arguments arguments = parse_arguments(sample_command(), {"soup", "-s", "12"});
  EXPECT_EQ(arguments.integer("salt", 0, 12), 12);
  EXPECT_THROW(static_cast<void>(arguments.integer("salt", 0, 11)), InputError);
  EXPECT_EQ(parse_arguments(sample_command(), {"soup"}).integer("salt", 0, 11), std::nullopt);
}

TEST(Arguments, WholeNumbersAreNothingElse) {
  for (const char* text :
       {"", " 1", "1 ", "+1", "1.0", "1e3", "0x1", "one", "99999999999999999999"}) {
    EXPECT_EQ(whole_number_in(text, 0, 1000), std::nullopt) << text;
  }
}

TEST(Arguments, AskingForAnOptionThatTheTableLacksIsABug) {
  const Arguments arguments = parse_arguments(sample_command(), {"soup"});
  EXPECT_THROW(static_cast<void>(arguments.has("pepper")), InternalError);
}

}  // namespace
}  // namespace headway
