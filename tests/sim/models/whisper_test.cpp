#include "sim/models/transformer/whisper.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::read_model_text;

WhisperModel sized(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return {.layers = layers,
          .decoder_layers = layers,
          .hidden = hidden,
          .attention_heads = heads,
          .ffn_hidden = 4 * hidden,
          .vocabulary = 51'865};
}

WhisperModel whisper_small() { return sized(12, 768, 12); }

/// Two filters of three with biases; layers of 12 h^2 and 12 h (two biases of three, those of three
/// more products, two norms) and of 16 h^2 and 17 h; a norm behind each half; tables of words and
/// of 448 positions.
std::int64_t by_hand(std::int64_t layers, std::int64_t h, std::int64_t mel, std::int64_t words) {
  return 3 * mel * h + h + 3 * h * h + h + layers * (12 * h * h + 12 * h) +
         layers * (16 * h * h + 17 * h) + 4 * h + (words + 448) * h;
}

TEST(Whisper, HasThePublishedParameters) {
  // Hugging Face counts the encoder's 1,500 x h sinusoids as well, which are not trained.
  const auto with_sinusoids = [](const WhisperModel& fields) {
    return parameter_count(layers_of(fields)) + 1'500 * fields.hidden;
  };
  EXPECT_EQ(by_hand(12, 768, 80, 51'865) + 1'500 * 768, 241'734'912);
  EXPECT_EQ(parameter_count(layers_of(whisper_small())), by_hand(12, 768, 80, 51'865));
  EXPECT_EQ(with_sinusoids(whisper_small()), 241'734'912);
  EXPECT_EQ(with_sinusoids(sized(4, 384, 6)), 37'760'640);
  EXPECT_EQ(with_sinusoids(sized(32, 1280, 20)), 1'543'304'960);
  WhisperModel third = sized(32, 1280, 20);
  third.mel_bins = 128;
  third.vocabulary = 51'866;
  EXPECT_EQ(with_sinusoids(third), 1'543'490'560);
}

TEST(Whisper, AClipIsHeardOnceAndWrittenWordByWord) {
  // 3,000 spectra and 1,500 positions through the filters, 12 h^2 of each position and pairs with
  // all; of each of 448 words 14 h^2, pairs with half of them and with all positions, of which keys
  // and values are made, 2 h^2; the head of each word.
  const double h = 768;
  const double products = 3000 * 3 * 80 * h + 1500 * 3 * h * h + 12 * 1500 * 12 * h * h +
                          12 * (448 * 14 * h * h + 1500 * 2 * h * h) + 448 * 51'865 * h;
  const double pairs = 12 * 1500.0 * 1500 + 12 * 448 * (448 / 2.0 + 1500);
  const Model model = layers_of(whisper_small());
  EXPECT_FALSE(model.has_tokens);
  EXPECT_TRUE(model.has_positions());
  EXPECT_EQ(model.sequence_length, 1500);
  const ForwardFlops flops = forward_flops(model, 1500);
  EXPECT_NEAR(1500 * flops.products, 2.0 * products, 1e-9 * products);
  EXPECT_NEAR(1500 * flops.attention, 2.0 * 2.0 * h * pairs, 1e-9 * pairs * h);
}

TEST(Whisper, WordsAttendToWordsAndToPositions) {
  const Model model = layers_of(whisper_small());
  ASSERT_EQ(model.layer_count(), 12 + 2 * 12);
  const RankShape shape{.micro_batch = 4.0, .sequence_length = 1500.0};
  const auto attention = [&](int layer) {
    return work(model.layer(layer), shape).attention->shape;
  };
  EXPECT_EQ(attention(0), (AttentionShape{.sequences = 4,
                                          .query_length = 1500,
                                          .key_length = 1500,
                                          .query_heads = 12,
                                          .key_heads = 12,
                                          .head_size = 64,
                                          .causal = false}));
  EXPECT_EQ(attention(12).query_length, 448.0);
  EXPECT_EQ(attention(12).key_length, 448.0);
  EXPECT_TRUE(attention(12).causal);
  EXPECT_EQ(attention(13).query_length, 448.0);
  EXPECT_EQ(attention(13).key_length, 1500.0);
  EXPECT_FALSE(attention(13).causal);
  const Work crossed = work(model.layer(13), shape);
  EXPECT_EQ(crossed.linears[0].forward, (GemmShape{4 * 448, 768, 768}));
  EXPECT_EQ(crossed.linears[1].forward, (GemmShape{4 * 1500, 2 * 768, 768}));
}

TEST(Whisper, FiltersSeeThreeSpectraAndTheSecondEveryOther) {
  const Model model = layers_of(whisper_small());
  const Work first = work(model.first, {.micro_batch = 2.0, .sequence_length = 1500.0});
  ASSERT_EQ(first.linears.size(), 2U);
  EXPECT_EQ(first.linears[0].forward, (GemmShape{2 * 3000, 768, 3 * 80}));
  EXPECT_FALSE(first.linears[0].input_gradient);
  EXPECT_EQ(first.linears[0].reuse, 3.0);
  EXPECT_EQ(first.linears[1].forward, (GemmShape{2 * 1500, 768, 3 * 768}));
  EXPECT_TRUE(first.linears[1].input_gradient);
  EXPECT_EQ(first.linears[1].reuse, 1.5);
}

TEST(Whisper, KeepsWhatItsGradientsTake) {
  // In 2 bytes a clip. Of the filters 3,000 spectra; 3,000 rows in front of and behind the first
  // activation, and 1,500 in front of the second. Of a layer of the encoder 16 h: a norm's input
  // and a product's twice, queries, keys, values and results, 4 h before and behind an activation;
  // 4 bytes a head. Of what crosses, keys and values of the positions, 2 h; the rest of a word.
  const double h = 768;
  const Model model = layers_of(whisper_small());
  const RankShape clip{.sequence_length = 1500.0};
  const auto kept = [&](const Layer& layer) { return kept_bytes(layer, clip).count(); };
  EXPECT_DOUBLE_EQ(kept(model.first), 2.0 * (3000 * 80 + 2 * 3000 * h + 1500 * h));
  EXPECT_DOUBLE_EQ(kept(model.layer(0)), 1500 * (2 * 16 * h + 4 * 12));
  EXPECT_NEAR(kept(model.layer(13)), 448 * (2 * 14 * h + 4 * 12) + 1500 * 2 * 2 * h, 1e-6);
  // A stage hands on what the encoder gave, and the decoder's own.
  EXPECT_EQ(model.layer(11).output, h);
  EXPECT_NEAR(1500 * model.layer(12).output, (1500 + 448) * h, 1e-6);
  EXPECT_NEAR(1500 * model.last.loss_classes, 448 * 51'865, 1e-6);
}

TEST(Whisper, RanksHaveTheirPartOfBiasesAndTheWholeOfFilters) {
  // Of four: a quarter of every matrix and of its biases, where outputs are split; norms and biases
  // behind sums whole.
  const double h = 768;
  const RankShape four{.sequence_length = 1500.0, .tensor_parallel = 4.0};
  const Model model = layers_of(whisper_small());
  EXPECT_EQ(parameters_on_rank(model.layer(0), four).total(),
            12 * h * h / 4 + 2 * h / 4 + h + 4 * h / 4 + h + 4 * h);
  EXPECT_EQ(parameters_on_rank(model.first, four).total(),
            3 * 80 * h + h + 3 * h * h + h + 2 * h + 51'865 * h / 4 + 448 * h);
}

TEST(Whisper, ConfigurationsAreRead) {
  const auto reading = read_model_text(R"({"model_type": "whisper",
    "architectures": ["WhisperForConditionalGeneration"], "activation_function": "gelu",
    "classifier_proj_size": 256, "d_model": 1280, "decoder_attention_heads": 20,
    "decoder_ffn_dim": 5120, "decoder_layers": 4, "encoder_attention_heads": 20,
    "encoder_ffn_dim": 5120, "encoder_layers": 32, "mask_feature_length": 10,
    "max_source_positions": 1500, "max_target_positions": 448, "num_hidden_layers": 32,
    "num_mel_bins": 128, "vocab_size": 51866, "use_cache": true})");
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  // Of large-v3-turbo, with 28 layers less of the decoder.
  EXPECT_EQ(parameter_count(reading.read->model) + 1'500 * 1'280, 808'878'080);
  const auto again = read_model_text(reading.read->resolved->dump());
  EXPECT_EQ(testing::parameters(again), parameter_count(reading.read->model)) << again.problems;
}

TEST(Whisper, HalvesOfAConfigurationAreAlike) {
  const auto reading = read_model_text(R"({"model_type": "whisper", "d_model": 64,
 "decoder_attention_heads": 2, "decoder_ffn_dim": 128, "decoder_layers": 2,
 "encoder_attention_heads": 4, "encoder_ffn_dim": 256, "encoder_layers": 2})");
  EXPECT_NE(reading.problems.find("2, where the encoder has 4"), std::string::npos);
  EXPECT_NE(reading.problems.find("128, where the encoder has 256"), std::string::npos);
  EXPECT_NE(reading.problems.find(R"(missing field "vocab_size")"), std::string::npos);
}

TEST(Whisper, WhatDoesNotGoTogetherIsToldAtOnce) {
  const auto reading = read_model_text(
      R"({"schema": "headway/model/1", "family": "whisper", "layers": 2, "hidden": 64,
 "attention_heads": 5, "vocabulary": 100, "frames": 301, "target_length": 449, "mel_bin": 80})");
  for (const char* problem :
       {"5 does not divide 64", "frames must be even", "help: use 302", "449 of 448",
        R"(unknown field "mel_bin")", R"(did you mean "mel_bins"?)"}) {
    EXPECT_NE(reading.problems.find(problem), std::string::npos) << reading.problems;
  }
}

}  // namespace
}  // namespace headway
