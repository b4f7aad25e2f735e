#include "sim/cli/help/help.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "sim/base/utf8.h"
#include "sim/base/wrap_text.h"
#include "sim/cli/options/parse_arguments.h"

namespace headway {
namespace {

constexpr std::size_t kScreenLines = 44;  // what is left of a small terminal window

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void expect_fits(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text)) {
    EXPECT_LE(character_count(line), kHelpWidth) << name << ": " << line;
  }
}

/// The words of a line that needs no quoting, without "headway COMMAND".
std::vector<std::string> arguments_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return {words.begin() + 2, words.end()};
}

TEST(Help, OverviewFitsAScreenAndNamesEveryCommand) {
  expect_fits(overview(), "overview");
  EXPECT_LE(lines_of(overview()).size(), kScreenLines);
  for (const Command& command : commands()) {
    EXPECT_NE(overview().find("\n  " + command.name), std::string::npos) << command.name;
  }
}

TEST(Help, ShortHelpFitsAScreen) {
  for (const Command& command : commands()) {
    expect_fits(short_help(command), command.name);
    EXPECT_LE(lines_of(short_help(command)).size(), kScreenLines) << command.name;
  }
}

TEST(Help, FullHelpAddsToTheShortOne) {
  for (const Command& command : commands()) {
    expect_fits(full_help(command), command.name);
    EXPECT_NE(full_help(command).find("Exit codes:"), std::string::npos) << command.name;
    EXPECT_NE(full_help(command).find("HEADWAY_DATA_DIR"), std::string::npos) << command.name;
  }
}

TEST(Help, EveryOptionIsShown) {
  for (const Command& command : commands()) {
    for (const Option& option : command.options) {
      EXPECT_NE(short_help(command).find("--" + option.name), std::string::npos)
          << command.name << " --" << option.name;
    }
  }
}

TEST(Help, EveryCommandHasTwoExamplesThatItUnderstands) {
  for (const Command& command : commands()) {
    EXPECT_EQ(command.examples.size(), 2U) << command.name;
    for (const Example& example : command.examples) {
      EXPECT_TRUE(example.line.starts_with("headway " + command.name)) << example.line;
      EXPECT_NO_THROW(static_cast<void>(parse_arguments(command, arguments_of(example.line))))
          << example.line;
    }
  }
}

TEST(Options, NamesAndLettersAreUniqueInACommand) {
  for (const Command& command : commands()) {
    std::set<std::string> names;
    std::set<char> letters;
    for (const Option& option : command.options) {
      EXPECT_TRUE(names.insert(option.name).second) << command.name << " --" << option.name;
      if (option.letter == '\0') continue;
      EXPECT_TRUE(letters.insert(option.letter).second) << command.name << " -" << option.letter;
    }
  }
}

TEST(Options, TheSameNameMeansTheSameInEveryCommand) {
  // `anchor` is told a time, `validate` a file of them.
  const std::set<std::string> differing = {"measured"};
  std::map<std::string, const Option*> first;
  for (const Command& command : commands()) {
    for (const Option& option : command.options) {
      if (differing.contains(option.name)) continue;
      const auto [known, is_new] = first.try_emplace(option.name, &option);
      EXPECT_EQ(known->second->letter, option.letter) << command.name << " --" << option.name;
      const bool names_folder = option.value == "DIR";  // a sweep's output
      if (names_folder) continue;
      EXPECT_EQ(known->second->value, option.value) << command.name << " --" << option.name;
    }
  }
}

TEST(WrappedText, BreaksAtSpacesOnly) {
  const std::string word(30, 'w');
  EXPECT_EQ(wrapped_text(word + " " + word + " " + word, 2, 0),
            word + " " + word + "\n  " + word + "\n");
  EXPECT_EQ(wrapped_text("one", 2, 0), "one\n");
}

TEST(WrappedText, ALabelWithoutRoomStandsAlone) {
  EXPECT_EQ(labelled("ab", "text", 4), "ab  text\n");
  EXPECT_EQ(labelled("abc", "text", 4), "abc\n    text\n");
}

}  // namespace
}  // namespace headway
