#include "reports/answers/what_if_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "reports/document/markdown_document.h"
#include "sim/result/json/result_json.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

/// 64 GPUs, 10 s, 8 s ideal: S = 1.25; node 3 gives 1.5 s back: 0.15 x 64 x 24 = 230.4 GPU-hours a
/// day, 1.5 x 64 / 3600 = 0.02667 in an iteration.
WhatIf sample() {
  return {.time = 10_s,
          .ideal = 8_s,
          .accelerators = 64,
          .removals = {{RemovalKind::cause, "jitter of operations", 9.6_s, 0.4_s},
                       {RemovalKind::node, "node 3", 8.5_s, 1.5_s}},
          .slowest_stage = 1,
          .stage_imbalance = 1.07,
          .sensitivities = {{"no_stragglers", "no stragglers", 8_s, 1.25},
                            {"latency", "half the latency of the network", 10_s, 1.0}}};
}

TEST(WhatIfReport, SaysWhatIsLostAndWhoCostsMost) {
  EXPECT_EQ(straggler_sentence(sample()),
            "2.00 of 10.0 s lost to ranks and links slower than the job's typical ones (S = "
            "1.250), 307 GPU-hours a day; node 3 alone costs 1.50 s and 230 GPU-hours a day, "
            "without its slowness 8.50 s");
}

TEST(WhatIfReport, NamesNobodyWhereNothingIsLost) {
  WhatIf quiet = sample();
  quiet.ideal = 9.98_s;
  EXPECT_EQ(straggler_sentence(quiet),
            "no stragglers: ranks that differ cost 0.02 of 10.0 s (S = 1.002)");
  quiet.ideal = 11_s;
  EXPECT_EQ(straggler_sentence(quiet),
            "none lost: were all ranks alike, transfers that now pass one after the other would "
            "meet on the links they share, 1.00 more than 10.0 s (S = 0.909)");
  WhatIf spread = sample();
  spread.removals[1].gain = 0.04_s;  // 0.4 %: nobody in particular
  EXPECT_THAT(straggler_sentence(spread), Not(HasSubstr("node 3")));
}

TEST(WhatIfReport, TextHasBothTables) {
  EXPECT_EQ(what_if_text(sample()),
            "  stragglers    " + straggler_sentence(sample()) +
                "\n"
                "  stages        stage 1 has 7.0 % more work than the mean stage\n"
                "\n"
                "  without the slowness of     s  gain s     %  GPU-hours a day\n"
                "  jitter of operations     9.60    0.40   4.0             61.4\n"
                "  node 3                   8.50    1.50  15.0              230\n"
                "\n"
                "  what would help                      s  throughput\n"
                "  no stragglers                     8.00     +25.0 %\n"
                "  half the latency of the network  10.00      +0.0 %\n"
                "\n");
}

TEST(WhatIfReport, WhatToDoAboutStragglersStandsBeforeWhatWouldHelp) {
  WhatIf mended = sample();
  mended.mitigations = {{"spare_nodes", "node 3 replaced by a spare", 8.5_s, 10.0 / 8.5}};
  EXPECT_THAT(what_if_text(mended), HasSubstr("\n"
                                              "  what to do about stragglers     s  throughput\n"
                                              "  node 3 replaced by a spare   8.50     +17.6 %\n"
                                              "\n"
                                              "  what would help "));
  EXPECT_THAT(markdown_of({.title = "a", .sections = {what_if_section(mended)}}),
              HasSubstr("| node 3 replaced by a spare |"));
}

TEST(WhatIfReport, TheNetworkAtItsWorstStandsLast) {
  WhatIf bounded = sample();
  bounded.network_extremes = {{"paused_links", "whole links paused (PFC, credits)", 12.5_s, 0.8}};
  EXPECT_THAT(what_if_text(bounded),
              HasSubstr("\n"
                        "  the network at its worst               s  throughput\n"
                        "  whole links paused (PFC, credits)  12.50     -20.0 %\n"
                        "\n"));
  const std::string text = markdown_of({.title = "a", .sections = {what_if_section(bounded)}});
  EXPECT_THAT(text, HasSubstr("the truth lies between:\n\n| the network at its worst |"));
  Prediction p = sample_prediction();
  p.what_if = bounded;
  EXPECT_EQ(result_json(p).at("network_extremes").at(0).at("speedup"), 0.8);
}

TEST(WhatIfReport, MarkdownHasAHeadingAndBothTables) {
  const std::string text = markdown_of({.title = "a", .sections = {what_if_section(sample())}});
  EXPECT_THAT(text, HasSubstr("\n## What if\n\nStragglers: 2.00 of 10.0 s lost"));
  EXPECT_THAT(text, HasSubstr("| node 3 "));
  EXPECT_THAT(text, HasSubstr("| no stragglers "));
}

TEST(WhatIfReport, JsonIsInBaseUnits) {
  Prediction p = sample_prediction();
  p.what_if = sample();
  const nlohmann::json result = result_json(p);
  const nlohmann::json& json = result.at("what_if");
  EXPECT_EQ(json.at("slowdown"), 1.25);
  EXPECT_EQ(json.at("ideal_time_s"), 8.0);
  EXPECT_DOUBLE_EQ(json.at("wasted_share").get<double>(), 0.2);
  const nlohmann::json& node = json.at("removals").at(1);
  EXPECT_EQ(node.at("kind"), "node");
  EXPECT_EQ(node.at("what"), "node 3");
  EXPECT_EQ(node.at("gain_s"), 1.5);
  EXPECT_DOUBLE_EQ(node.at("gpu_hours_per_day").get<double>(), 230.4);
  EXPECT_DOUBLE_EQ(node.at("gpu_hours_per_iteration").get<double>(), 96.0 / 3600.0);
  const nlohmann::json& bottlenecks = result.at("bottlenecks");
  EXPECT_EQ(bottlenecks.at(0), nlohmann::json({{"name", "no_stragglers"},
                                               {"what", "no stragglers"},
                                               {"iteration_time_s", 8.0},
                                               {"speedup", 1.25}}));
}

}  // namespace
}  // namespace headway
