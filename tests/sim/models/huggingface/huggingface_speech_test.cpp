// Configurations of encoders of waveforms, written with the fields that the transformers library
// gives them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::parameters;
using testing::read_model_text;
using testing::read_scenario_model;

nlohmann::json waves(const std::string& type, const std::string& architecture) {
  return {{"model_type", type},
          {"architectures", {architecture}},
          {"hidden_size", 768},
          {"num_hidden_layers", 12},
          {"num_attention_heads", 12},
          {"intermediate_size", 3072},
          {"vocab_size", 32},
          {"conv_dim", {512, 512, 512, 512, 512, 512, 512}},
          {"conv_kernel", {10, 3, 3, 3, 3, 2, 2}},
          {"conv_stride", {5, 2, 2, 2, 2, 2, 2}},
          {"conv_bias", false},
          {"feat_extract_norm", "group"},
          {"num_feat_extract_layers", 7},
          {"num_conv_pos_embeddings", 128},
          {"num_conv_pos_embedding_groups", 16},
          {"num_codevector_groups", 2},
          {"num_codevectors_per_group", 320},
          {"codevector_dim", 256},
          {"proj_codevector_dim", 256},
          {"num_negatives", 100},
          {"classifier_proj_size", 256},
          {"xvector_output_dim", 512},
          {"output_hidden_size", 768},
          {"num_adapter_layers", 3},
          {"adapter_kernel_size", 3},
          {"add_adapter", false},
          {"hidden_dropout", 0.1},
          {"layerdrop", 0.0}};
}

/// Beside the configuration clips of ten seconds.
ModelReading heard(const nlohmann::json& config) {
  const nlohmann::json scenario = {
      {"model", {{"huggingface", config}, {"clips", {{"samples", 160'000}}}}}};
  return read_scenario_model(scenario.dump());
}

void expect_heard(const nlohmann::json& config, std::int64_t count) {
  const ModelReading reading = heard(config);
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(parameters(reading), count);
  const ModelReading again = read_model_text(reading.read->resolved->dump());
  EXPECT_EQ(parameters(again), count) << again.problems;
  EXPECT_EQ(again.read->model.sequence_length, 499);
}

/// facebook/wav2vec2-base-960h, 94.4 M; facebook/wav2vec2-base as it is pretrained, 95.04 M (Yang
/// et al. 2021, arXiv:2105.01051, table 1).
TEST(HuggingFaceSpeech, Wav2Vec2HasItsPublishedParameters) {
  expect_heard(waves("wav2vec2", "Wav2Vec2ForCTC"), 94'396'320);
  expect_heard(waves("wav2vec2", "Wav2Vec2ForPreTraining"), 95'044'608);
}

/// facebook/hubert-large-ls960-ft: the 315,438,720 of XLSR-53, and 32 letters. facebook/
/// hubert-xlarge: 964 M (Hsu et al. 2021, arXiv:2106.07447, table 1), with what predicts its 500
/// clusters through 1,024 columns instead of letters.
TEST(HuggingFaceSpeech, HubertHasItsPublishedParameters) {
  nlohmann::json large = waves("hubert", "HubertForCTC");
  large["feat_extract_norm"] = "layer";
  large["conv_bias"] = true;
  large["do_stable_layer_norm"] = true;
  large["feat_proj_layer_norm"] = true;
  large["hidden_size"] = 1024;
  large["output_hidden_size"] = 1024;
  large["num_hidden_layers"] = 24;
  large["num_attention_heads"] = 16;
  large["intermediate_size"] = 4096;
  expect_heard(large, 315'438'720 + 32 * 1025);
  large["hidden_size"] = 1280;
  large["num_hidden_layers"] = 48;
  large["intermediate_size"] = 5120;
  const double letters = 32 * 1281;
  const double clusters = 1281 * 1024 + 504 * 1024;
  EXPECT_NEAR(static_cast<double>(parameters(heard(large))) - letters + clusters, 964e6, 1e6);
}

/// microsoft/wavlm-base: torchaudio's 94,381,936, and letters.
TEST(HuggingFaceSpeech, WavLmHasItsPublishedParameters) {
  nlohmann::json config = waves("wavlm", "WavLMModel");
  config["num_buckets"] = 320;
  config["max_bucket_distance"] = 800;
  config["num_ctc_classes"] = 80;
  expect_heard(config, 94'381'936 + 32 * 769);
  EXPECT_TRUE(heard(config).read->model.biases_scores);
}

TEST(HuggingFaceSpeech, WhatIsLeftOutIsAsInTheLibrary) {
  const auto count = [](const char* type) {
    return parameters(heard({{"model_type", type}, {"layerdrop", 0.0}}));
  };
  EXPECT_EQ(count("wav2vec2"), 94'396'320);
  EXPECT_EQ(count("hubert"), 94'396'320);
  EXPECT_EQ(count("wavlm"), 94'381'936 + 32 * 769);
  const ModelReading bare = read_model_text(R"({"model_type": "wav2vec2"})");
  EXPECT_FALSE(bare.has_errors);
  EXPECT_EQ(bare.read->model.sequence_length, 781);
  EXPECT_NE(bare.problems.find("warning: clips are taken to have 250,000 samples"),
            std::string::npos);
  EXPECT_NE(bare.problems.find(
                "warning: layers that are skipped at random are counted as if they were not"),
            std::string::npos)
      << bare.problems;
}

TEST(HuggingFaceSpeech, WhatIsOtherwiseIsTold) {
  const auto told = [](const char* key, const nlohmann::json& value) {
    nlohmann::json config = waves("wav2vec2", "Wav2Vec2ForCTC");
    config[key] = value;
    return heard(config).problems;
  };
  const auto expect = [&](const char* key, const nlohmann::json& value, const char* what) {
    EXPECT_NE(told(key, value).find(what), std::string::npos) << told(key, value);
  };
  expect("add_adapter", true, "filters behind the layers are not read");
  expect("adapter_attn_dim", 16, "adapters in the layers are not read");
  expect("conv_pos_batch_norm", true, "has a norm of another kind");
  expect("feat_proj_layer_norm", false, "no norm behind the last");
  expect("conv_kernel", {10, 3}, "2, where conv_dim has 7");
  expect("architectures", {"Wav2Vec2ForXVector"}, "what tells speakers apart is not read");
  expect("num_conv_pos_embedding_groups", 7, "7 does not divide 768");
  expect("num_attention_heads", 7, "7 does not divide 768");
  expect("feat_extract_norm", "batch", "feat_extract_norm");
  expect("layerdrop", 0.1, "0.1 of them are");
  expect("num_foo_layers", 3, "\"num_foo_layers\" is not read");
}

TEST(HuggingFaceSpeech, ClipsAndImagesAreThoseOfModelsThatHearAndSee) {
  const auto beside = [](const char* config, const char* what) {
    return read_scenario_model(std::string(R"({"model": {"huggingface": )") + config + ", " + what +
                               "}}")
        .problems;
  };
  const char* const bert = R"({"model_type": "bert", "hidden_size": 64, "num_hidden_layers": 2,
 "num_attention_heads": 2, "intermediate_size": 128, "vocab_size": 100})";
  EXPECT_NE(beside(bert, R"("clips": {"samples": 16000})")
                .find("the configuration has no clips that are read"),
            std::string::npos);
  EXPECT_NE(
      beside(bert, R"("images": {"share": 0.5})").find("the configuration has no images that are"),
      std::string::npos);
  EXPECT_NE(beside(R"({"model_type": "wavlm"})", R"("clips": {"sample": 1})")
                .find(R"(did you mean "samples"?)"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
