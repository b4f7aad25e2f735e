// Profiles that older calibrations wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/costs/read_profile.h"
#include "tests/sim/costs/small_profile.h"

namespace headway {
namespace {

// They say of a kernel family what its optimizer moves: read, and told to say nothing.
TEST(CalibratedBefore, AnOptimizerOfAKernelFamilySaysNothing) {
  const std::string next = R"("attention_rate":)";
  std::string text = small_profile_text();
  text.insert(text.find(next),
              R"("optimizer_bytes_per_parameter": {"value": 26, "spread": 0, "source": "x"}, )");
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  ASSERT_TRUE(read_profile(JsonCursor(JsonDocument::parse("lab.json", text, diagnostics)), files));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  const Diagnostic& told = diagnostics.all().front();
  EXPECT_EQ(told.severity, Severity::warning);
  EXPECT_EQ(told.message, "\"optimizer_bytes_per_parameter\" of a kernel family says nothing");
  EXPECT_THAT(told.help, testing::HasSubstr("strategy.optimizer says what updates parameters"));
}

}  // namespace
}  // namespace headway
