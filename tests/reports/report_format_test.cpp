#include "reports/report_format.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

TEST(ReportFormat, IsKnownByTheSuffix) {
  EXPECT_EQ(format_of("out/result.json"), ReportFormat::json);
  EXPECT_EQ(format_of("a.b.md"), ReportFormat::markdown);
  EXPECT_EQ(format_of("RESULT.JSON"), ReportFormat::json);
  EXPECT_EQ(format_of("result.html"), ReportFormat::html);
  EXPECT_EQ(format_of("result.csv"), ReportFormat::csv);
  EXPECT_EQ(format_of("result.pdf"), std::nullopt);
  EXPECT_EQ(format_of("json"), std::nullopt);
  EXPECT_EQ(format_of(""), std::nullopt);
}

TEST(ReportFormat, EverySuffixHasADocument) {
  for (const std::string& suffix : report_suffixes()) {
    const std::optional<ReportFormat> format = format_of("report" + suffix);
    ASSERT_TRUE(format) << suffix;
    EXPECT_THAT(report_in(*format, sample_prediction()), testing::EndsWith("\n")) << suffix;
    const Study study{.name = "two", .points = {{{}, sample_prediction(), ""}}};
    EXPECT_THAT(report_in(*format, study), testing::EndsWith("\n")) << suffix;
  }
}

}  // namespace
}  // namespace headway
