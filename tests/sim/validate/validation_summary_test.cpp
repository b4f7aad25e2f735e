#include "sim/validate/validation_summary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/validate/validation_filter.h"

namespace headway {
namespace {

ValidationRow row(std::string id, std::string group, double error, std::int64_t accelerators = 8) {
  ValidationRow made;
  made.id = std::move(id);
  made.group = std::move(group);
  made.kind = "dense";
  made.accelerator = "H100";
  made.accelerators = accelerators;
  made.published_s = 1.0;
  made.predicted_s = 1.0 + error;
  made.interval_s = {0.9 * (1.0 + error), 1.1 * (1.0 + error)};
  return made;
}

TEST(ValidationSummary, AGroupCountsOnceWithTheMeansOfItsRows) {
  // Rows: |error| 0.02, 0.04, 0.30; mean 0.12, bias (0.02 - 0.04 + 0.30) / 3.
  // Groups: g (0.03; bias -0.01) and h (0.30): mean 0.165, bias (-0.01 + 0.30) / 2.
  // Inside its interval are the first two: 2/3 of the rows, 1/2 of the groups.
  const auto all =
      summaries({row("a", "g", 0.02), row("b", "g", -0.04), row("c", "h", 0.30)}).front();
  EXPECT_EQ(all.group, "all");
  EXPECT_EQ(all.rows.count, 3);
  EXPECT_NEAR(all.rows.mean, 0.12, 1e-12);
  EXPECT_NEAR(all.rows.median, 0.04, 1e-12);
  EXPECT_NEAR(all.rows.p90, 0.30, 1e-12);
  EXPECT_NEAR(all.rows.worst, 0.30, 1e-12);
  EXPECT_NEAR(all.rows.bias, 0.28 / 3.0, 1e-12);
  EXPECT_NEAR(all.rows.covered, 2.0 / 3.0, 1e-12);
  EXPECT_EQ(all.groups.count, 2);
  EXPECT_NEAR(all.groups.mean, 0.165, 1e-12);
  EXPECT_NEAR(all.groups.bias, 0.145, 1e-12);
  EXPECT_NEAR(all.groups.covered, 0.5, 1e-12);
}

TEST(ValidationSummary, RefusedRowsAreCountedAndOtherwiseLeftOut) {
  ValidationRow refused = row("b", "g", 0.5);
  refused.predicted_s.reset();
  refused.refused = "no";
  const auto all = summaries({row("a", "g", 0.1), refused}).front();
  EXPECT_EQ(all.rows.count, 1);
  EXPECT_EQ(all.refused, 1);
  EXPECT_NEAR(all.rows.mean, 0.1, 1e-12);
}

TEST(ValidationSummary, ScalesAreBandsOfPowersOfEightInOrder) {
  std::vector<std::string> bands;
  for (const ValidationSummary& summary :
       summaries({row("a", "a", 0, 1024), row("b", "b", 0, 8), row("c", "c", 0, 9),
                  row("d", "d", 0, 64), row("e", "e", 0, 11200)})) {
    if (summary.by == "scale") bands.push_back(summary.group);
  }
  EXPECT_EQ(bands, (std::vector<std::string>{"1..8", "9..64", "513..4096", "4097..32768"}));
}

TEST(ValidationFilter, EveryPartMustAllowARow) {
  ValidationFilter filter;
  filter.id_prefixes = {"a"};
  filter.words["gpu"] = {"H100", "H200"};
  filter.scales = {scale_range("..8")};
  EXPECT_TRUE(is_kept(row("ab", "g", 0), filter));
  EXPECT_FALSE(is_kept(row("b", "g", 0), filter));
  EXPECT_FALSE(is_kept(row("ab", "g", 0, 16), filter));
  filter.words["gpu"] = {"B200"};
  EXPECT_FALSE(is_kept(row("ab", "g", 0), filter));
}

TEST(ValidationFilter, ScalesAreNumbersOrRanges) {
  EXPECT_EQ(scale_range("64").least, 64);
  EXPECT_EQ(scale_range("64").most, 64);
  EXPECT_EQ(scale_range("..64").least, 1);
  EXPECT_EQ(scale_range("65..1024").most, 1024);
  EXPECT_EQ(scale_range("1025..").least, 1025);
  for (const char* wrong : {"", "..", "5..4", "0", "x", "1..2..3", "-3"}) {
    EXPECT_THROW(static_cast<void>(scale_range(wrong)), InputError) << wrong;
  }
}

TEST(ValidationFilter, WordsThatNoRowHasAreRefusedAllAtOnce) {
  ValidationFilter filter;
  filter.id_prefixes = {"x"};
  filter.words["gpu"] = {"H10"};
  try {
    check_filter(filter, {row("a", "g", 0)});
    FAIL();
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 2U);
    EXPECT_EQ(error.diagnostics()[0].message, R"(no row's id begins with "x")");
    EXPECT_EQ(error.diagnostics()[1].message, R"(no row has accelerator "H10")");
    EXPECT_EQ(error.diagnostics()[1].help, R"(did you mean "H100"?)");
  }
}

TEST(ValidationFilter, AnEmptyIntersectionIsRefused) {
  ValidationFilter filter;
  filter.scales = {scale_range("9..")};
  EXPECT_THROW(check_filter(filter, {row("a", "g", 0)}), InputError);
}

}  // namespace
}  // namespace headway
