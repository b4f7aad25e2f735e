// What accelerate is told under FSDP and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/launch/launch_files.h"
#include "tests/sim/launch/jobs_to_launch.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AccelerateRun, ReplicatesWhatIsNotSharded) {
  const std::string text =
      launch_script(replicas({{"preset", "transformers"}}), LaunchFramework::accelerate).text;
  EXPECT_THAT(text, HasSubstr("--multi_gpu"));
  EXPECT_THAT(text, HasSubstr("--ddp_bucket_cap_mb 25"));
  EXPECT_THAT(text, Not(HasSubstr("fsdp")));
  EXPECT_THAT(text, Not(HasSubstr("dtype bfloat16")));
  EXPECT_THAT(text, Not(HasSubstr("first_gradient_bucket")));
}

TEST(AccelerateRun, ReducesInEveryPassAsShardedGradientsArePlanned) {
  const LaunchFile file = launch_script(replicas({{"preset", "transformers"}, {"zero_stage", 3}}),
                                        LaunchFramework::accelerate);
  EXPECT_THAT(file.text, HasSubstr("--accelerator_config '{\"gradient_accumulation_kwargs\": "
                                   "{\"sync_each_batch\": true}}'"));
  EXPECT_THAT(file.text, HasSubstr("--mixed_precision bf16"));
  EXPECT_THAT(file.text, Not(HasSubstr("ddp_bucket")));
  // Planned in fp32, where it reduces as mixed precision has them.
  EXPECT_THAT(file.remarks.front(), HasSubstr("no setting for: gradient_precision fp32."));
  EXPECT_THAT(launch_script(
                  replicas({{"preset", "transformers"}, {"zero_stage", 3}, {"precision", "tf32"}}),
                  LaunchFramework::accelerate)
                  .text,
              Not(HasSubstr("gradient_precision")));
  // 8 replicas of 8 sequences each take one pass.
  EXPECT_THAT(launch_script(replicas({{"preset", "transformers"},
                                      {"zero_stage", 3},
                                      {"micro_batch", 8},
                                      {"gradient_precision", "bf16"}}),
                            LaunchFramework::accelerate)
                  .text,
              Not(testing::AnyOf(HasSubstr("sync_each_batch"), HasSubstr("no setting"))));
}

TEST(AccelerateRun, LoadsFrozenWeightsAsPlanned) {
  const auto text = [](const nlohmann::json& strategy) {
    return launch_script(replicas(strategy), LaunchFramework::accelerate).text;
  };
  EXPECT_THAT(text({{"preset", "transformers"}, {"task", "lora"}}),
              testing::AllOf(HasSubstr("Frozen weights are planned in bf16"),
                             Not(HasSubstr("Under FSDP"))));
  EXPECT_THAT(text({{"preset", "transformers-bf16"}, {"task", "lora"}, {"zero_stage", 3}}),
              testing::AllOf(HasSubstr("Under FSDP with adapters in fp32"),
                             HasSubstr("--mixed_precision bf16")));
  EXPECT_THAT(text({{"preset", "transformers-bf16"},
                    {"task", "lora"},
                    {"lora_precision", "bf16"},
                    {"zero_stage", 3}}),
              testing::AllOf(Not(HasSubstr("Under FSDP")), HasSubstr("--mixed_precision no"),
                             Not(HasSubstr("--bf16"))));
}

TEST(AccelerateRun, LoadsHalvesWhateverUpdatesThem) {
  for (const char* optimizer : {"adam", "adam_8bit", "sgd"}) {
    EXPECT_THAT(launch_script(replicas({{"preset", "transformers-bf16"}, {"optimizer", optimizer}}),
                              LaunchFramework::accelerate)
                    .text,
                HasSubstr("Weights are planned in bf16"))
        << optimizer;
  }
}

TEST(AccelerateRun, TellsWhatExpertsMultiplyIn) {
  const auto text = [](const std::string& model, const std::string& precision) {
    nlohmann::json scenario = small_scenario(4);
    scenario["model"] = model;
    scenario["profile"] = "h100_sxm";
    scenario["strategy"] = {{"preset", "transformers"},
                            {"micro_batch", 2},
                            {"global_batch", 64},
                            {"precision", precision}};
    return launch_script(scenario_of(scenario).resolved, LaunchFramework::accelerate).text;
  };
  EXPECT_THAT(text("qwen3_30b_a3b", "bf16"), HasSubstr("--bf16 true"));
  EXPECT_THAT(text("qwen3_30b_a3b", "bf16"), HasSubstr("--tf32 true"));
  EXPECT_THAT(text("llama3_8b", "bf16"), Not(HasSubstr("--tf32")));
  EXPECT_THAT(text("qwen3_30b_a3b", "fp32"), Not(HasSubstr("--tf32")));
}

}  // namespace
}  // namespace headway
