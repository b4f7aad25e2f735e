#include "reports/answers/reliability_report.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "reports/document/markdown_document.h"
#include "sim/result/json/read_result.h"
#include "sim/result/json/result_json.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::HasSubstr;

ReliabilityPrediction sample_failures() {
  return {.runs = 3,
          .ettr = {0.95, 0.94, 0.95, 0.96},
          .goodput = {0.93, 0.92, 0.93, 0.94},
          .tokens_per_second = 2.5e6,
          .time_to_train_s = {864000.0, 950400.0, 1036800.0},
          .interruptions = {100.0, 84.0, 100.0, 116.0},
          .job_mttf = 9504_s,
          .interruptions_by_cause = {{"GPU", 80.0}, {"bug", 20.0}},
          .lost_gpu_hours_by_cause = {{"GPU", 900.0}, {"bug", 100.0}},
          .lost_gpu_hours = {{"lost_work", 700.0}, {"restart", 300.0}, {"reduced_speed", 0.0}},
          .interval_by = "daly",
          .checkpoint_interval = 250_s,
          .young_interval = 260_s,
          .daly_interval = 250_s,
          .checkpoint_size = Bytes(5.67e12),
          .checkpoint_blocking = 2.8_s};
}

TEST(ReliabilityReport, TextSaysWhatIsReachedAndWhatIsLost) {
  EXPECT_EQ(reliability_text(sample_failures()),
            "  over weeks    goodput 93.0 % (92.0 .. 94.0), ETTR 95.0 %, 100 interruptions (84 .. "
            "116), one every 2.64 h\n"
            "  checkpoints   5.16 TiB every 4.17 min of training (daly), which stands still 2.8 s "
            "for each\n"
            "\n"
            "  GPU-hours lost to  hours\n"
            "  work done again      700\n"
            "  restart              300\n"
            "\n");
}

TEST(ReliabilityReport, AMeanThatRareOutagesPullOutOfItsRangeIsCalledOne) {
  ReliabilityPrediction skewed = sample_failures();
  skewed.goodput = {0.91, 0.92, 0.93, 0.94};
  EXPECT_THAT(reliability_text(skewed),
              HasSubstr("goodput 91.0 % on average (nine of ten runs 92.0 .. 94.0), ETTR"));
}

TEST(ReliabilityReport, NothingThatInterruptsIsSaid) {
  ReliabilityPrediction quiet = sample_failures();
  quiet.interruptions = {};
  quiet.lost_gpu_hours.clear();
  quiet.time_to_train_s.clear();
  EXPECT_THAT(reliability_text(quiet), HasSubstr("ETTR 95.0 %, nothing interrupts it\n"));
}

TEST(ReliabilityReport, ADocumentHasCausesToo) {
  const std::string text =
      markdown_of({.title = "t", .lead = "", .sections = {reliability_section(sample_failures())}});
  EXPECT_THAT(text, HasSubstr("## Over weeks"));
  EXPECT_THAT(text, HasSubstr("| GPU "));
}

TEST(ReliabilityReport, JsonReadsBack) {
  Prediction written = sample_prediction();
  written.reliability = sample_failures();
  written.iteration_interval = {written.iteration_time.count(), written.iteration_time.count()};
  written.reliability->time_to_train_s.back() = std::numeric_limits<double>::infinity();
  (*written.question.scenario)["reliability"] = {{"train_tokens", 2e12}};
  const nlohmann::json result = result_json(written);
  EXPECT_EQ(result.at("goodput"), 0.93);
  EXPECT_NEAR(result.at("time_to_train_s").at("p50").get<double>(), 950400.0, 1e-3);
  EXPECT_EQ(result.at("objective"), "run_time_s");
  EXPECT_TRUE(result.at("time_to_train_s").at("mean").is_null());

  Diagnostics diagnostics;
  const auto text = JsonDocument::parse("result", result.dump(), diagnostics);
  const Prediction back = read_result(JsonCursor(text), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(result_json(back), result);
}

}  // namespace
}  // namespace headway
