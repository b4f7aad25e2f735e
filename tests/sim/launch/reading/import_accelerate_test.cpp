// Scripts that run `accelerate launch`, as scenarios.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/launch/launch_files.h"
#include "sim/launch/reading/job_model.h"
#include "tests/sim/launch/reading/imported_job.h"

namespace headway {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Imported accelerate_job(const std::string& launcher, const std::string& trainer,
                        ImportRequest request = {}) {
  if (request.model.empty()) request.model = "llama2_7b";
  request.sequence_length = 2048.0;
  return imported_text("accelerate",
                       "accelerate launch --num_machines 2 --num_processes 16 " + launcher +
                           " run_clm.py --per_device_train_batch_size 2 " + trainer + "\n",
                       request);
}

json accelerate_strategy(const std::string& launcher, const std::string& trainer = "") {
  const Imported job = accelerate_job(launcher, trainer);
  EXPECT_THAT(job.told, Not(HasSubstr("error: "))) << job.told;
  return job.scenario.is_null() ? json::object() : job.scenario.at("strategy");
}

TEST(ImportAccelerate, ReadsWhatTheJobIs) {
  const Imported job = accelerate_job(
      "--multi_gpu --mixed_precision bf16",
      "--gradient_accumulation_steps 4 --gradient_checkpointing --learning_rate 1e-5");
  EXPECT_EQ(job.told, "");
  EXPECT_EQ(job.scenario.at("cluster"), json({{"topology", "dgx_a100_superpod"}, {"nodes", 2}}));
  const json expected = {{"preset", "transformers"}, {"data_parallel", 16}, {"micro_batch", 2},
                         {"global_batch", 128},      {"precision", "bf16"}, {"recompute", "full"},
                         {"sequence_length", 2048}};
  EXPECT_EQ(job.scenario.at("strategy"), expected);
}

TEST(ImportAccelerate, ReadsOtherWordsOfTheSame) {
  EXPECT_EQ(accelerate_strategy("", "--bf16 True").at("precision"), "bf16");
  EXPECT_EQ(accelerate_strategy("", "--fp16").at("precision"), "fp16");
  EXPECT_EQ(accelerate_strategy("", "--bf16 --optim paged_adamw_8bit").at("optimizer"),
            "adam_8bit");
  EXPECT_FALSE(accelerate_strategy("", "--bf16 --optim adamw_torch").contains("optimizer"));
  EXPECT_EQ(accelerate_strategy("", "--bf16 --torch_dtype bfloat16").at("preset"),
            "transformers-bf16");
  EXPECT_EQ(accelerate_strategy("", "--bf16 --ddp_bucket_cap_mb 100").at("gradient_bucket"),
            "100 MiB");
  const json adapted = accelerate_strategy("", "--bf16 --use_peft --lora_r 32 --lora_alpha 16");
  EXPECT_EQ(adapted.at("task"), "lora");
  EXPECT_EQ(adapted.at("lora_rank"), 32);
}

TEST(ImportAccelerate, ReadsHowParametersAreSharded) {
  const std::string first = "--use_fsdp --mixed_precision bf16 ";
  const json fully = accelerate_strategy(first + "--fsdp_version 2");
  EXPECT_EQ(fully.at("zero_stage"), 3);
  EXPECT_FALSE(fully.contains("per_parameter_sharding"));
  const json older = accelerate_strategy(first + "--fsdp_sharding_strategy SHARD_GRAD_OP");
  EXPECT_EQ(older.at("zero_stage"), 3);
  EXPECT_EQ(older.at("per_parameter_sharding"), false);
  EXPECT_EQ(older.at("reshard_after_forward"), false);
  EXPECT_EQ(accelerate_strategy(first + "--fsdp_sharding_strategy 4").at("shard_group"), 8);
  EXPECT_FALSE(accelerate_strategy(first + "--fsdp_sharding_strategy 3").contains("zero_stage"));
  EXPECT_EQ(accelerate_strategy("", "--bf16 --fsdp 'full_shard auto_wrap'").at("zero_stage"), 3);
}

TEST(ImportAccelerate, ReadsTheConfigurationThatAScriptNames) {
  const ScratchFolder scratch;
  scratch.write("fsdp.yaml",
                "# a note\ncompute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\n"
                "downcast_bf16: 'no'\nfsdp_config:\n  fsdp_activation_checkpointing: true\n"
                "  fsdp_offload_params: true\n  fsdp_reshard_after_forward: false\n"
                "  fsdp_version: 2\nmixed_precision: 'bf16'  # or fp16\nnum_machines: 2\n"
                "num_processes: 16\ntpu_env: []\n");
  const std::string script = scratch.write(
      "sft.sh",
      "accelerate launch --config_file fsdp.yaml sft.py --model_name_or_path Qwen/Qwen2-7B \\\n"
      "  --per_device_train_batch_size 1 --max_length 1024 --packing\n");
  const Imported job = imported_from("accelerate", script, {});
  EXPECT_EQ(job.scenario.at("model"), "qwen2_7b");
  const json expected = {{"preset", "transformers"},
                         {"data_parallel", 16},
                         {"micro_batch", 1},
                         {"global_batch", 16},
                         {"precision", "bf16"},
                         {"zero_stage", 3},
                         {"reshard_after_forward", false},
                         {"recompute", "full"},
                         {"sequence_length", 1024}};
  EXPECT_EQ(job.scenario.at("strategy"), expected);
  EXPECT_THAT(job.told, HasSubstr("not read: launch --fsdp_offload_params = true\n  --> "));
  EXPECT_THAT(job.told, HasSubstr("fsdp.yaml:7:3"));
  EXPECT_THAT(job.told, HasSubstr("not read: --packing = true"));
}

TEST(ImportAccelerate, SaysWhatIsMissing) {
  const std::string told = imported_text("accelerate",
                                         "accelerate launch --num_processes 8 sft.py --bf16 "
                                         "--model_name_or_path somebody/model\n")
                               .told;
  EXPECT_THAT(told, HasSubstr("the model \"somebody/model\" is not in the library"));
  EXPECT_THAT(accelerate_job("", "--deepspeed ds.json").told,
              HasSubstr("this job is one of DeepSpeed"));
  EXPECT_THAT(accelerate_job("--use_deepspeed", "").told,
              HasSubstr("this job is one of DeepSpeed"));
  EXPECT_THAT(imported_text("accelerate", "echo hello\n").told,
              HasSubstr("there is no job of accelerate in this"));
  const char* const samples = std::getenv("HEADWAY_SAMPLES");
  if (samples == nullptr) GTEST_SKIP() << "set HEADWAY_SAMPLES to the folder of sample files";
  EXPECT_THAT(imported_from("accelerate", std::string(samples) + "/configs/accelerate-fsdp.yaml",
                            {.model = "llama2_7b", .nodes = 1})
                  .told,
              HasSubstr("--per_device_train_batch_size is not given; the Trainer's 8 is taken"));
}

TEST(JobModel, KnowsTheRepositoriesOfTheLibrary) {
  EXPECT_EQ(model_of_repository("meta-llama/Llama-2-7b-hf"), "llama2_7b");
  EXPECT_EQ(model_of_repository("meta-llama/Meta-Llama-3-8B-Instruct"), "llama3_8b");
  EXPECT_EQ(model_of_repository("state-spaces/mamba-2.8b-hf"), "mamba_2.8b");
  EXPECT_EQ(model_of_repository("meta-llama/Llama-2-7"), "");
  EXPECT_EQ(model_of_repository(""), "");
}

/// Fields that the script of a job says, and that accelerate does unasked, as they were.
TEST(ImportAccelerate, ReadsBackWhatLaunchFilesSay) {
  const std::vector<std::vector<Override>> jobs = {
      {},
      {{"/strategy/micro_batch", "4"}, {"/strategy/recompute", "full"}},
      {{"/strategy/precision", "fp16"}},
      {{"/strategy/precision", "tf32"}},
      {{"/strategy/gradient_bucket", "100 MiB"}},
      {{"/strategy/optimizer", "adam_8bit"}},
      {{"/strategy/zero_stage", "3"}},
      {{"/strategy/zero_stage", "3"}, {"/strategy/reshard_after_forward", "false"}},
      {{"/strategy/zero_stage", "3"}, {"/strategy/preset", "transformers-bf16"}},
  };
  for (std::vector<Override> overrides : jobs) {
    if (overrides.empty() || overrides.back().pointer != "/strategy/preset") {
      overrides.push_back({"/strategy/preset", "transformers"});
    }
    overrides.push_back({"/strategy/tensor_parallel", "1"});
    const JsonValue before = shipped_scenario("llama3_8b_64", overrides);
    expect_script_says(before, LaunchFramework::accelerate, "accelerate");
  }
}

}  // namespace
}  // namespace headway
