// Configurations of DeepSpeed, and scripts that start jobs with them, as scenarios.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/launch/launch_files.h"
#include "sim/launch/reading/started_config.h"
#include "tests/sim/launch/reading/imported_job.h"

namespace headway {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

ImportRequest request_of_llama(int nodes = 2) {
  return {.model = "llama2_7b", .nodes = nodes, .sequence_length = 4096.0};
}

Imported deepspeed_job(const json& config, const ImportRequest& request = request_of_llama()) {
  return imported_text("deepspeed", config.dump(2), request);
}

/// A configuration in bf16 with the other members.
json bf16(const json& others = json::object()) {
  json config = {{"train_micro_batch_size_per_gpu", 2}, {"bf16", {{"enabled", true}}}};
  config.update(others);
  return config;
}

json deepspeed_strategy(const json& others) {
  const Imported job = deepspeed_job(bf16(others));
  EXPECT_THAT(job.told, Not(HasSubstr("error: "))) << job.told;
  return job.scenario.is_null() ? json::object() : job.scenario.at("strategy");
}

TEST(ImportDeepspeed, ReadsWhatTheJobIs) {
  const Imported job =
      deepspeed_job({{"train_batch_size", 256},
                     {"train_micro_batch_size_per_gpu", 4},
                     {"gradient_accumulation_steps", 4},
                     {"gradient_clipping", 1.0},
                     {"bf16", {{"enabled", true}}},
                     {"optimizer", {{"type", "AdamW"}, {"params", {{"lr", 1e-5}}}}},
                     {"zero_optimization",
                      {{"stage", 2},
                       {"overlap_comm", true},
                       {"reduce_bucket_size", 2e8},
                       {"contiguous_gradients", true},
                       {"offload_optimizer", {{"device", "cpu"}, {"ratio", 0.5}}}}}});
  EXPECT_EQ(job.told, "");
  EXPECT_EQ(job.scenario.at("model"), "llama2_7b");
  EXPECT_EQ(job.scenario.at("cluster"), json({{"topology", "dgx_a100_superpod"}, {"nodes", 2}}));
  const json expected = {{"preset", "deepspeed-zero-2"},
                         {"micro_batch", 4},
                         {"global_batch", 256},
                         {"precision", "bf16"},
                         {"overlap_gradient_reduce", true},
                         {"gradient_bucket", "400000000 B"},
                         {"optimizer_offload", 0.5}};
  EXPECT_EQ(job.scenario.at("strategy"), expected);
}

TEST(ImportDeepspeed, DoesUnaskedWhatItDoes) {
  const json replicated = deepspeed_strategy(json::object());
  EXPECT_EQ(replicated.at("preset"), "deepspeed-zero-1");
  EXPECT_EQ(replicated.at("zero_stage"), 0);
  EXPECT_EQ(replicated.at("global_batch"), 32);
  EXPECT_FALSE(replicated.contains("gradient_bucket"));  // the preset's
  const json fully = deepspeed_strategy({{"zero_optimization", {{"stage", 3}}}});
  EXPECT_EQ(fully.at("preset"), "deepspeed-zero-3");
  EXPECT_FALSE(fully.contains("gradient_bucket"));
  EXPECT_FALSE(fully.contains("overlap_gradient_reduce"));
}

TEST(ImportDeepspeed, ReadsOtherWordsOfTheSame) {
  const json old = deepspeed_strategy({{"zero_optimization", true}});
  EXPECT_EQ(old.at("preset"), "deepspeed-zero-1");
  EXPECT_FALSE(old.contains("zero_stage"));
  EXPECT_EQ(deepspeed_strategy({{"zero_optimization", {{"stage", 2}, {"cpu_offload", true}}}})
                .at("optimizer_offload"),
            1.0);
  EXPECT_EQ(deepspeed_strategy({{"optimizer", {{"type", "Lion"}}}}).at("optimizer"), "lion");
  EXPECT_EQ(deepspeed_strategy({{"communication_data_type", "fp32"}}).at("gradient_precision"),
            "fp32");
  const json split = deepspeed_strategy({{"tensor_parallel", {{"autotp_size", 4}}}});
  EXPECT_EQ(split.at("tensor_parallel"), 4);
  EXPECT_EQ(split.at("global_batch"), 8);
}

TEST(ImportDeepspeed, ReadsHowExpertsAreSplit) {
  const Imported job = deepspeed_job(
      bf16({{"expert_parallel", {{"enabled", true}, {"autoep_size", 8}, {"preset_model", "x"}}}}),
      {.model = "mixtral_8x7b", .nodes = 2, .sequence_length = 4096.0});
  EXPECT_EQ(job.scenario.at("strategy").at("expert_parallel"), 8);
  EXPECT_EQ(job.told, "");
}

TEST(ImportDeepspeed, CompletesTheBatches) {
  const auto batches = [](const json& config) {
    const json said = deepspeed_job(config).scenario.at("strategy");
    return std::pair(said.at("micro_batch").get<int>(), said.at("global_batch").get<int>());
  };
  EXPECT_EQ(batches({{"train_batch_size", 64}}), std::pair(4, 64));
  EXPECT_EQ(batches({{"train_batch_size", 64}, {"gradient_accumulation_steps", 2}}),
            std::pair(2, 64));
  EXPECT_EQ(batches({{"train_micro_batch_size_per_gpu", 3}, {"gradient_accumulation_steps", 2}}),
            std::pair(3, 96));
  EXPECT_THAT(
      deepspeed_job({{"train_batch_size", 100}, {"train_micro_batch_size_per_gpu", 2}}).told,
      HasSubstr("train_batch_size 100 is not train_micro_batch_size_per_gpu 2 x "
                "gradient_accumulation_steps 3.125 x 16 replicas\n  --> "));
  EXPECT_THAT(deepspeed_job(json::object()).told,
              HasSubstr("train_micro_batch_size_per_gpu is not given"));
  EXPECT_THAT(deepspeed_job({{"train_batch_size", "many"}}).told,
              HasSubstr("train_batch_size is a whole number from 1 up, not \"many\""));
  // All three say how many replicas there are.
  const Imported sized = deepspeed_job({{"train_batch_size", 256},
                                        {"train_micro_batch_size_per_gpu", 2},
                                        {"gradient_accumulation_steps", 4}},
                                       {.model = "llama2_7b", .sequence_length = 4096.0});
  EXPECT_EQ(sized.scenario.at("cluster").at("nodes"), 4) << sized.told;
}

TEST(ImportDeepspeed, SaysWhatItDoesNotRead) {
  const std::string told =
      deepspeed_job(bf16({{"zero_optimization",
                           {{"stage", 3},
                            {"offload_optimizer", {{"device", "nvme"}, {"pin_memory", true}}},
                            {"offload_param", {{"device", "cpu"}}}}},
                          {"my_own", {{"on", true}, {"off", false}}},
                          {"elasticity", {{"enabled", false}, {"micro_batch_sizes", {2, 4}}}}}))
          .told;
  EXPECT_THAT(told,
              HasSubstr("states on NVMe are not modelled; in host memory they are predicted"));
  EXPECT_THAT(told, HasSubstr("not read: zero_optimization.offload_param.device = cpu\n  --> "));
  EXPECT_THAT(told, HasSubstr("not read: my_own.on = true"));
  EXPECT_THAT(told, Not(HasSubstr("my_own.off")));
  EXPECT_THAT(told, Not(HasSubstr("elasticity")));
  EXPECT_THAT(deepspeed_job(bf16({{"optimizer", {{"type", "OneBitAdam"}}}})).told,
              HasSubstr("not read: optimizer.type = OneBitAdam"));
}

TEST(ImportDeepspeed, AsksForWhatIsNotInAConfiguration) {
  const Imported job = imported_text("deepspeed", bf16().dump(2), {});
  EXPECT_THAT(job.told, HasSubstr("say it: --model NAME"));
  EXPECT_THAT(job.told, HasSubstr("say it: --nodes N"));
  EXPECT_THAT(deepspeed_job(bf16(), {.model = "llama2_7b", .nodes = 1}).told,
              HasSubstr("the 4096 tokens that the model has are taken"));
  EXPECT_THAT(imported_text("deepspeed", "echo hello\n").told,
              HasSubstr("there is no configuration of DeepSpeed in this"));
  const ScratchFolder scratch;
  const std::string config = scratch.write(
      "config.json", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
          "vocab_size": 128256, "max_position_embeddings": 8192})");
  const Imported own = deepspeed_job(bf16(), {.model = config, .nodes = 1});
  EXPECT_EQ(own.scenario.at("model"), config) << own.told;
  EXPECT_THAT(own.told, HasSubstr("the 8192 tokens that the model has"));
}

TEST(ImportDeepspeed, TakesRecomputationAsTold) {
  const Imported job =
      deepspeed_job(bf16({{"activation_checkpointing",
                           {{"partition_activations", true}, {"number_checkpoints", nullptr}}}}));
  EXPECT_EQ(job.scenario.at("strategy").at("recompute"), "full");
  EXPECT_THAT(job.told, HasSubstr("warning: activation_checkpointing is taken to mean"));
  EXPECT_FALSE(
      deepspeed_strategy({{"activation_checkpointing", {{"partition_activations", false}}}})
          .contains("recompute"));
}

TEST(ImportDeepspeed, ReadsCommentsAndSaysWhereJsonBreaks) {
  const std::string text =
      "{\n  // a note: \"zero\"\n  \"train_micro_batch_size_per_gpu\": 1, /* \" */\n"
      "  \"note\": \"a // b # c\", # more\n  \"zero_optimization\": {\"stage\": 3}\n}\n";
  const Imported job = imported_text("deepspeed", text, request_of_llama());
  EXPECT_EQ(job.scenario.at("strategy").at("preset"), "deepspeed-zero-3") << job.told;
  EXPECT_THAT(job.told, HasSubstr("not read: note = a // b # c\n"));
  EXPECT_THAT(
      imported_text("deepspeed", "{\n  \"zero_optimization\": {,}\n}\n", request_of_llama()).told,
      HasSubstr("job.txt:2:"));
}

TEST(ImportDeepspeed, ReadsScriptsOfTheTrainer) {
  const ScratchFolder scratch;
  scratch.write("ds.json", R"({"bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2,
      "reduce_bucket_size": "auto"}, "gradient_accumulation_steps": "auto",
      "train_micro_batch_size_per_gpu": "auto", "optimizer": {"params": {"lr": "auto"}}})");
  const std::string script = scratch.write(
      "train.sh",
      "deepspeed --num_nodes 2 --num_gpus 8 train.py --deepspeed ds.json \\\n"
      "  --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --bf16 True \\\n"
      "  --gradient_checkpointing True --max_seq_length 2048 \\\n"
      "  --model_name_or_path meta-llama/Llama-2-7b-chat-hf\n");
  const Imported job = imported_from("deepspeed", script, {});
  EXPECT_EQ(job.scenario.at("model"), "llama2_7b");
  EXPECT_EQ(job.told, "");
  const json expected = {
      {"preset", "deepspeed-zero-2"}, {"data_parallel", 16},    {"micro_batch", 4},
      {"global_batch", 128},          {"precision", "bf16"},    {"gradient_bucket", "33554432 B"},
      {"recompute", "full"},          {"sequence_length", 2048}};
  EXPECT_EQ(job.scenario.at("strategy"), expected);
  // The same by accelerate's launcher.
  const std::string other = scratch.write(
      "other.sh",
      "accelerate launch --use_deepspeed --num_machines 2 --num_processes 16 \\\n"
      "  --deepspeed_config_file ds.json train.py --per_device_train_batch_size 4 --bf16 \\\n"
      "  --max_seq_length 2048\n");
  const Imported by_accelerate = imported_from("deepspeed", other, {.model = "llama2_7b"});
  EXPECT_EQ(by_accelerate.scenario.at("cluster").at("nodes"), 2) << by_accelerate.told;
  EXPECT_EQ(by_accelerate.scenario.at("strategy").at("global_batch"), 64);
  // Without the script nobody knows.
  EXPECT_THAT(imported_from("deepspeed", scratch.path() / "ds.json", request_of_llama()).told,
              HasSubstr("train_micro_batch_size_per_gpu is left to the training script"));
}

TEST(ImportDeepspeed, ReadsAConfigurationOfTheTrainer) {
  const char* const samples = std::getenv("HEADWAY_SAMPLES");
  if (samples == nullptr) GTEST_SKIP() << "set HEADWAY_SAMPLES to the folder of sample files";
  const ScratchFolder scratch;
  const std::string script =
      scratch.write("train.sh",
                    "deepspeed --num_nodes 2 --num_gpus 8 train.py --per_device_train_batch_size 1 "
                    "--deepspeed " +
                        std::string(samples) + "/configs/deepspeed-zero3.json\n");
  const Imported job =
      imported_from("deepspeed", script, {.model = "llama2_7b", .sequence_length = 2048.0});
  EXPECT_EQ(job.told, "");
  EXPECT_EQ(job.scenario.at("strategy").at("precision"), "fp16");
  EXPECT_EQ(job.scenario.at("strategy").at("preset"), "deepspeed-zero-3");
}

TEST(HereDocument, IsFoundByTheNameOfItsFile) {
  const std::string script = "echo <<'E' > b\nno\nE\ncat > a.json <<-\"END\"\n{\n}\n\tEND\nls\n";
  const auto document = here_document_of(script, "a.json");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->text, "{\n}\n");
  EXPECT_EQ(document->lines_before, 4);
  EXPECT_EQ(here_document_of(script, "b")->text, "no\n");
  EXPECT_FALSE(here_document_of(script, "c"));
}

/// Fields that the script of a job says, and that DeepSpeed does unasked, as they were.
TEST(ImportDeepspeed, ReadsBackWhatLaunchFilesSay) {
  const std::vector<std::vector<Override>> jobs = {
      {{"/strategy/preset", "deepspeed-zero-1"}},
      {{"/strategy/preset", "deepspeed-zero-2"}, {"/strategy/micro_batch", "2"}},
      {{"/strategy/preset", "deepspeed-zero-3"}},
      {{"/strategy/preset", "deepspeed-zero-3"}, {"/strategy/precision", "fp16"}},
      {{"/strategy/preset", "deepspeed-zero-3"}, {"/strategy/shard_group", "8"}},
      {{"/strategy/preset", "deepspeed-zero-1"}, {"/strategy/zero_stage", "0"}},
      {{"/strategy/preset", "deepspeed-zero-2"}, {"/strategy/gradient_precision", "fp32"}},
      {{"/strategy/preset", "deepspeed-zero-2"}, {"/strategy/overlap_gradient_reduce", "true"}},
      {{"/strategy/preset", "deepspeed-zero-2"}, {"/strategy/gradient_bucket", "100 MB"}},
      {{"/strategy/preset", "deepspeed-zero-2"}, {"/strategy/optimizer", "lion"}},
      {{"/strategy/preset", "deepspeed-zero-2"}, {"/strategy/optimizer_offload", "0.5"}},
      {{"/strategy/preset", "deepspeed-zero-3"}, {"/strategy/optimizer_offload", "1"}},
      {{"/strategy/preset", "deepspeed-zero-1"},
       {"/strategy/tensor_parallel", "2"},
       {"/strategy/sequence_parallel", "false"}},
  };
  for (std::vector<Override> overrides : jobs) {
    if (overrides.back().pointer != "/strategy/sequence_parallel") {
      overrides.push_back({"/strategy/tensor_parallel", "1"});
    }
    const JsonValue before = shipped_scenario("llama3_8b_64", overrides);
    expect_script_says(before, LaunchFramework::deepspeed, "deepspeed");
  }
}

}  // namespace
}  // namespace headway
