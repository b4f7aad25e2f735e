#include "sim/result/json/result_json.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using nlohmann::json;

std::vector<std::string> keys_of(const json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

/// No number of `value` is infinite or not a number.
bool all_finite(const json& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  if (!value.is_structured()) return true;
  return std::all_of(value.begin(), value.end(), all_finite);
}

TEST(ResultJson, HasEveryKeyWhetherTheJobFitsOrNot) {
  Prediction p = sample_prediction();
  const std::vector<std::string> expected{"breakdown_s",
                                          "confidence",
                                          "critical_path",
                                          "critical_rank",
                                          "events",
                                          "gpus",
                                          "hfu",
                                          "iteration_time_interval_s",
                                          "iteration_time_s",
                                          "links",
                                          "memory_bytes",
                                          "mfu",
                                          "mfu_noncausal",
                                          "micro_batches",
                                          "model_tflops_per_gpu",
                                          "not_modelled",
                                          "objective",
                                          "provenance",
                                          "question",
                                          "replica_time_s",
                                          "replicas",
                                          "samples_per_s",
                                          "scaling_efficiency",
                                          "scaling_reference",
                                          "scenario",
                                          "schema",
                                          "sharing",
                                          "tokens_per_s",
                                          "tokens_per_s_per_gpu",
                                          "warnings"};
  EXPECT_EQ(keys_of(result_json(p)), expected);
  p.memory.fits = false;
  p.scaling.reset();
  EXPECT_EQ(keys_of(result_json(p)), expected);
}

TEST(ResultJson, IsTheSameAsACompactText) {
  Prediction p = sample_prediction();
  p.question.scenario = json{{"name", "a\nb"}, {"nodes", {1, 2}}};
  p.question.provenance = json{{"command_line", "headway \xff"}};
  EXPECT_EQ(compact_result_text(p), compact_json(result_json(p)));
  p.memory.fits = false;
  p.question.provenance = json();
  EXPECT_EQ(compact_result_text(p), compact_json(result_json(p)));
}

TEST(ResultJson, SamplesWithoutTokensHaveNoneASecond) {
  Prediction p = sample_prediction();
  p.tokens_per_second = p.tokens_per_second_per_accelerator = 0.0;
  EXPECT_TRUE(result_json(p)["tokens_per_s"].is_null());
  EXPECT_TRUE(result_json(p)["tokens_per_s_per_gpu"].is_null());
  EXPECT_EQ(result_json(p)["samples_per_s"], 221.3);
}

TEST(ResultJson, NumbersAreInBaseUnits) {
  const json result = result_json(sample_prediction());
  EXPECT_EQ(result["schema"], "headway/result/1");
  EXPECT_EQ(result["iteration_time_s"], 6.94);
  EXPECT_EQ(result["iteration_time_interval_s"], json::array({6.70, 7.22}));
  EXPECT_EQ(result["gpus"], 1024);
  EXPECT_EQ(result["replicas"], 9);
  EXPECT_EQ(result["samples_per_s"], 221.3);
  EXPECT_EQ(result["tokens_per_s"], 453.2e3);
  EXPECT_EQ(result["tokens_per_s_per_gpu"], 442.6);
  EXPECT_EQ(result["model_tflops_per_gpu"], 465.0);
  EXPECT_EQ(result["mfu"], 0.47);
  EXPECT_EQ(result["mfu_noncausal"], 0.481);
  EXPECT_EQ(result["hfu"], 0.512);
  EXPECT_EQ(result["scaling_efficiency"], 0.931);
  EXPECT_EQ(result["scaling_reference"],
            json({{"gpus", 64}, {"iteration_time_s", 6.46}, {"description", "data_parallel 1"}}));
  EXPECT_EQ(result["links"][0], json({{"from", "leaf-3"},
                                      {"to", "spine-1"},
                                      {"capacity_bytes_per_s", 50e9},
                                      {"carried_bytes", 173.5e9},
                                      {"utilisation", 0.5}}));
  EXPECT_EQ(result["critical_path"][4], json({{"where", "stage 7, replica 3"},
                                              {"what", "backward"},
                                              {"start_s", 0.65},
                                              {"end_s", 6.5},
                                              {"operations", 96}}));
  EXPECT_EQ(result["scenario"]["model"]["layers"], 96);
}

TEST(ResultJson, AllCausesSumToTheIteration) {
  const json result = result_json(sample_prediction());
  ASSERT_EQ(result["breakdown_s"].size(), kCauses);
  double sum = 0.0;
  for (const auto& [cause, time] : result["breakdown_s"].items()) sum += time.get<double>();
  EXPECT_NEAR(sum, result["iteration_time_s"].get<double>(), 1e-12);
}

TEST(ResultJson, MemoryPartsSumToTheTotal) {
  const json memory = result_json(sample_prediction())["memory_bytes"];
  EXPECT_EQ(keys_of(memory),
            (std::vector<std::string>{"capacity", "fits", "fullest_stage", "largest", "stages"}));
  ASSERT_EQ(memory["stages"].size(), 2U);
  for (json stage : memory["stages"]) {
    const double total = stage["total"].get<double>();
    stage.erase("total");
    double sum = 0.0;
    for (const json& part : stage) sum += part.get<double>();
    EXPECT_EQ(sum, total);
  }
  EXPECT_EQ(memory["stages"][0]["total"], 32.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(memory["largest"], memory["stages"][memory["fullest_stage"].get<int>()]["total"]);
}

TEST(ResultJson, WithoutAReferenceThereIsNoEfficiency) {
  Prediction p = sample_prediction();
  p.scaling.reset();
  EXPECT_TRUE(result_json(p)["scaling_efficiency"].is_null());
  EXPECT_TRUE(result_json(p)["scaling_reference"].is_null());
}

TEST(ResultJson, JobThatWasNotSimulatedHasNoSpeed) {
  Prediction p;
  p.question = sample_prediction().question;
  p.memory = sample_prediction().memory;
  p.memory.fits = false;
  const json result = result_json(p);
  EXPECT_EQ(keys_of(result), keys_of(result_json(sample_prediction())));
  EXPECT_TRUE(result["iteration_time_s"].is_null());
  EXPECT_EQ(result["iteration_time_interval_s"], json::array({nullptr, nullptr}));
  EXPECT_TRUE(result["tokens_per_s"].is_null());
  EXPECT_TRUE(result["mfu"].is_null());
  EXPECT_EQ(result["breakdown_s"].size(), kCauses);
  EXPECT_TRUE(result["breakdown_s"]["compute"].is_null());
  EXPECT_EQ(result["memory_bytes"]["fits"], false);
}

TEST(ResultJson, NumbersThatAreNotFiniteAreNull) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Prediction p = sample_prediction();
  p.mfu = std::numeric_limits<double>::quiet_NaN();
  p.iteration_time = Seconds(kInfinity);
  p.iteration_interval.high = kInfinity;
  p.scaling->efficiency = kInfinity;
  p.breakdown[Cause::other] = Seconds(-kInfinity);
  p.memory.capacity = Bytes(kInfinity);
  p.busiest_links[0].utilisation = kInfinity;
  p.critical_path[0].end = Seconds(kInfinity);
  const json result = result_json(p);
  EXPECT_TRUE(all_finite(result));
  EXPECT_TRUE(result["mfu"].is_null());
  EXPECT_TRUE(result["iteration_time_interval_s"][1].is_null());
}

TEST(ResultJson, AnyNameSurvivesTheText) {
  Prediction p = sample_prediction();
  p.critical_rank = "a \"quoted\"\nname | \\";
  (*p.question.provenance)["command_line"] = "headway \xFF";
  const json result = json::parse(result_json_text(p));
  EXPECT_EQ(result["critical_rank"], p.critical_rank);
  EXPECT_EQ(result["provenance"]["command_line"], "headway \uFFFD");
}

}  // namespace
}  // namespace headway
