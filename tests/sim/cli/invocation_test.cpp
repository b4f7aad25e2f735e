#include "sim/cli/invocation.h"

#include <gtest/gtest.h>

#include "sim/cli/command.h"
#include "sim/cli/options/parse_arguments.h"
#include "sim/cli/progress.h"

namespace headway {
namespace {

std::string line_of(const std::vector<std::string>& words) {
  const Command& command = command_named("simulate");
  const Arguments arguments = parse_arguments(command, words);
  Terminal terminal = Terminal::plain();
  std::string fingerprint;
  return Invocation{command, arguments, terminal, fingerprint}.reproducing_line();
}

TEST(ReproducingLine, HasWhatChangesTheResultAndNothingElse) {
  EXPECT_EQ(line_of({"-j8", "s.json", "--json", "-o", "x.md", "--seed=3", "--color", "never", "-v",
                     "--set", "/a=1", "--set", "/b=2"}),
            "headway simulate s.json --seed 3 --set /a=1 --set /b=2");
}

TEST(ReproducingLine, IsQuotedForAShell) {
  EXPECT_EQ(line_of({"my file.json", "--set", "/name=it's"}),
            "headway simulate 'my file.json' --set '/name=it'\\''s'");
}

TEST(DurationText, GrowsIntoMinutesAndHours) {
  EXPECT_EQ(duration_text(0.85), "850 ms");
  EXPECT_EQ(duration_text(84.9), "1:24");
  EXPECT_EQ(duration_text(7385.0), "2:03:05");
}

}  // namespace
}  // namespace headway
