#include "reports/answers/shared_fabric_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "reports/document/markdown_document.h"
#include "sim/files/json_text.h"
#include "sim/result/json/read_result.h"
#include "sim/result/json/result_json.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::HasSubstr;

SharedFabric sample_fabric() {
  return {{{.job = "this job",
            .from = 0.0,
            .to = 7200.0,
            .accelerators = 64,
            .alone = 2_s,
            .shared = 2.5_s,
            .samples = 512.0},
           {.job = "a | b",
            .from = 3600.0,
            .accelerators = 8,
            .alone = 10_ms,
            .shared = 11_ms,
            .samples = 16.0}}};
}

TEST(SharedFabricReport, TextHasARowForEachStay) {
  const std::string text = shared_fabric_text(sample_fabric());
  EXPECT_THAT(text, HasSubstr("this job"));
  EXPECT_THAT(text, HasSubstr("1.250"));
  EXPECT_THAT(text, HasSubstr("1.100"));
  EXPECT_THAT(text, HasSubstr("end"));
}

TEST(SharedFabricReport, JsonHasSecondsAndNullForNoEnd) {
  Prediction p = sample_prediction();
  p.shared_fabric = sample_fabric();
  const nlohmann::json written = result_json(p).at("shared_fabric");
  const nlohmann::json& first = written["stays"][0];
  EXPECT_EQ(first["job"], "this job");
  EXPECT_EQ(first["to_s"], 7200.0);
  EXPECT_EQ(first["alone_s"], 2.0);
  EXPECT_EQ(first["iteration_time_s"], 2.5);
  EXPECT_EQ(first["slowdown"], 1.25);
  EXPECT_TRUE(written["stays"][1]["to_s"].is_null());
  // 7200 s / 2.5 s x 512
  EXPECT_EQ(written["totals"][0]["samples"], 1474560.0);
}

TEST(SharedFabricReport, ReadsBackTheSame) {
  Prediction p = sample_prediction();
  p.shared_fabric = sample_fabric();
  const std::string text = result_json_text(p);
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse("result", text, diagnostics);
  const Prediction back = read_result(JsonCursor(document), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(result_json_text(back), text);
}

// A job that is slowed down for two hours and alone from then on is not drawn as if it never was.
TEST(SharedFabricReport, TheChartHasTheSlowestStretchOfEachJob) {
  SharedFabric shared = sample_fabric();
  SharedFabric::Stay alone = shared.stays[0];
  alone.from = 7200.0;
  alone.to = std::numeric_limits<double>::infinity();
  alone.shared = alone.alone;
  shared.stays.push_back(alone);
  const DocumentSection section = shared_fabric_section(shared);
  const auto& chart = std::get<Chart>(std::get<Figure>(section.blocks.front()).picture);
  EXPECT_THAT(chart.labels, testing::ElementsAre("this job", "a | b"));
  EXPECT_THAT(chart.series.front().values, testing::ElementsAre(testing::DoubleNear(25.0, 1e-9),
                                                                testing::DoubleNear(10.0, 1e-9)));
}

TEST(SharedFabricReport, NamesAreEscaped) {
  Document document;
  document.sections.push_back(shared_fabric_section(sample_fabric()));
  EXPECT_THAT(markdown_of(document), HasSubstr("a \\| b"));
}

}  // namespace
}  // namespace headway
