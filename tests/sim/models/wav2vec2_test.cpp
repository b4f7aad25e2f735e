#include "sim/models/transformer/wav2vec2.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::read_model_text;

Wav2Vec2Model base_of_waves() {
  Wav2Vec2Model model;
  model.layers = model.attention_heads = 12;
  model.hidden = 768;
  model.ffn_hidden = 3072;
  return model;
}

Wav2Vec2Model large_of_waves() {
  Wav2Vec2Model model;
  model.layers = 24;
  model.attention_heads = 16;
  model.hidden = 1024;
  model.ffn_hidden = 4096;
  return model;
}

/// Filters of 10, 3 and 2 taps of 512 channels, and a norm of the first's; a norm and a product
/// to h; what is masked; a filter of 128 taps in 16 groups, its gains and biases; a norm; layers of
/// 12 h^2 and 13 h. 94.3965 M with 32 letters (OpenVINO Model Zoo, wav2vec2-base).
TEST(Wav2Vec2, HasThePublishedParameters) {
  const auto by_hand = [](std::int64_t layers, std::int64_t h) {
    const std::int64_t c = 512;
    return 10 * c + 2 * c + (4 * 3 + 2 * 2) * c * c + 2 * c + c * h + h + h + 128 * h * h / 16 +
           128 + h + 2 * h + layers * (12 * h * h + 13 * h);
  };
  EXPECT_EQ(by_hand(12, 768), 94'371'712);
  EXPECT_EQ(by_hand(12, 768) + 32 * 769, 94'396'320);
  EXPECT_EQ(parameter_count(layers_of(base_of_waves())), 94'396'320);
  // Norms and biases of all filters, as XLSR-53 has them.
  Wav2Vec2Model large = large_of_waves();
  EXPECT_EQ(parameter_count(layers_of(large)), by_hand(24, 1024) + 32 * 1025);
  large.filter_biases = true;
  large.filter_norms = FilterNorms::all;
  EXPECT_EQ(by_hand(24, 1024) + (7 + 6 * 2) * 512, 315'438'720);
  EXPECT_EQ(parameter_count(layers_of(large)), 315'438'720 + 32 * 1025);
}

/// With codes 95.04 M and 317.38 M (Yang et al. 2021, arXiv:2105.01051, table 1): 2 x 320 codes of
/// half a width, the product that chooses them, and one of codes and of positions.
TEST(Wav2Vec2, LearnsCodes) {
  Wav2Vec2Model base = base_of_waves();
  base.codebooks = 2;
  EXPECT_EQ(parameter_count(layers_of(base)),
            94'371'712 + 320 * 256 + 512 * 640 + 640 + 256 * 256 + 256 + 768 * 256 + 256);
  EXPECT_NEAR(static_cast<double>(parameter_count(layers_of(base))), 95.04e6, 5e3);
  Wav2Vec2Model large = large_of_waves();
  large.codebooks = 2;
  large.code_width = large.contrast_width = 768;
  EXPECT_NEAR(static_cast<double>(parameter_count(layers_of(large))), 317.38e6, 5e3);
  const Model model = layers_of(base);
  EXPECT_DOUBLE_EQ(model.last.loss_classes, 101.0);
  // A code waits for the head beside its position, which is told from a hundred others.
  EXPECT_DOUBLE_EQ(model.first.output, 768 + 256);
  EXPECT_DOUBLE_EQ(model.layer(5).input, 768 + 256);
  EXPECT_DOUBLE_EQ(model.last.input, 768 + 256);
  EXPECT_TRUE(model.left_out.empty());
  const RankShape clip{.sequence_length = 781.0};
  EXPECT_NEAR(kept_bytes(model.last, clip).count(), 781 * 2.0 * (768 + 102 * 256), 1e-6);
  double moved = 0.0;
  for (const PassWork& pass : work(model.last, clip).passes) moved += pass.forward.count();
  EXPECT_NEAR(moved, 781 * (6.0 * 101 * 256 + 6.0 * 101), 1e-6);
}

/// (n - k) / s + 1, rounded down: 49,999 of 250,000 samples, then 24,999, 12,499, 6,249, 3,124,
/// 1,562 and 781.
TEST(Wav2Vec2, FiltersLeaveOnePositionOf320Samples) {
  const Wav2Vec2Model base = base_of_waves();
  EXPECT_EQ(base.positions_behind(1), 49'999);
  EXPECT_EQ(base.positions_behind(4), 6'249);
  EXPECT_EQ(base.positions(), 781);
  const Model model = layers_of(base);
  EXPECT_EQ(model.sequence_length, 781);
  EXPECT_FALSE(model.has_tokens);
  const Work first = work(model.first, {.micro_batch = 2.0, .sequence_length = 781.0});
  ASSERT_EQ(first.linears.size(), 9U);
  const auto is_near = [](const GemmShape& shape, double m, double n, double k) {
    EXPECT_NEAR(shape.m, m, 1e-6);
    EXPECT_EQ(shape.n, n);
    EXPECT_EQ(shape.k, k);
  };
  is_near(first.linears[0].forward, 2 * 49'999, 512, 10);
  EXPECT_FALSE(first.linears[0].input_gradient);
  EXPECT_EQ(first.linears[0].reuse, 2.0);
  is_near(first.linears[1].forward, 2 * 24'999, 512, 3 * 512);
  EXPECT_TRUE(first.linears[1].input_gradient);
  EXPECT_EQ(first.linears[1].reuse, 1.5);
  is_near(first.linears[6].forward, 2 * 781, 512, 2 * 512);
  is_near(first.linears[7].forward, 2 * 781, 768, 512);
  is_near(first.linears[8].forward, 2 * 781, 768, 128 * 48);
  EXPECT_EQ(first.linears[8].reuse, 128.0);
  EXPECT_EQ(model.left_out.size(), 1U);
}

/// 26.843 GFLOP of 30,480 samples (OpenVINO Model Zoo, wav2vec2-base), which counts what moves
/// element by element as well.
TEST(Wav2Vec2, WorksAsMuchAsPublished) {
  Wav2Vec2Model base = base_of_waves();
  base.samples = 30'480;
  ASSERT_EQ(base.positions(), 95);
  const double flops = 95 * forward_flops(layers_of(base), 95).total().count();
  EXPECT_NEAR(flops, 26.843e9, 0.003 * 26.843e9);
  EXPECT_LT(flops, 26.843e9);
}

/// Of a clip in 2 bytes. What each filter takes, and what its activation does; the first's norm
/// too. Of 781 positions what a norm, a product to h, the filter over positions, its activation
/// and the norm in front of the layers take, and a byte each of what dropout decided.
TEST(Wav2Vec2, KeepsWhatItsGradientsTake) {
  const Model model = layers_of(base_of_waves());
  const RankShape clip{.sequence_length = 781.0};
  const double h = 768;
  const double behind = 49'999 + 24'999 + 12'499 + 6'249 + 3'124 + 1'562 + 781;
  const double filters = 250'000 + 512 * (2 * behind - 781 + 49'999);
  EXPECT_NEAR(kept_bytes(model.first, clip).count(),
              2 * (filters + 781 * (2 * 512 + 3 * h)) + 781 * h, 1e-3);
  EXPECT_NEAR(kept_bytes(model.last, clip).count(), 781 * 2 * h, 1e-6);
  // A layer as BERT's: eq. 2 of Korthikanti et al. 2022 without scores, and 4 bytes a head.
  EXPECT_NEAR(kept_bytes(model.layer(0), clip).count(), 781 * (34 * h + 4 * 12), 1e-3);
}

/// 94,381,936 (torchaudio, WAVLM_BASE), and 315,453,120 of the large one, whose filters have norms
/// and no biases: 320 biases of each head, and in each layer a number a head and two gates of 4
/// columns that all heads share.
TEST(Wav2Vec2, GatesOfDistancesAreCounted) {
  Wav2Vec2Model base = base_of_waves();
  base.gated_distances = 320;
  EXPECT_EQ(94'371'712 + 320 * 12 + 12 * (12 + 64 * 8 + 8), 94'381'936);
  const Model model = layers_of(base);
  EXPECT_EQ(parameter_count(model), 94'381'936 + 32 * 769);
  Wav2Vec2Model large = large_of_waves();
  large.gated_distances = 320;
  large.filter_norms = FilterNorms::all;
  EXPECT_EQ(parameter_count(layers_of(large)), 315'453'120 + 32 * 1025);
  // Of 12 heads of each of 781 positions 781 biases, read, and written times a gate; kept so.
  EXPECT_TRUE(model.biases_scores);
  const Model without = layers_of(base_of_waves());
  EXPECT_FALSE(without.biases_scores);
  const RankShape clip{.sequence_length = 781.0};
  const auto moved = [&](const Model& of) {
    double sum = 0.0;
    for (const PassWork& pass : work(of.layer(0), clip).passes) sum += pass.forward.count();
    return sum;
  };
  EXPECT_NEAR(moved(model) - moved(without), 781.0 * 12 * 781 * 4, 1e-3);
  const auto kept = [&](const Layer& layer) { return kept_bytes(layer, clip).count(); };
  EXPECT_NEAR(kept(model.layer(0)) - kept(without.layer(0)), 781.0 * 12 * 781 * 2, 1e-3);
  EXPECT_NEAR(kept(model.first) - kept(without.first), 781.0 * 12 * 781 * 2, 1e-3);
  // Written out, scores are kept, and the biases that they took are not.
  const RankShape written_out{.sequence_length = 781.0, .fused_attention = false};
  EXPECT_NEAR(
      (kept_bytes(model.layer(0), written_out) - kept_bytes(without.layer(0), written_out)).count(),
      0.0, 1e-3);
}

TEST(Wav2Vec2, WhatDoesNotGoTogetherIsToldAtOnce) {
  const auto reading = read_model_text(
      R"({"schema": "headway/model/1", "family": "wav2vec2", "layers": 2, "hidden": 64,
 "attention_heads": 5, "filter_kernels": [10, 3], "filter_strides": [5], "position_groups": 48,
 "codebooks": 3, "sample": 80})");
  for (const char* problem :
       {"5 does not divide 64", "2, where filter_channels has 7", "1, where filter_channels has 7",
        "position_groups must divide the hidden size", "3 does not divide 256",
        R"(unknown field "sample")", R"(did you mean "samples"?)"}) {
    EXPECT_NE(reading.problems.find(problem), std::string::npos) << reading.problems;
  }
  const auto none = read_model_text(
      R"({"schema": "headway/model/1", "family": "wav2vec2", "layers": 2, "hidden": 64,
 "attention_heads": 4, "filter_channels": [], "filter_kernels": [], "filter_strides": []})");
  EXPECT_NE(none.problems.find("waveforms have a filter at least"), std::string::npos)
      << none.problems;
}

}  // namespace
}  // namespace headway
