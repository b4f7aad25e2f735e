#include "sim/result/json/read_result.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sim/result/json/result_json.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::HasSubstr;

Prediction read(const std::string& text, Diagnostics& diagnostics) {
  const auto document = JsonDocument::parse("result.json", text, diagnostics);
  return read_result(JsonCursor(document), diagnostics);
}

/// What the document of a prediction gives once it was read and written again.
std::string written_again(const Prediction& prediction) {
  Diagnostics diagnostics;
  const Prediction back = read(result_json_text(prediction), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  return result_json_text(back);
}

TEST(ReadResult, GivesTheSameDocumentAgain) {
  Prediction p = sample_prediction();
  p.anchor = {.steps = {{"lab", 5.3_s, 5.0_s, 1.071}},
              .software_factor = 1.071,
              .time_without = 8.2_s,
              .interval_without = {7.1, 9.5}};
  p.activity = {.kinds = {"forward", "backward"},
                .rows = {{"stage 0, replica 3", {{0, 0_s, 0.2_s}, {1, 0.3_s, 0.5_s}}}}};
  p.warnings = {"a warning"};
  p.what_if = {.time = 6.94_s,
               .ideal = 6.5_s,
               .accelerators = 1024,
               .removals = {{RemovalKind::node, "node 3", 6.6_s, 0.34_s}},
               .slowest_stage = 1,
               .stage_imbalance = 1.07,
               .sensitivities = {{"latency", "half the latency", 6.9_s, 1.005}},
               .mitigations = {{"spare_nodes", "node 3 replaced by a spare", 6.6_s, 1.05}}};
  p.confidence.beyond_calibration = true;
  p.fabric = {.tiers = {{"NIC ports", 16}, {"leaf switches", 2}},
              .cables = {{.lower = 0,
                          .upper = 1,
                          .cables = 16,
                          .up = {5_GB, 800_GBps, 0.25, 0.5},
                          .down = {4_GB, 800_GBps, 0.2, 0.4}}}};
  EXPECT_EQ(written_again(p), result_json_text(p));
}

TEST(ReadResult, OfAJobThatWasNotSimulatedToo) {
  Prediction p;
  p.question = sample_prediction().question;
  p.memory = sample_prediction().memory;
  p.memory.fits = false;
  EXPECT_EQ(written_again(p), result_json_text(p));
}

TEST(ReadResult, RefusesOtherDocuments) {
  Diagnostics diagnostics;
  (void)read(R"({"schema": "headway/scenario/1"})", diagnostics);
  EXPECT_THAT(rendered(diagnostics.all(), "", false),
              HasSubstr("schema must be \"headway/result/1\""));
}

TEST(ReadResult, TellsEveryProblem) {
  nlohmann::json document = result_json(sample_prediction());
  document["iteration_time_s"] = "fast";
  document["memory_bytes"]["stages"][1]["buffers"] = {};
  document["memory_bytes"]["stages"][1]["gradients"] = "all";
  document["critical_path"][2].erase("where");
  document["iteration_time_interval_s"] = {1.0};
  Diagnostics diagnostics;
  (void)read(document.dump(), diagnostics);
  const std::string text = rendered(diagnostics.all(), "", false);
  EXPECT_THAT(text, HasSubstr("/iteration_time_s"));
  EXPECT_THAT(text, HasSubstr("/memory_bytes/stages/1/gradients"));
  EXPECT_THAT(text, HasSubstr("/critical_path/2"));
  EXPECT_THAT(text, HasSubstr("an interval has two ends"));
}

TEST(ReadResult, SpansHaveAKnownKind) {
  nlohmann::json document = result_json(sample_prediction());
  document["activity"] = {{"kinds", {"forward"}},
                          {"rows", {{{"where", "stage 0"}, {"spans_s", {{1, 0.0, 0.5}}}}}}};
  Diagnostics diagnostics;
  (void)read(document.dump(), diagnostics);
  EXPECT_THAT(rendered(diagnostics.all(), "", false),
              HasSubstr("a span is the index of a kind, a start and an end"));
}

}  // namespace
}  // namespace headway
