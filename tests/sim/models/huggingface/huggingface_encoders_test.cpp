#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_parameters;
using testing::ModelReading;
using testing::read_model_text;

TEST(HuggingFaceEncoders, T5HasItsPublishedParameters) {
  expect_parameters(R"({"model_type": "t5", "d_model": 1024, "d_kv": 64, "d_ff": 4096,
    "num_layers": 24, "num_heads": 16, "vocab_size": 32128, "n_positions": 512,
    "relative_attention_num_buckets": 32, "dropout_rate": 0.1, "is_encoder_decoder": true})",
                    737'668'096);
  // Flan-T5-base, of version 1.1: a gated MLP, 3 x 2048 for 2 x 3072, and a head of its own:
  // 222,903,552 + 32,128 x 768.
  expect_parameters(R"({"architectures": ["T5ForConditionalGeneration"], "d_model": 768, "d_kv": 64,
    "d_ff": 2048, "num_layers": 12, "num_decoder_layers": 12, "num_heads": 12,
    "vocab_size": 32128, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})",
                    247'577'856);
}

TEST(HuggingFaceEncoders, BertHasItsPublishedParameters) {
  expect_parameters(R"({"model_type": "bert", "architectures": ["BertForMaskedLM"],
    "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "vocab_size": 30522, "type_vocab_size": 2,
    "max_position_embeddings": 512, "hidden_act": "gelu"})",
                    110'106'428);
}

/// A thousand labels, as microsoft/resnet-50 and -18 have them (torchvision's counts).
TEST(HuggingFaceEncoders, ResNetsHaveTheirPublishedParameters) {
  nlohmann::json labels;
  for (int i = 0; i < 1000; ++i) labels[std::to_string(i)] = "a thing";
  nlohmann::json config = {{"model_type", "resnet"},
                           {"depths", {3, 4, 6, 3}},
                           {"layer_type", "bottleneck"},
                           {"embedding_size", 64},
                           {"hidden_sizes", {256, 512, 1024, 2048}},
                           {"downsample_in_first_stage", false},
                           {"id2label", labels},
                           {"num_channels", 3}};
  expect_parameters(config.dump(), 25'557'032);
  config["depths"] = {2, 2, 2, 2};
  config["layer_type"] = "basic";
  config["hidden_sizes"] = {64, 128, 256, 512};
  expect_parameters(config.dump(), 11'689'512);
}

TEST(HuggingFaceEncoders, ResNetsThatAreOtherwiseAreRefused) {
  const auto problems = [](const std::string& more) {
    return read_model_text(R"({"model_type": "resnet", )" + more + "}").problems;
  };
  EXPECT_EQ(problems(R"("layer_type": "basic", "hidden_sizes": [256, 512, 1024, 2048])"),
            R"(error: the stages are not as wide as those of a ResNet
  --> model.json:1:65   /hidden_sizes
   |
 1 | {"model_type": "resnet", "layer_type": "basic", "hidden_sizes": [256, 512, 1024, 2048]}
   |                                                                 ^ expected [64,128,256,512]
  help: of another network, list the layers (`headway explain model.layers`)
)");
  EXPECT_EQ(problems(R"("downsample_in_bottleneck": true)"),
            R"(error: stages halve the image in their first 3 x 3 convolution
  --> model.json:1:54   /downsample_in_bottleneck
   |
 1 | {"model_type": "resnet", "downsample_in_bottleneck": true}
   |                                                      ^^^^
  help: read are networks that do, and whose first stage leaves it as it is
)");
  EXPECT_EQ(problems(R"("depths": "many")").find("one stage"), std::string::npos);
  EXPECT_EQ(problems(R"("depths": [])"),
            R"(error: a residual network has one stage of blocks at least
  --> model.json:1:36   /depths
   |
 1 | {"model_type": "resnet", "depths": []}
   |                                    ^
  help: ResNet-50 has [3, 4, 6, 3]
)");
}

TEST(HuggingFaceEncoders, DropOutWhatTheirConfigurationsSay) {
  const auto drops = [](const std::string& more) {
    const ModelReading reading = read_model_text(
        R"({"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522)" +
        more + "}");
    EXPECT_EQ(reading.problems, "");
    return reading.read->resolved->at("dropout").get<bool>();
  };
  EXPECT_TRUE(drops(""));
  EXPECT_TRUE(drops(R"(, "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.0)"));
  EXPECT_FALSE(drops(R"(, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0)"));
  // The library's GPT-Neo drops nothing where nothing is said, its GPT-2 a tenth.
  const auto decoder_drops = [](const char* config) {
    return read_model_text(config).read->transformer->dropout;
  };
  EXPECT_FALSE(decoder_drops(R"({"model_type": "gpt_neo", "hidden_size": 2048, "num_layers": 24,
    "num_heads": 16, "max_position_embeddings": 2048, "vocab_size": 50257})"));
  constexpr const char* kGpt2 = R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12,
    "n_head": 12, "n_positions": 1024, "vocab_size": 50257)";
  EXPECT_TRUE(decoder_drops((std::string(kGpt2) + "}").c_str()));
  EXPECT_FALSE(decoder_drops((std::string(kGpt2) + R"(, "embd_pdrop": 0.0, "resid_pdrop": 0.0,
    "attn_pdrop": 0.0})")
                                 .c_str()));
}

TEST(HuggingFaceEncoders, RobertaAndDistilBertPoolNoSentence) {
  // Vocabulary, 514 positions and a segment of h = 768, a norm; 12 layers of 12 h^2 + 13 h; a
  // product with bias and a norm in front of the words, and a bias for each: 50,265 of them, and
  // 250,002.
  const std::int64_t h = 768;
  const auto of_words = [h](std::int64_t words) {
    return (words + 514 + 1 + 2) * h + 12 * (12 * h * h + 13 * h) + h * h + 3 * h + words;
  };
  EXPECT_EQ(of_words(50'265), 124'697'433);
  const char* roberta = R"({"model_type": "roberta", "architectures": ["RobertaForMaskedLM"],
    "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "pad_token_id": 1,
    "intermediate_size": 3072, "vocab_size": 50265, "type_vocab_size": 1,
    "max_position_embeddings": 514})";
  expect_parameters(roberta, 124'697'433);
  EXPECT_EQ(read_model_text(roberta).read->model.sequence_length, 512);
  expect_parameters(R"({"model_type": "xlm-roberta", "hidden_size": 768, "num_hidden_layers": 12,
    "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 250002,
    "type_vocab_size": 1, "max_position_embeddings": 514})",
                    of_words(250'002));
  expect_parameters(R"({"model_type": "distilbert", "dim": 768, "n_layers": 6, "n_heads": 12,
    "hidden_dim": 3072, "vocab_size": 30522, "max_position_embeddings": 512,
    "sinusoidal_pos_embds": false})",
                    66'985'530);
}

TEST(HuggingFaceEncoders, VisionTransformersHaveTheLabelsOfTheirConfiguration) {
  // ViT-B/16 of 1,000 classes has 86,567,656; of two, 998 x 769 less.
  expect_parameters(R"({"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12,
    "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224, "patch_size": 16,
    "num_channels": 3, "id2label": {"0": "a cat", "1": "no cat"}})",
                    86'567'656 - 998 * 769);
}

TEST(HuggingFaceEncoders, WhatIsMissingOrOtherwiseIsTold) {
  EXPECT_NE(read_model_text(R"({"model_type": "roberta", "hidden_size": 768, "vocab_size": 50265,
 "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
 "max_position_embeddings": 2})")
                .problems.find("error: no position is left for words"),
            std::string::npos);
  EXPECT_NE(read_model_text(R"({"model_type": "mt5", "d_model": 512, "d_kv": 64, "num_layers": 8,
 "num_heads": 6, "vocab_size": 250112})")
                .problems.find(R"(error: missing field "d_ff")"),
            std::string::npos);
  EXPECT_EQ(read_model_text(R"({"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12,
 "num_attention_heads": 12, "intermediate_size": 3072, "num_channels": 4})")
                .problems,
            R"(error: images are in other than three colours
  --> model.json:2:72   /num_channels
   |
 2 |  "num_attention_heads": 12, "intermediate_size": 3072, "num_channels": 4}
   |                                                                        ^
  help: only those of three are read
)");
}

}  // namespace
}  // namespace headway
