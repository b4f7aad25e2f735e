// Predictions of jobs whose nodes hold several kinds of accelerators.
#include <gtest/gtest.h>

#include "sim/predict/predicted_memory.h"
#include "sim/predict/simulate.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// Two pipeline stages of two replicas: the first on four H100, the second on four T4.
nlohmann::json mixed_scenario() {
  nlohmann::json scenario = headway::mixed_scenario("t4", "t4");
  scenario["strategy"]["precision"] = "fp16";
  return scenario;
}

TEST(KindsOfAccelerators, EachStageIsHeldAgainstWhatItsOwnCanHold) {
  const Scenario scenario = scenario_of(mixed_scenario());
  const MemoryPrediction memory = predicted_memory(scenario, *scenario.strategy);
  ASSERT_EQ(memory.stages.size(), 2U);
  EXPECT_EQ(memory.stages[0].capacity.count(), scenario.profile->device.memory_bytes.value);
  EXPECT_EQ(memory.stages[1].capacity.count(),
            scenario.other_profiles.front()->device.memory_bytes.value);
  EXPECT_TRUE(memory.fits);
}

TEST(KindsOfAccelerators, AJobFitsOnlyIfEveryKindHoldsItsStages) {
  nlohmann::json text = mixed_scenario();
  text["model"]["hidden"] = 8192;  // more than 16 GB a rank, less than 80
  text["model"]["ffn_hidden"] = 32768;
  text["model"]["attention_heads"] = 64;
  const Scenario scenario = scenario_of(text);
  const MemoryPrediction memory = predicted_memory(scenario, *scenario.strategy);
  EXPECT_LT(memory.stages[0].total(), memory.stages[0].capacity);
  EXPECT_GT(memory.stages[1].total(), memory.stages[1].capacity);
  EXPECT_EQ(memory.fullest_stage, 1);
  EXPECT_FALSE(memory.fits);
}

TEST(KindsOfAccelerators, ThePredictionTellsWhatEachKindDoes) {
  const Prediction prediction = simulate(scenario_of(mixed_scenario()), {}).prediction;
  ASSERT_TRUE(prediction.accelerator_kinds.has_value());
  const auto& kinds = prediction.accelerator_kinds->kinds;
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].accelerator, "h100-sxm");
  EXPECT_EQ(kinds[0].accelerators, 4);
  EXPECT_EQ(kinds[0].most_micro_batches, 16);  // 32 sequences over two replicas
  EXPECT_EQ(kinds[1].profile, "t4");
  EXPECT_EQ(kinds[1].accelerators, 4);
  // The fast stage waits for the slow one, which is hardly ever without work.
  EXPECT_GT(kinds[0].waiting_share, 0.4);
  EXPECT_LT(kinds[1].waiting_share, 0.1);
  EXPECT_GT(kinds[1].busy_share, kinds[0].busy_share);
  EXPECT_EQ(prediction.question.node_type, "small and older");
  EXPECT_EQ(prediction.question.profile, "h100_sxm (published), t4 (published)");
  EXPECT_FALSE(prediction.scaling.has_value());  // fewer nodes are another mixture
}

TEST(KindsOfAccelerators, MfuIsOfWhatAllAcceleratorsCouldDo) {
  const Scenario scenario = scenario_of(mixed_scenario());
  const Prediction prediction = simulate(scenario, {}).prediction;
  const auto peak = [](const Profile& profile) {
    return profile.device.peak_flops.at(Precision::fp16).value;
  };
  const double mean = 0.5 * (peak(*scenario.profile) + peak(*scenario.other_profiles.front()));
  EXPECT_NEAR(prediction.mfu, prediction.model_flops_per_second_per_accelerator / mean, 1e-12);
}

TEST(KindsOfAccelerators, OneKindIsNotToldOf) {
  const Prediction prediction = simulate(scenario_of(small_scenario(4)), {}).prediction;
  EXPECT_FALSE(prediction.accelerator_kinds.has_value());
}

}  // namespace
}  // namespace headway
