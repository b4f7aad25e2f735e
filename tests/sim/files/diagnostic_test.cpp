#include "sim/base/diagnostic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway {
namespace {

using testing::HasSubstr;

Diagnostic divisibility_problem() {
  return {.message = "tensor_parallel must divide the attention heads",
          .location = {.file = "scenarios/gpt3.json",
                       .line = 14,
                       .column = 24,
                       .length = 2,
                       .line_text = "    \"tensor_parallel\": 10,"},
          .pointer = "/strategy/tensor_parallel",
          .label = "10 does not divide 96",
          .related = {{.location = {.file = "scenarios/gpt3.json", .line = 6, .column = 24},
                       .pointer = "/model/attention_heads",
                       .message = "is 96"}},
          .help = "use 8 or 12"};
}

TEST(DiagnosticText, ShowsTheSpotTheReasonAndTheRemedy) {
  EXPECT_EQ(rendered(divisibility_problem()),
            "error: tensor_parallel must divide the attention heads\n"
            "  --> scenarios/gpt3.json:14:24   /strategy/tensor_parallel\n"
            "   |\n"
            "14 |     \"tensor_parallel\": 10,\n"
            "   |                        ^^ 10 does not divide 96\n"
            "   |\n"
            "  ::: scenarios/gpt3.json:6:24   /model/attention_heads is 96\n"
            "  help: use 8 or 12\n");
}

TEST(DiagnosticText, MarginGrowsWithTheLineNumber) {
  Diagnostic problem = divisibility_problem();
  problem.location.line = 12345;
  problem.related.clear();
  EXPECT_EQ(rendered(problem),
            "error: tensor_parallel must divide the attention heads\n"
            "     --> scenarios/gpt3.json:12345:24   /strategy/tensor_parallel\n"
            "      |\n"
            "12345 |     \"tensor_parallel\": 10,\n"
            "      |                        ^^ 10 does not divide 96\n"
            "     help: use 8 or 12\n");
}

TEST(DiagnosticText, WithoutALineTheLabelFollowsThePlace) {
  EXPECT_EQ(rendered({.message = "tensor_parallel must be at least 1",
                      .location = {.file = "--set /tensor_parallel=0"},
                      .pointer = "/tensor_parallel",
                      .label = "0"}),
            "error: tensor_parallel must be at least 1\n"
            "  --> --set /tensor_parallel=0   /tensor_parallel: 0\n");
}

TEST(DiagnosticText, WithoutAPlaceOnlyTheMessageIsLeft) {
  EXPECT_EQ(rendered({.severity = Severity::warning, .message = "the profile is old"}),
            "warning: the profile is old\n");
}

TEST(DiagnosticText, LongLinesAreCutAroundTheSpot) {
  // 300 characters, the spot at 201: characters 141 to 300 remain, and the spot is the 61st.
  const std::string line = std::string(200, 'a') + "X" + std::string(99, 'b');
  EXPECT_EQ(
      rendered(
          {.message = "m",
           .location = {.file = "f", .line = 1, .column = 201, .length = 1, .line_text = line}}),
      "error: m\n"
      "  --> f:1:201\n"
      "   |\n"
      " 1 | ..." +
          std::string(60, 'a') + "X" + std::string(99, 'b') +
          "\n"
          "   | " +
          std::string(63, ' ') + "^\n");
  EXPECT_THAT(
      rendered(
          {.message = "m",
           .location = {.file = "f", .line = 1, .column = 1, .length = 500, .line_text = line}}),
      HasSubstr(" 1 | " + std::string(160, 'a') + "...\n   | " + std::string(160, '^') + "\n"));
}

TEST(DiagnosticText, UnderlineOutsideTheLineStaysBesideIt) {
  EXPECT_THAT(
      rendered(
          {.message = "m",
           .location = {.file = "f", .line = 1, .column = 99, .length = 9, .line_text = "ab"}}),
      HasSubstr(" 1 | ab\n   |   ^\n"));
}

TEST(DiagnosticText, InputCannotSendTerminalCodes) {
  EXPECT_EQ(
      rendered({.message = "bad \x1b[2J",
                .location =
                    {.file = "f\n", .line = 1, .column = 2, .length = 1, .line_text = "\tx\x07"}}),
      "error: bad \xEF\xBF\xBD[2J\n"
      "  --> f\xEF\xBF\xBD:1:2\n"
      "   |\n"
      " 1 |  x\xEF\xBF\xBD\n"
      "   |  ^\n");
}

TEST(DiagnosticText, ColourChangesNothingButColour) {
  std::string text = rendered(divisibility_problem(), true);
  EXPECT_THAT(text, HasSubstr("\x1b[1;31merror\x1b[0m: "));
  for (std::size_t code = text.find('\x1b'); code != std::string::npos; code = text.find('\x1b')) {
    text.erase(code, text.find('m', code) + 1 - code);
  }
  EXPECT_EQ(text, rendered(divisibility_problem()));
}

TEST(DiagnosticList, ClosesWithTheNumberOfProblems) {
  const Diagnostic first{.message = "a", .location = {.file = "x.json"}};
  const Diagnostic second{.message = "b", .location = {.file = "y.json"}};
  const Diagnostic warning{
      .severity = Severity::warning, .message = "w", .location = {.file = "z"}};
  EXPECT_EQ(rendered({first, warning, second, first}, "nothing was simulated."),
            "error: a\n  --> x.json\n\n"
            "warning: w\n  --> z\n\n"
            "error: b\n  --> y.json\n\n"
            "error: a\n  --> x.json\n\n"
            "3 problems in 2 files; nothing was simulated.\n");
  EXPECT_EQ(rendered(std::vector{first}, "nothing was simulated"),
            "error: a\n  --> x.json\n\n1 problem in 1 file; nothing was simulated.\n");
}

TEST(DiagnosticList, AnOverrideIsNoFile) {
  EXPECT_EQ(rendered(std::vector{Diagnostic{.message = "a", .location = {.file = "--set /x=1"}}},
                     "stop."),
            "error: a\n  --> --set /x=1\n\n1 problem; stop.\n");
}

TEST(DiagnosticList, WarningsAloneHaveNoClosing) {
  EXPECT_EQ(
      rendered(std::vector{Diagnostic{.severity = Severity::warning, .message = "w"}}, "stop."),
      "warning: w\n");
  EXPECT_EQ(rendered(std::vector<Diagnostic>{}, "stop."), "");
}

TEST(Diagnostics, ThrowAllOfThemIfThereIsAnError) {
  Diagnostics diagnostics;
  diagnostics.add({.severity = Severity::warning, .message = "w"});
  EXPECT_NO_THROW(diagnostics.throw_if_errors());
  diagnostics.add(divisibility_problem());
  diagnostics.append(diagnostics);
  try {
    diagnostics.throw_if_errors();
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().size(), 4U);
    EXPECT_STREQ(error.what(),
                 "scenarios/gpt3.json:14:24: tensor_parallel must divide the attention heads "
                 "(and 1 more)");
  }
}

TEST(Check, NamesThePlaceAndTheCondition) {
  HEADWAY_CHECK(true, "never built");
  try {
    HEADWAY_CHECK(1 + 1 == 3, "sums are wrong");
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("diagnostic_test.cpp:"));
    EXPECT_THAT(error.what(), HasSubstr("sums are wrong (1 + 1 == 3 does not hold)"));
  }
}

}  // namespace
}  // namespace headway
