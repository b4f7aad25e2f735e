#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "sim/result/comparison.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::HasSubstr;

/// 6.94 s become 6.00 s: -13.5 %. Virtual stages take 0.5 s away in turn, the rest 0.44 s.
Comparison sample_comparison() {
  Comparison comparison{.name_a = "a.json", .name_b = "b.json"};
  comparison.a = sample_prediction();
  comparison.b = sample_prediction();
  comparison.b.iteration_time = 6_s;
  comparison.b.tokens_per_second = 524.2e3;
  comparison.b.breakdown[Cause::pipeline_bubble] = 0.1_s;
  using nlohmann::json;
  comparison.effects.push_back({.changes = {{"/strategy/virtual_stages", json(1), json(4)}},
                                .before = 6.94_s,
                                .after = 6.44_s,
                                .throughput_before = 453.2e3,
                                .throughput_after = 488.4e3,
                                .alone = -0.5_s,
                                .last = -0.2_s});
  comparison.effects.push_back(
      {.changes = {{"/model", json({{"name", "x"}}), json({{"name", "y"}})},
                   {"/strategy/recompute", json("none"), json(nullptr)}},
       .before = 6.44_s,
       .after = 6_s,
       .throughput_before = 488.4e3,
       .throughput_after = 524.2e3});
  comparison.notes = {"a note"};
  return comparison;
}

TEST(ComparisonDocument, TellsWhichInputMakesWhichPart) {
  const std::string text = answer_as(".md", comparison_answer(sample_comparison()));
  EXPECT_THAT(text, HasSubstr("# b.json against a.json\n"));
  EXPECT_THAT(text, HasSubstr("An iteration takes 6.94 s in A and 6.00 s in B (-13.5 %);"));
  EXPECT_THAT(text, HasSubstr("Most of it is due to /strategy/virtual_stages 1 -\\> 4: -0.50 s."));
  EXPECT_THAT(text, HasSubstr("| /strategy/virtual_stages 1 -\\> 4 | -0.50 | +7.8 % | -0.50 | "
                              "-0.20 |\n"));
  EXPECT_THAT(text, HasSubstr("| /model x -\\> y, /strategy/recompute none -\\> - | -0.44 | +7.3 % "
                              "|  |  |\n"));
  EXPECT_THAT(text, HasSubstr("changes work together"));
  EXPECT_THAT(text, HasSubstr("| pipeline bubble | 0.45 | 0.10 | -0.35 |\n"));
  EXPECT_THAT(text, HasSubstr("> a note\n"));
}

TEST(ComparisonDocument, WithoutADifferenceSaysSo) {
  Comparison comparison = sample_comparison();
  comparison.effects.clear();
  EXPECT_THAT(answer_as(".md", comparison_answer(comparison)),
              HasSubstr("Nothing that matters differs in their inputs."));
}

TEST(ComparisonDocument, BeginsWithWhatDoesNotFit) {
  Comparison comparison = sample_comparison();
  comparison.b.memory.fits = false;
  EXPECT_THAT(answer_as(".md", comparison_answer(comparison)),
              HasSubstr("## Answer\n\nB does not fit in memory: "));
}

/// A run of 453.2e3 x 86,400 x 10 tokens takes 10 days in A; 524.2 k tokens/s make it 8.65. At 2
/// US$ an hour 1024 GPUs cost 491.5 k. The interval of 6.70 .. 7.22 s is a factor of 1.038 either
/// way.
TEST(ComparisonDocument, CarriesDaysAndMoneyWithTheirIntervals) {
  Comparison comparison = sample_comparison();
  comparison.b.iteration_interval = {6.70 / 6.94 * 6.0, 7.22 / 6.94 * 6.0};
  for (Prediction* const of : {&comparison.a, &comparison.b}) {
    (*of->question.scenario)["cost"] = {{"tokens", 453.2e3 * 86400.0 * 10.0},
                                        {"usd_per_gpu_hour", 2.0}};
  }
  const std::string text = answer_as(".md", comparison_answer(comparison));
  EXPECT_THAT(
      text, HasSubstr("Cost of the run: US\\$ 492 k in A (US\\$ 473 k .. 510 k), US\\$ 425 k "
                      "in B (US\\$ 409 k .. 441 k), -13.5 %. Time to train: 10 days in A (9.63 .. "
                      "10.4 days), 8.65 days in B (8.33 .. 8.97 days), -13.5 %. An "
                      "iteration takes 6.94 s in A"));
  EXPECT_THAT(text, HasSubstr("| time to train | 10 days (9.63 .. 10.4 days) | 8.65 days ("));
  const nlohmann::json document =
      nlohmann::json::parse(answer_as(".json", comparison_answer(comparison)));
  EXPECT_EQ(document["a"]["objective"], "run_cost_usd");
  EXPECT_NEAR(document["a"]["run_time_s"].get<double>(), 864000.0, 1e-3);
}

TEST(ComparisonDocument, AChangeOfTheFabricWithoutEffectSaysWhy) {
  Comparison comparison = sample_comparison();
  comparison.effects = {{.changes = {{"/cluster/topology/fabric/oversubscription",
                                      nlohmann::json(1), nlohmann::json(4)}},
                         .before = 6.94_s,
                         .after = 6.94_s}};
  comparison.b.fabric.tiers = {{"NIC ports", 8}, {"leaf switches", 2}, {"spine switches", 1}};
  comparison.b.fabric.cables = {{.lower = 0, .upper = 1, .cables = 8}, {.lower = 1, .upper = 2}};
  EXPECT_THAT(
      answer_as(".md", comparison_answer(comparison)),
      HasSubstr("/cluster/topology/fabric/oversubscription 1 -\\> 4 is without effect: "
                "nothing of this job crosses the fabric: all that it exchanges stays inside "
                "its nodes."));
  comparison.b.fabric.cables[0].up = {Bytes(1e9), BytesPerSecond(1e9), 0.1, 0.25};
  EXPECT_THAT(answer_as(".md", comparison_answer(comparison)),
              HasSubstr("nothing of this job goes above the leaf switches, and below them the "
                        "fullest link is used 25.0 % of the iteration."));
}

TEST(ComparisonDocument, JsonHasTheEffects) {
  const nlohmann::json document =
      nlohmann::json::parse(answer_as(".json", comparison_answer(sample_comparison())));
  EXPECT_EQ(document["effects"].size(), 2U);
  EXPECT_NEAR(document["effects"][0]["in_turn_s"].get<double>(), -0.5, 1e-12);
  EXPECT_TRUE(document["effects"][1]["last_s"].is_null());
  EXPECT_EQ(document["effects"][1]["changes"][0]["pointer"], "/model");
}

/// 6.44 s - 6.94 s; what is not known is empty.
TEST(ComparisonDocument, CsvHasARowAnEffect) {
  const std::string csv = answer_as(".csv", comparison_answer(sample_comparison()));
  EXPECT_THAT(csv, testing::StartsWith("change,in_turn_s,alone_s,last_s,throughput_before_per_s,"
                                       "throughput_after_per_s\n"
                                       "/strategy/virtual_stages 1 -> 4,-0.5,-0.5,-0.2,453200,"
                                       "488400\n"
                                       "\"/model x -> y, /strategy/recompute none -> -\","));
  EXPECT_THAT(csv, testing::EndsWith(",,,488400,524200\n"));
}

}  // namespace
}  // namespace headway
