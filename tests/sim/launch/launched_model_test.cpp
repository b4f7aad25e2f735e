// What launch files have to know of a model.
#include "sim/launch/launched_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/launch/launch_files.h"
#include "tests/sim/launch/jobs_to_launch.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

JsonValue training(const nlohmann::json& model, const nlohmann::json& strategy = {}) {
  nlohmann::json scenario = small_scenario(4);
  scenario["model"] = model;
  scenario["strategy"] = {{"micro_batch", 2}, {"global_batch", 64}};
  if (!strategy.is_null()) scenario["strategy"].update(strategy);
  return scenario_of(scenario).resolved;
}

TEST(LaunchedModel, NetworksOfImagesAndTablesAndScansDoNotAttend) {
  std::vector<std::string> without;
  for (const auto& file :
       std::filesystem::directory_iterator(source_folder() + "/scenarios/models")) {
    if (file.path().extension() != ".json") continue;
    const std::string name = file.path().stem().string();
    if (!has_attention(training(name))) without.push_back(name);
  }
  EXPECT_THAT(without,
              testing::UnorderedElementsAre(
                  "alexnet", "deepspeech2", "dlrm_criteo_large", "dlrm_criteo_small",
                  "dlrm_criteo_xlarge", "dlrm_dcnv2", "falcon_mamba_7b", "inception_v3",
                  "lstm_wikitext2", "mamba_2.8b", "neumf", "resnet_101", "resnet_152", "resnet_18",
                  "resnet_18_cifar", "resnet_50", "retinanet", "unet3d", "vgg_16", "yolov3"));
}

TEST(LaunchedModel, MegatronsScriptOfGptsIsNotGivenOtherMixers) {
  std::vector<std::string> others;
  for (const char* name : {"llama3_8b", "mixtral_8x7b", "nemotron_h_8b", "jamba_52b",
                           "qwen3_next_80b", "lfm2_8b_a1b", "mamba_2.8b"}) {
    const std::string text = launch_script(training(name), LaunchFramework::megatron).text;
    const bool is_told = text.find("--num-layers") != std::string::npos;
    const bool is_said = text.find("the model is for another script") != std::string::npos;
    EXPECT_NE(is_told, is_said) << name;
    if (is_said) others.emplace_back(name);
  }
  EXPECT_THAT(others, testing::ElementsAre("nemotron_h_8b", "jamba_52b", "qwen3_next_80b",
                                           "lfm2_8b_a1b", "mamba_2.8b"));
}

TEST(LaunchedModel, AListOfLayersAttendsWhereOneDoes) {
  const auto of = [](const nlohmann::json& first) {
    const nlohmann::json last = {{"kind", "linear"}, {"outputs", 64}};
    return has_attention(training({{"name", "listed"},
                                   {"sequence_length", 16},
                                   {"layers", {{{"name", "one"}, {"operators", {first, last}}}}},
                                   {"loss_classes", 64}}));
  };
  EXPECT_FALSE(of({{"kind", "linear"}, {"in", {64}}, {"outputs", 64}}));
  EXPECT_TRUE(of({{"kind", "attention"}, {"in", {16, 64}}, {"heads", 4}}));
}

TEST(LaunchedModel, PyTorchsPresetsStartOthersThanDecodersByAccelerate) {
  const nlohmann::json preset = {{"preset", "pytorch-ddp"}};
  EXPECT_EQ(launch_framework_of(training("gpt2_xl", preset)), LaunchFramework::torchtitan);
  EXPECT_EQ(launch_framework_of(training("resnet_50", preset)), LaunchFramework::accelerate);
  EXPECT_EQ(launch_framework_of(training("vit_b_16", preset)), LaunchFramework::accelerate);
  EXPECT_THAT(launch_script(training("resnet_50", preset), LaunchFramework::torchtitan).text,
              HasSubstr("torchtitan trains decoders only"));
}

TEST(LaunchedModel, NothingIsToldOfAttentionWhereThereIsNone) {
  for (const auto& [name, framework] : kWords<LaunchFramework>) {
    EXPECT_THAT(launch_script(training("resnet_50"), framework).text, Not(HasSubstr("attention")))
        << name;
  }
}

TEST(LaunchedModel, FullyShardedConvolutionsAreWrappedBySize) {
  const auto text = [](const std::string& model) {
    return launch_script(training(model, {{"preset", "transformers"}, {"zero_stage", 3}}),
                         LaunchFramework::accelerate)
        .text;
  };
  EXPECT_THAT(text("resnet_50"), HasSubstr("SIZE_BASED_WRAP --fsdp_min_num_params 1000000"));
  EXPECT_THAT(text("bert_base"), HasSubstr("TRANSFORMER_BASED_WRAP"));
}

}  // namespace
}  // namespace headway
