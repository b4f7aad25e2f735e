#include "reports/answers/study_document.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/document/html_document.h"
#include "reports/document/markdown_document.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The sample at another size and speed.
StudyPoint point(int gpus, int stages, double tokens_per_second) {
  Prediction p = sample_prediction();
  p.question.accelerators = gpus;
  p.tokens_per_second = tokens_per_second;
  return {{{"gpus", std::to_string(gpus)}, {"pipeline_parallel", std::to_string(stages)}}, p, ""};
}

/// From 1024 to 4096 GPUs, four times as many, 400 k become 1.28 M tokens/s: 3.2-fold, 80 %.
Study sample_study() {
  Study study{.name = "a <sweep>", .command_line = "headway sweep my.json -o s"};
  study.points = {point(1024, 4, 400e3), point(1024, 8, 380e3), point(4096, 8, 1.28e6)};
  Prediction short_of_memory;
  short_of_memory.question = sample_prediction().question;
  short_of_memory.memory.fits = false;
  study.points.push_back({{{"gpus", "4096"}, {"pipeline_parallel", "4"}},
                          short_of_memory,
                          "stage 0 needs 90 GiB of 80 GiB"});
  study.points.push_back(
      {{{"gpus", "1024"}, {"pipeline_parallel", "5"}}, std::nullopt, "5 does not divide 96"});
  study.measured = {{2048, 700e3}};
  return study;
}

std::string markdown() { return markdown_of(study_document(sample_study())); }

TEST(StudyDocument, AnswersInWords) {
  EXPECT_THAT(markdown(),
              HasSubstr("5 points: 3 simulated, 1 does not fit in memory, 1 is not possible. The "
                        "fastest is gpus 4096, pipeline_parallel 8: 1.28 M tokens/s on 4096 GPUs. "
                        "From 1024 to 4096 GPUs, 4 times as many, throughput grows 3.2-fold: an "
                        "efficiency of 80.0 %."));
}

/// The iteration of 6.94 s may take 6.70 to 7.22 s: 400 k * 6.94 / 7.22 = 384 k, 414 k.
TEST(StudyDocument, ScalingHasTheBestOfEachSizeAndWhatWasMeasured) {
  const std::string text = markdown();
  EXPECT_THAT(text, HasSubstr("\n| 1024 | 400 k | 384 k .. 414 k |  | 100.0 | 47.0 |"));
  EXPECT_THAT(text, HasSubstr("\n| 2048 |  |  | 700 k |"));
  EXPECT_THAT(text, HasSubstr("\n| 4096 | 1.28 M | 1.23 M .. 1.33 M |  | 80.0 | 47.0 |"));
}

/// 400 k / 1024 = 391 and 1.28 M / 4096 = 313 tokens a second of each GPU.
TEST(StudyDocument, TheMapTellsWhyAPlaceIsEmpty) {
  const std::string text = markdown();
  EXPECT_THAT(text, HasSubstr("\n| pipeline_parallel by gpus | 1024 | 4096 |\n"));
  EXPECT_THAT(text, HasSubstr("\n| 4 | 391 | does not fit |\n| 8 | 371 | 312 |\n"
                              "| 5 | not possible |  |\n"));
  EXPECT_THAT(text, HasSubstr("- pipeline_parallel 4, gpus 4096: stage 0 needs 90 GiB of 80 "
                              "GiB\n"));
  EXPECT_THAT(text, HasSubstr("- pipeline_parallel 5, gpus 4096: not tried\n"));
}

TEST(StudyDocument, WithoutAnyThatRunsItSaysSo) {
  Study study = sample_study();
  study.points.erase(study.points.begin(), study.points.begin() + 3);
  const std::string text = markdown_of(study_document(study));
  EXPECT_THAT(text, HasSubstr("None of them can run."));
  EXPECT_THAT(text, Not(HasSubstr("## Scaling")));
  EXPECT_THAT(text, HasSubstr("## All points"));
}

/// What grows with points is a row of a table each and a place in figures.
TEST(StudyDocument, APageOfManyPointsStaysSmall) {
  Study study = sample_study();
  for (int i = 0; i < 1000; ++i) study.points.push_back(point(1024 + i, 8, 400e3 + i));
  const std::size_t grown =
      html_of(study_document(study)).size() - html_of(study_document(sample_study())).size();
  EXPECT_LT(grown, 1'500'000U);  // 1.5 kB each, most of them of 1000 different sizes
}

TEST(StudyDocument, CsvHasARowAPoint) {
  std::ostringstream written;
  write_study_csv(sample_study(), written);
  const std::string csv = written.str();
  EXPECT_THAT(csv, testing::StartsWith("axis gpus,axis pipeline_parallel,reason,model,cluster,"));
  EXPECT_THAT(csv, HasSubstr("\n1024,4,,gpt3-175b,"));
  EXPECT_THAT(csv, HasSubstr("\n1024,5,5 does not divide 96\n"));
}

TEST(StudyDocument, JsonHoldsEveryResult) {
  const nlohmann::json document = nlohmann::json::parse(study_json_text(sample_study()));
  EXPECT_EQ(document["schema"], "headway/study/1");
  EXPECT_EQ(document["points"].size(), 5U);
  EXPECT_EQ(document["points"][2]["result"]["tokens_per_s"], 1.28e6);
  EXPECT_TRUE(document["points"][4]["result"].is_null());
}

/// 400 k may be 384 k .. 414 k, 1.28 M 1.23 M .. 1.33 M.
TEST(StudyDocument, JudgesWhatWasMeasured) {
  Study study = sample_study();
  study.measured = {{1024, 410e3}, {4096, 1.30e6}};
  EXPECT_THAT(
      markdown_of(study_document(study)),
      HasSubstr("Measured throughput on 1024 GPUs is +2.5 % against the prediction; on 4096 "
                "GPUs is +1.6 % against the prediction. All 2 lie in their intervals."));
  study.measured = {{1024, 200e3}};
  EXPECT_THAT(
      markdown_of(study_document(study)),
      HasSubstr("Measured throughput on 1024 GPUs is -50.0 % against the prediction (outside "
                "its interval). `headway anchor` takes a"));
}

/// The sample with failures that leave so much of it.
StudyPoint with_spares(int spares, double goodput) {
  Prediction p = sample_prediction();
  p.reliability.emplace().goodput = {goodput, goodput - 0.01, goodput, goodput + 0.01};
  p.reliability->runs = 3;
  return {{{"/reliability/spare_nodes", std::to_string(spares)}}, p, ""};
}

TEST(StudyDocument, IsAboutWhatItsScenarioIsAbout) {
  Study study{.name = "spares"};
  study.points = {with_spares(0, 0.2), with_spares(8, 0.925), with_spares(16, 0.93)};
  const std::string text = markdown_of(study_document(study));
  EXPECT_THAT(text, HasSubstr("The best goodput has /reliability/spare_nodes 16: 93.0 % on 1024 "
                              "GPUs. The fewest within 1 % of it: 8, with 92.5 %; within 0.1 %: "
                              "16, with 93.0 %. What follows is of /reliability/spare_nodes 8."));
  EXPECT_THAT(text, HasSubstr("\n| /reliability/spare_nodes | goodput | 5th to 95th percentile |"));
  EXPECT_THAT(text, HasSubstr("\n| 0 | 20.0 % | 19.0 .. 21.0 % |\n"));
  const nlohmann::json choice = nlohmann::json::parse(study_json_text(study)).at("choice");
  EXPECT_EQ(choice.at("objective"), "goodput");
  EXPECT_EQ(choice.at("fewest").at("/reliability/spare_nodes"), "8");
}

/// Times of any unit make one curve; a word among them is a line of its own.
TEST(StudyDocument, DrawsEveryAxis) {
  Study study{.name = "checkpoints"};
  const std::vector<std::pair<std::string, double>> points = {
      {"2 h", 0.6}, {"30 min", 0.9}, {"daly", 0.92}, {"90 s", 0.91}};
  for (const auto& [interval, goodput] : points) {
    study.points.push_back(with_spares(1, goodput));
    study.points.back().axes = {{"/reliability/checkpoint/interval", interval}};
  }
  const std::string page = html_of(study_document(study));
  EXPECT_THAT(page, HasSubstr(R"("x":[1.5,30.0,120.0])"));
  EXPECT_THAT(page, HasSubstr(R"("x_title":"/reliability/checkpoint/interval, min")"));
  EXPECT_THAT(page, HasSubstr(R"("name":"daly","style":"dashed","values":[92.0,92.0,92.0])"));
  for (StudyPoint& point : study.points) point.axes = {{"preset", point.axes[0].second + "!"}};
  EXPECT_THAT(html_of(study_document(study)),
              HasSubstr(R"("labels":["2 h!","30 min!","daly!","90 s!"])"));
}

}  // namespace
}  // namespace headway
