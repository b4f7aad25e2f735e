#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/file_text.h"
#include "sim/layers/parameters.h"
#include "tests/sim/models/model_reading.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::read_scenario_model;

/// Those that one token meets: of its experts instead of all, and of the output head, tied or not,
/// instead of the embedding, of which it reads a row.
double active_parameters(const Model& model) {
  const Parameters counts = parameters(model);
  double active =
      counts.total() - counts.experts() - (model.tied ? 0.0 : counts.of(Part::embedding));
  if (const auto* routing = model.routing()) {
    active += counts.experts() / routing->experts * routing->experts_per_token;
  }
  return active;
}

/// What the publications say the library's models have.
struct PublishedCount {
  std::string file;
  double parameters;
  double rounding;  ///< of the publication; 1 is an exact count
};

constexpr double kBillion = 1e9;

const std::vector<PublishedCount>& published() {
  static const std::vector<PublishedCount> models = {
      // Counts of the released weights, to the last parameter.
      {"bert_large", 336'226'108, 1},
      {"bert_base", 110'106'428, 1},
      {"qwen2.5_vl_7b", 8'292'166'656, 1},
      {"llava_1.5_7b", 7'063'427'072, 1e5},  // without a norm and a class of its encoder
      {"alexnet", 61'100'840, 1},
      {"inception_v3", 23'834'568, 1},
      {"yolov3", 61'949'149, 1},
      // ResNet-50 without its classifier and its 53,120 terms of norms; three 1 x 1 of 512, 1024
      // and
      // 2048 to 256 and five 3 x 3 of 256, with biases; four 3 x 3 of 256 in either head, and
      // 9 x 91 and 9 x 4 of 3 x 3 x 256.
      {"retinanet",
       25'557'032 - 2'049'000 - 53'120 + (3'584 + 3) * 256 + (5 + 4 + 4) * (2'304 + 1) * 256 +
           (819 + 36) * (2'304 + 1),
       1},
      {"t5_base", 222'903'552, 1},
      {"t5_large", 737'668'096, 1},
      // Less 256 positions, which are fixed.
      {"dit_xl_2", 675'129'632 - 256 * 1'152, 1},
      {"flux.1_dev", 11'901'408'320, 1},
      {"stable_diffusion_3_medium", 2'028'328'000, 1},
      // Less the encoder's positions, which are fixed.
      {"whisper_small", 241'734'912 - 1'500 * 768, 1},
      {"whisper_large_v3", 1'543'490'560 - 1'500 * 1'280, 1},
      // Four tables of 6,040 users and 3,706 items, 32 and 128 wide; 256-128-64-32 and 64-1.
      {"neumf", 9'746 * 160 + 257 * 128 + 129 * 64 + 65 * 32 + 65, 1},
      // Rows of 128: 204,184,588 of the tables (MLPerf caps the largest at 40 million), 32,709,138,
      // 177,944,275 and 882,774,559. Bottom 13-512-256-128. Behind three cross layers of 3,456 x
      // 512 twice and a bias, or 479 of 351 pairs and 128: 1024-1024-512-256-1.
      // A table and a head of 33,278 x 200 with a bias, two layers of 4 x 200 x (200 + 200) and two
      // biases.
      // Filters of 41 x 11 and 21 x 11 with biases and norms; in either direction three gates of
      // 800
      // by 1,312 or 800 inputs and 800 states with two biases; norms before all but the first; 29
      // letters.
      {"deepspeech2",
       32 * (451 + 1 + 2) + 32 * (7'392 + 1 + 2) + 2 * (2'400 * (1'312 + 800) + 4'800) +
           4 * (2 * (2'400 * 1'600 + 4'800) + 1'600) + 1'600 + 29 * 800,
       1},
      {"lstm_wikitext2", 33'278 * 401 + 2 * (4 * 200 * 400 + 2 * 800), 1},
      {"dlrm_dcnv2",
       204'184'588.0 * 128 + 171'392 + 3 * (2 * 3456 * 512 + 3456) + 3457 * 1024 + 1025 * 1024 +
           1025 * 512 + 513 * 256 + 257,
       1},
      {"dlrm_criteo_xlarge",
       882'774'559.0 * 128 + 171'392 + 480 * 1024 + 1025 * 1024 + 1025 * 512 + 513 * 256 + 257, 1},
      {"dlrm_criteo_small",
       32'709'138.0 * 128 + 171'392 + 480 * 1024 + 1025 * 1024 + 1025 * 512 + 513 * 256 + 257, 1},
      {"dlrm_criteo_large",
       177'944'275.0 * 128 + 171'392 + 480 * 1024 + 1025 * 1024 + 1025 * 512 + 513 * 256 + 257, 1},
      {"resnet_18", 11'689'512, 1},
      // Its stem is 3 x 3 there (11,173,962 in all), 7 x 7 here.
      {"resnet_18_cifar", 11'173'962 + 40 * 3 * 64, 1},
      {"resnet_50", 25'557'032, 1},
      {"resnet_101", 44'549'160, 1},
      {"resnet_152", 60'192'808, 1},
      {"vgg_16", 138'357'544, 1},
      {"vit_b_16", 86'567'656, 1},
      {"vit_l_16", 304'326'632, 1},
      {"vit_h_14", 632'045'800, 1},
      {"gpt2_small", 124'439'808, 1},
      {"gpt2_xl", 1'557'611'200, 1},
      {"gpt_neox_20b", 20'554'567'680, 1},
      {"llama2_7b", 6'738'415'616, 1},
      {"llama2_13b", 13'015'864'320, 1},
      {"llama2_70b", 68'976'648'192, 1},
      {"llama3_8b", 8'030'261'248, 1},
      {"llama3_70b", 70'553'706'496, 1},
      {"llama3_405b", 405'853'388'800, 1},
      {"mistral_7b", 7'241'732'096, 1},
      {"qwen2_7b", 7'615'616'512, 1},
      {"qwen2_72b", 72'706'203'648, 1},
      {"mixtral_8x7b", 46'702'792'704, 1},
      {"mixtral_8x22b", 140'620'634'112, 1},
      {"gpt_oss_20b", 20'914'757'184, 1},
      {"gpt_oss_120b", 116'829'156'672, 1},
      {"deepseek_v2", 235'741'434'880, 1},
      // Less a bias a routed expert that no gradient trains, 58 x 256.
      {"deepseek_v3", 671'026'419'200 - 14'848, 1},
      // With an indexer of 1,536 x 8,192, 7,168 x (128 + 64) and a layer norm of 128 a layer
      // (DeepSeek-V3.2-Exp, inference/model.py).
      {"deepseek_v3.2", 671'026'419'200.0 - 14'848 + 61 * (1536 * 8192 + 7168 * 192 + 2 * 128), 1},
      // 2 x 131,072 x 4,096 of tables and a norm; 24 of Mamba-2, 8,192 wide with 2 x 8 x 128 and
      // 128
      // steps; 24 MLPs; 4 of attention: 8.1 billion (NVIDIA 2025, arXiv:2504.03624).
      {"nemotron_h_8b",
       2 * 131'072.0 * 4096 + 53 * 4096 +
           24 * (4096.0 * (2 * 8192 + 2048 + 128) + 10'240 * 5 + 3 * 128 + 8192 + 8192.0 * 4096) +
           24 * 2.0 * 4096 * 21'504 + 4 * (4096.0 * (4096 + 2048) + 4096.0 * 4096),
       1},
      // NVIDIA 2025, Nemotron 3 Nano: 31.6 billion.
      {"nemotron3_nano_30b", 31.6 * kBillion, 0.1 * kBillion},
      // Of its card: 80 billion, 79 without the embedding.
      {"qwen3_next_80b", 80 * kBillion, kBillion},
      // 48 by its name, which leaves the tables out: 2 x 163,840 x 2,304 (Kimi Team 2025).
      {"kimi_linear_48b", 48.35 * kBillion + 2 * 163'840.0 * 2304, 0.1 * kBillion},
      {"lfm2_8b_a1b", 8.3 * kBillion, 0.1 * kBillion},  // Liquid AI 2025
      // Of their cards.
      {"mamba_2.8b", 2'768'345'600, 1},
      {"falcon_mamba_7b", 7'272'665'088, 1},
      // 28 scans of 8,192 channels, 4 of attention; 16 MLPs, 16 times 16 experts with a router: 52
      // billion (Lieber et al. 2024).
      {"jamba_52b",
       28 * (4096.0 * 3 * 8192 + 8192.0 * (256 + 32) + 256 * 8192.0 + 8192.0 * (5 + 16 + 2) + 288) +
           4 * 4096.0 * (2 * 4096 + 2 * 1024) + (16 + 16 * 16) * 3.0 * 4096 * 14'336 +
           16 * 16 * 4096.0 + 65 * 4096 + 2 * 65'536.0 * 4096,
       1},
      {"qwen3_30b_a3b", 30'532'122'624, 1},
      {"qwen3_235b_a22b", 235'093'634'560, 1},
      // Less what is not counted: gains of two norms more a layer, 2 x hidden.
      {"gemma2_9b", 9'241'705'984 - 42 * 7168, 1},
      {"gemma2_27b", 27'227'128'320 - 46 * 9216, 1},
      // Embedding and other parameters (Gemma Team 2025, Table 1): 1,012 + 10,759 and 1,416 +
      // 25,600.
      {"gemma3_12b", 11.8 * kBillion, 0.1 * kBillion},
      {"gemma3_27b", 27.0 * kBillion, 0.1 * kBillion},
      // By their announcements; Llama 4's with an encoder of images of 0.9 billion.
      {"llama4_scout", 108.6 * kBillion, 2 * kBillion},
      {"llama4_maverick", 400 * kBillion, 2 * kBillion},
      {"grok_1", 314 * kBillion, 5 * kBillion},
      {"kimi_k2", 1000 * kBillion, 100 * kBillion},
      // Narayanan et al. 2021, Table 1.
      {"megatron_1.7b", 1.7 * kBillion, 0.1 * kBillion},
      {"megatron_3.6b", 3.6 * kBillion, 0.1 * kBillion},
      {"megatron_7.5b", 7.5 * kBillion, 0.1 * kBillion},
      {"megatron_18.4b", 18.4 * kBillion, 0.1 * kBillion},
      {"megatron_39.1b", 39.1 * kBillion, 0.1 * kBillion},
      {"megatron_76.1b", 76.1 * kBillion, 0.1 * kBillion},
      {"megatron_145.6b", 145.6 * kBillion, 0.1 * kBillion},
      {"megatron_310.1b", 310.1 * kBillion, 0.1 * kBillion},
      {"megatron_529.6b", 529.6 * kBillion, 0.1 * kBillion},
      {"megatron_1008b", 1008.0 * kBillion, 0.1 * kBillion},
      // nnU-Net of volumes, which MLPerf took over: Roy et al. 2023 (arXiv:2303.09975), table 1.
      {"unet3d", 31.2e6, 0.1e6},
      // By their names: Korthikanti et al. 2022, Brown et al. 2020, MosaicML.
      {"megatron_22b", 22 * kBillion, 1 * kBillion},
      {"mt_nlg_530b", 530 * kBillion, 1 * kBillion},
      {"megatron_1t", 1000 * kBillion, 100 * kBillion},
      {"gpt3_175b", 175 * kBillion, 1 * kBillion},
      {"mpt_7b", 7 * kBillion, 1 * kBillion},
      {"mpt_30b", 30 * kBillion, 1 * kBillion},
      // Embedding and other parameters: 9.4 + 331.6 (Adler et al. 2024); 15.6 (Muralidharan et al.
      // 2024).
      {"nemotron4_15b", 15.6 * kBillion, 0.1 * kBillion},
      {"nemotron4_340b", 341.0 * kBillion, 0.1 * kBillion},
  };
  return models;
}

TEST(ModelLibrary, HasThePublishedParameters) {
  for (const PublishedCount& model : published()) {
    const ModelReading reading = read_scenario_model("{\"model\": \"" + model.file + "\"}");
    EXPECT_EQ(reading.problems, "") << model.file;
    ASSERT_TRUE(reading.read.has_value()) << model.file;
    const auto counted = parameters(reading.read->model).total();
    EXPECT_EQ(std::round(counted / model.rounding), std::round(model.parameters / model.rounding))
        << model.file << " has " << std::to_string(counted);
  }
}

TEST(ModelLibrary, ATokenMeetsThePublishedActiveParameters) {
  const std::vector<PublishedCount> models = {
      {"deepseek_v2", 21 * kBillion, kBillion},                // DeepSeek-AI 2024
      {"deepseek_v3", 37 * kBillion, kBillion},                // DeepSeek-AI 2024
      {"nemotron3_nano_30b", 3.2 * kBillion, 0.1 * kBillion},  // NVIDIA 2025
      {"qwen3_next_80b", 3.6 * kBillion, 0.1 * kBillion},      // "3B": 3.25 and the head's 0.31
      {"kimi_k2", 32 * kBillion, kBillion},                    // Kimi Team 2025
      {"kimi_linear_48b", 3 * kBillion, kBillion},             // Kimi Team 2025
      {"lfm2_8b_a1b", 1.5 * kBillion, 0.5 * kBillion},         // Liquid AI 2025
      {"jamba_52b", 12 * kBillion, kBillion},                  // Lieber et al. 2024
      {"qwen3_235b_a22b", 22 * kBillion, kBillion},            // Yang et al. 2025
      {"gpt_oss_20b", 3.61 * kBillion, kBillion / 100},        // OpenAI 2025, Table 1
      {"gpt_oss_120b", 5.13 * kBillion, kBillion / 100},
  };
  for (const PublishedCount& model : models) {
    const ModelReading reading = read_scenario_model("{\"model\": \"" + model.file + "\"}");
    ASSERT_TRUE(reading.read.has_value()) << model.file;
    const auto counted = active_parameters(reading.read->model);
    EXPECT_EQ(std::round(counted / model.rounding), std::round(model.parameters / model.rounding))
        << model.file << " has " << std::to_string(counted);
  }
}

TEST(ModelLibrary, IsAllChecked) {
  std::vector<std::string> checked;
  for (const PublishedCount& model : published()) checked.push_back(model.file);
  std::sort(checked.begin(), checked.end());
  const std::filesystem::path folder(source_folder() + "/scenarios/models");
  EXPECT_EQ(json_files_below(folder), checked);
}

TEST(ModelLibrary, SaysWhereItsNumbersAreFrom) {
  for (const PublishedCount& model : published()) {
    const ModelReading reading = read_scenario_model("{\"model\": \"" + model.file + "\"}");
    ASSERT_TRUE(reading.read.has_value()) << model.file;
    EXPECT_NE(reading.read->model.source, "") << model.file;
    EXPECT_NE(reading.read->model.name, "unnamed model") << model.file;
  }
}

}  // namespace
}  // namespace headway
