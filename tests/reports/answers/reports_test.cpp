#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/answers/answers.h"
#include "reports/answers/validation/validation_report.h"
#include "reports/document/text_document.h"
#include "sim/predict/collective/collective_table.h"

namespace headway {
namespace {

/// Two sizes, of which the second is twice as fast in GB/s.
CollectiveReport sample_collective() {
  CollectiveReport report{.cluster = "lab", .nodes = 1, .ranks = 4};
  report.rows = {{.size = 1_MB,
                  .algorithm = CollectiveAlgorithm::tree,
                  .time = 100_us,
                  .algorithm_bandwidth = 10_GBps,
                  .bus_bandwidth = 15_GBps,
                  .closed_form = 80_us},
                 {.size = 1_GB,
                  .algorithm = CollectiveAlgorithm::ring,
                  .time = 50_ms,
                  .algorithm_bandwidth = 20_GBps,
                  .bus_bandwidth = 30_GBps,
                  .closed_form = 50_ms}};
  return report;
}

TEST(CollectiveText, HasTheColumnsOfNcclTestsAndItsLastLine) {
  // The average counts each size once: (15 + 30) / 2.
  EXPECT_EQ(collective_answer(sample_collective()).text({}),
            R"(# all_reduce of 4 ranks on 1 node of lab, hardware alone
     size(B)  algorithm  time(us)  algbw(GB/s)  busbw(GB/s)  closed form(us)  ratio
     1000000  tree          100.0        10.00        15.00            80.00  1.250
  1000000000  ring          50000        20.00        30.00            50000  1.000
# Avg bus bandwidth    : 22.5000
)");
}

TEST(CollectiveText, TellsNoTimesWhereNobodyKnowsThem) {
  const NcclDoubt doubt{.from = 1_KB, .below = 2_MB, .because = "tables differ"};
  CollectiveReport report = sample_collective();
  report.rows.front().doubt = &doubt;
  EXPECT_EQ(collective_answer(report).text({}),
            R"(# all_reduce of 4 ranks on 1 node of lab, hardware alone
     size(B)  algorithm  time(us)  algbw(GB/s)  busbw(GB/s)  closed form(us)  ratio
     1000000  tree              -            -            -                -      -
  1000000000  ring          50000        20.00        30.00            50000  1.000
# 976.6 KiB to 976.6 KiB: not told, as tables differ
# Avg bus bandwidth    : 30.0000
)");
  EXPECT_THAT(answer_as(".csv", collective_answer(report)),
              HasSubstr("\n1000000,tree,,,,,,tables differ\n1000000000,ring,,0.05,"));
}

TEST(CollectiveJson, IsInBaseUnits) {
  const nlohmann::json json =
      nlohmann::json::parse(answer_as(".json", collective_answer(sample_collective())));
  EXPECT_EQ(json.at("op"), "all_reduce");
  EXPECT_EQ(json.at("profile"), nullptr);
  EXPECT_EQ(json.at("average_bus_bandwidth_bytes_per_s"), 22.5e9);
  EXPECT_EQ(json.at("rows").at(1).at("size_bytes"), 1'000'000'000);
  EXPECT_EQ(json.at("rows").at(1).at("bus_bandwidth_bytes_per_s"), 30e9);
}

Validation sample_validation() {
  Validation validation;
  validation.rows = {{.id = "a",
                      .source = "paper",
                      .accelerators = 1024,
                      .published_s = 2.0,
                      .predicted_s = 1.9,
                      .interval_s = {1.8, 2.1}},
                     {.id = "b",
                      .source = "paper",
                      .accelerators = 8,
                      .published_s = 1.0,
                      .refused = "no profile"}};
  validation.summary = summaries(validation.rows);
  return validation;
}

TEST(ValidationText, ShowsErrorsAndReasons) {
  EXPECT_EQ(validation_text(sample_validation(), kUnbroken),
            R"(row   GPUs  published  predicted  error %  refused
a    1,024        2 s      1.9 s     -5.0
b        8        1 s                      no profile

|error| in %, each row counting once, then each group of near-identical rows:

     rows  refused  mean  median  p90  worst  bias  inside  groups  mean  median  bias
all     1        1   5.0     5.0  5.0    5.0  -5.0     100       1   5.0     5.0  -5.0

accelerators  rows  refused  mean  median  p90  worst  bias  inside  groups  mean  median  bias
1..8             0        1
513..4096        1        0   5.0     5.0  5.0    5.0  -5.0     100       1   5.0     5.0  -5.0

refused  because
      1  no profile
)");
}

TEST(ValidationText, StaysWithinItsColumnsAndShowsTheWorstOfMany) {
  Validation validation;
  for (int i = 0; i < 60; ++i) {
    ValidationRow row = sample_validation().rows.front();
    row.id = "a rather long name of a published row, number " + std::to_string(i);
    row.source = "alephalpha_layouts";
    row.predicted_s = 2.0 + 0.01 * i;
    validation.rows.push_back(row);
  }
  validation.summary = summaries(validation.rows);
  const std::string text = validation_text(validation, 80);
  EXPECT_TRUE(text.starts_with("The 12 rows furthest off of 60 (--json has all):\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(ValidationJson, HasAnErrorOrAReasonInEachRow) {
  const nlohmann::json json = validation_json(sample_validation());
  EXPECT_NEAR(json.at("rows").at(0).at("error").get<double>(), -0.05, 1e-12);
  EXPECT_EQ(json.at("rows").at(0).at("interval_s"), nlohmann::json({1.8, 2.1}));
  EXPECT_EQ(json.at("rows").at(1).at("refused"), "no profile");
  EXPECT_FALSE(json.at("rows").at(1).contains("predicted_s"));
  const auto refused = std::ranges::find_if(
      json.at("summary"), [](const nlohmann::json& group) { return group.at("rows") == 0; });
  ASSERT_NE(refused, json.at("summary").end());
  EXPECT_EQ(refused->at("bias"), nullptr);
}

TEST(ValidationPage, AnswersFirstAndSaysWhatIsRefused) {
  const std::string text = answer_as(".md", validation_answer(sample_validation()));
  EXPECT_TRUE(text.starts_with(
      "# Predictions against published training steps\n\n## Answer\n\nIn sample, "));
  EXPECT_THAT(text, ::testing::HasSubstr(" 2 published steps; 1 of them predicted, 1 refused."));
  EXPECT_LT(text.find("no profile"), text.find("What is not modelled"));
}

TEST(ValidationPage, HtmlHasEachPredictionAsAMarkAndEscapesNames) {
  Validation validation = sample_validation();
  validation.rows[0].id = "a<b";
  validation.rows[0].kind = "dense";
  const std::string html = answer_as(".html", validation_answer(validation));
  EXPECT_NE(html.find("<title>a&lt;b: published 2 s, predicted 1.9 s (-5.0 %)</title>"),
            std::string::npos);
  EXPECT_EQ(html.find("a<b"), std::string::npos);
}

}  // namespace
}  // namespace headway
