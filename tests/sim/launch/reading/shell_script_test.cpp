// What a shell would hand to the programs of a script.
#include "sim/launch/reading/shell_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const std::vector<ShellWord>& command) {
  std::vector<std::string> words;
  for (const ShellWord& word : command) words.push_back(word.text);
  return words;
}

/// The words of the last command.
std::vector<std::string> last(std::string_view script) {
  const ShellScript read = read_shell_script(script);
  return read.commands.empty() ? std::vector<std::string>{} : texts(read.commands.back());
}

TEST(ShellScript, FillsVariablesIn) {
  EXPECT_THAT(last("TP=4\nrun --tp $TP --pp ${TP}x"),
              ElementsAre("run", "--tp", "4", "--pp", "4x"));
  EXPECT_THAT(last("export A=1 B='2 3'\nrun $A \"$B\" $B"),
              ElementsAre("run", "1", "2 3", "2", "3"));
  EXPECT_THAT(last("ARGS=\"--a 1 \\\n  --b 2\"\nrun $ARGS"),
              ElementsAre("run", "--a", "1", "--b", "2"));
}

TEST(ShellScript, KeepsNamesThatNobodySet) {
  EXPECT_THAT(last("run --seed $SEED"), ElementsAre("run", "--seed", "$SEED"));
  EXPECT_THAT(last("run $1 \"$@\" end"), ElementsAre("run", "end"));
  EXPECT_THAT(last("run \"\" \"$@\"a"), ElementsAre("run", "", "a"));
}

TEST(ShellScript, TakesDefaults) {
  EXPECT_THAT(last("run ${TP:-8} ${PP-2}"), ElementsAre("run", "8", "2"));
  EXPECT_THAT(last("TP=4\nrun ${TP:-8}"), ElementsAre("run", "4"));
  EXPECT_THAT(last("TP=\nrun ${TP:-8} a${TP-8}"), ElementsAre("run", "8", "a"));
  EXPECT_THAT(last("N=2\nrun ${TP:-${N}}"), ElementsAre("run", "2"));
  EXPECT_THAT(last("N=2\nrun ${N:+set} ${M:+set} end"), ElementsAre("run", "set", "end"));
}

TEST(ShellScript, CalculatesWithWholeNumbers) {
  EXPECT_THAT(last("G=8\nN=${NODES:-4}\nrun $(($G*$N)) $((G / 2 - 1)) $(( (G + N) % 5 ))"),
              ElementsAre("run", "32", "3", "2"));
  EXPECT_EQ(shell_arithmetic("-2 * -(3 + 4)", {}), "14");
  EXPECT_EQ(shell_arithmetic("7 / 0", {}), "");
  EXPECT_EQ(shell_arithmetic("7 +", {}), "");
  EXPECT_EQ(shell_arithmetic("UNKNOWN * 2", {}), "");
  EXPECT_EQ(shell_arithmetic("999999999 * 999999999", {}), "");
  EXPECT_EQ(shell_arithmetic(std::string(100'000, '('), {}), "");
}

TEST(ShellScript, ReadsArraysOverLines) {
  const std::string script =
      "A=(\n  --layers 4   # deep\n\n  --hidden \"8\"\n)\nA+=(--last)\nrun ${A[@]} \"${A[@]}\"";
  EXPECT_THAT(last(script), ElementsAre("run", "--layers", "4", "--hidden", "8", "--last",
                                        "--layers", "4", "--hidden", "8", "--last"));
  const ShellScript read = read_shell_script(script);
  EXPECT_EQ(read.commands.back()[1].line, 2);
  EXPECT_EQ(read.commands.back()[3].line, 4);
}

TEST(ShellScript, GoesOnBehindBackslashesAndLeavesTheRestAlone) {
  EXPECT_THAT(last("A=1 torchrun \\\n  --a $A \\\n  b.py > log.txt 2>&1 # end"),
              ElementsAre("torchrun", "--a", "1", "b.py"));
  const ShellScript read = read_shell_script("a 1 | b 2 && c 3; (d 4)");
  ASSERT_EQ(read.commands.size(), 4U);
  EXPECT_THAT(texts(read.commands[1]), ElementsAre("b", "2"));
  EXPECT_THAT(texts(read.commands[3]), ElementsAre("d", "4"));
  EXPECT_THAT(last("cat <<'END' > f\n--not a command\nEND\nrun it"), ElementsAre("run", "it"));
  EXPECT_THAT(last("N=$(hostname | wc -l)\nrun a$N `date` b"), ElementsAre("run", "a", "", "b"));
}

TEST(ShellScript, TellsWhereFlagsDependOnConditions) {
  const ShellScript read = read_shell_script(
      "A=\"--a\"\nif [ $X = 1 ]; then\n  A+=\" --b\"\n  Y=2\nelse\n  A=\"--c\"\nfi\nA=\"$A "
      "--d\"\n");
  EXPECT_THAT(read.conditional_lines, ElementsAre(3, 6));
}

TEST(ShellScript, NeverGrowsOrHangs) {
  std::string doubling = "A=--aaaaaaaa\n";
  for (int i = 0; i < 80; ++i) doubling += "A=\"$A $A\"\n";
  EXPECT_THAT(read_shell_script(doubling).commands, IsEmpty());
  for (const std::string_view broken : {"A=(", "\"", "'", "${", "$((", "$(", "`", "\\", "<<",
                                        "A=", "run ${A:-${B:-${C:-", "))", "<<<", "${}", "$"}) {
    static_cast<void>(read_shell_script(broken));
  }
}

}  // namespace
}  // namespace headway
