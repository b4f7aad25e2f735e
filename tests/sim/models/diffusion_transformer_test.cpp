#include "sim/models/transformer/diffusion_transformer.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::read_model_text;

DiffusionTransformer dit(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                         std::int64_t patch) {
  return {.layers = layers,
          .hidden = hidden,
          .attention_heads = heads,
          .ffn_hidden = 4 * hidden,
          .patch_size = patch};
}

DiffusionTransformer flux_dev() {
  return {.layers = 19,
          .single_layers = 38,
          .hidden = 3072,
          .attention_heads = 24,
          .ffn_hidden = 12'288,
          .query_key_norm = true,
          .position_encoding = PositionEncoding::rotary,
          .image_size = 1024,
          .channels = 16,
          .output_channels = 16,
          .text_length = 512,
          .guidance = true};
}

DiffusionTransformer stable_diffusion_3() {
  return {.layers = 24,
          .hidden = 1536,
          .attention_heads = 24,
          .ffn_hidden = 6144,
          .image_size = 1024,
          .channels = 16,
          .output_channels = 16,
          .text_length = 154,
          .pooled_width = 2048};
}

double billions(const DiffusionTransformer& fields) {
  const Model model = layers_of(fields);
  return static_cast<double>(model.sequence_length) *
         forward_flops(model, model.sequence_length).total().count() / 2e9;
}

TEST(DiffusionTransformer, DitHasThePublishedParameters) {
  // Patches of 4 p^2 and a bias; a time of 256 through h; 1,001 classes; of each layer 18 h^2 of
  // attention, MLP and six vectors, 4 + 5 + 6 biases; 2 h^2 and two biases of the last norm, and
  // 8 p^2 channels of each patch. The authors' code counts a patch's fixed positions as well.
  const std::int64_t h = 1152;
  EXPECT_EQ(17 * h + 256 * h + h + h * h + h + 1001 * h + 28 * (18 * h * h + 15 * h) + 2 * h * h +
                2 * h + 32 * h + 32 + 256 * h,
            675'129'632);
  EXPECT_EQ(parameter_count(layers_of(dit(28, h, 16, 2))), 675'129'632 - 256 * h);
}

TEST(DiffusionTransformer, DitTakesThePublishedOperations) {
  // Peebles and Xie, table 4: billions of multiplications for an image of 256 x 256 pixels, and
  // millions of parameters (fixed positions included).
  struct Row {
    std::int64_t layers, hidden, heads, patch;
    double operations, parameters;
  };
  for (const Row& row : {Row{12, 384, 6, 8, 0.36, 33}, Row{12, 384, 6, 4, 1.41, 33},
                         Row{12, 384, 6, 2, 6.06, 33}, Row{12, 768, 12, 8, 1.42, 131},
                         Row{12, 768, 12, 4, 5.56, 130}, Row{12, 768, 12, 2, 23.01, 130},
                         Row{24, 1024, 16, 8, 5.01, 459}, Row{24, 1024, 16, 4, 19.70, 458},
                         Row{24, 1024, 16, 2, 80.71, 458}, Row{28, 1152, 16, 8, 7.39, 676},
                         Row{28, 1152, 16, 4, 29.05, 675}, Row{28, 1152, 16, 2, 118.64, 675}}) {
    const DiffusionTransformer fields = dit(row.layers, row.hidden, row.heads, row.patch);
    EXPECT_NEAR(billions(fields), row.operations, 0.005 + 5e-4 * row.operations);
    const auto fixed = static_cast<double>(fields.patches() * fields.hidden);
    const double parameters = static_cast<double>(parameter_count(layers_of(fields))) + fixed;
    EXPECT_NEAR(parameters / 1e6, row.parameters, 0.8);
  }
  // By hand, to the last: 256 patches of 28 layers of 12 h^2 and pairs with all, 16 and 32 channels
  // of each; six and two vectors of an image and its time.
  const double h = 1152;
  EXPECT_NEAR(1e9 * billions(dit(28, h, 16, 2)),
              256 * (28 * (12 * h * h + 2 * 256 * h) + 16 * h + 32 * h) + 28 * 6 * h * h +
                  2 * h * h + 256 * h + h * h,
              1.0);
}

TEST(DiffusionTransformer, FluxHasThePublishedParameters) {
  // Two streams: 36 h^2 (12 of vectors, 8 of attention, 16 of MLPs) and 30 biases; one: 15 h^2 (3,
  // 7 in, 5 out) and 11; gains of 128 for queries and keys. Time and guidance of 256 and a text's
  // 768 through h; 64 channels of two by two positions.
  const std::int64_t h = 3072;
  EXPECT_EQ(64 * h + h + 4096 * h + h + 2 * (256 * h + h * h + 2 * h) + 768 * h + h * h + 2 * h +
                19 * (36 * h * h + 30 * h + 4 * 128) + 38 * (15 * h * h + 11 * h + 2 * 128) +
                2 * h * h + 2 * h + 64 * h + 64,
            11'901'408'320);
  EXPECT_EQ(parameter_count(layers_of(flux_dev())), 11'901'408'320);
}

TEST(DiffusionTransformer, StableDiffusion3HasThePublishedParameters) {
  // The last text: queries, keys and values, and two vectors; no projection, no MLP.
  const std::int64_t h = 1536;
  EXPECT_EQ(64 * h + h + 4096 * h + h + 256 * h + h * h + 2 * h + 2048 * h + h * h + 2 * h +
                23 * (36 * h * h + 30 * h) + (18 + 5) * h * h + (15 + 5) * h + 2 * h * h + 2 * h +
                64 * h + 64,
            2'028'328'000);
  EXPECT_EQ(parameter_count(layers_of(stable_diffusion_3())), 2'028'328'000);
}

TEST(DiffusionTransformer, ImageAndTextAttendTogether) {
  // 4,096 patches and 512 positions of text. Two streams: 12 h^2 of each position; one: as many.
  // Pairs of all. Vectors: 12 h^2 of each of 19, 3 of each of 38, two of the head.
  const double h = 3072;
  const double all = 4096 + 512;
  EXPECT_NEAR(1e9 * billions(flux_dev()),
              57 * all * (12 * h * h + 2 * all * h) + 19 * 12 * h * h + 38 * 3 * h * h + 2 * h * h +
                  4096 * 2 * 64 * h + 512 * 4096 * h + (2 * 256 + 768 + 3 * h) * h,
              1e-9 * 1e9 * billions(flux_dev()));
  const Model model = layers_of(flux_dev());
  ASSERT_EQ(model.layer_count(), 57);
  EXPECT_FALSE(model.has_tokens);
  const RankShape shape{.micro_batch = 2.0, .sequence_length = all};
  const Work two = work(model.layer(0), shape);
  EXPECT_EQ(two.attention->shape, (AttentionShape{.sequences = 2,
                                                  .query_length = all,
                                                  .key_length = all,
                                                  .query_heads = 24,
                                                  .key_heads = 24,
                                                  .head_size = 128,
                                                  .causal = false}));
  EXPECT_EQ(two.linears[0].forward, (GemmShape{2 * 4096, 3 * h, h}));
  // Attention, projection, MLP and vectors of the image, then of the text.
  EXPECT_EQ(two.linears[4].forward, (GemmShape{2, 6 * h, h}));
  EXPECT_EQ(two.linears[5].forward, (GemmShape{2 * 512, 3 * h, h}));
  const Work one = work(model.layer(19), shape);
  EXPECT_EQ(one.linears[0].forward, (GemmShape{2 * all, 3 * h, h}));
  EXPECT_EQ(one.linears[1].forward, (GemmShape{2 * all, h, 5 * h}));
  EXPECT_EQ(one.linears[2].forward, (GemmShape{2 * all, 4 * h, h}));
  EXPECT_EQ(one.linears[3].forward, (GemmShape{2, 3 * h, h}));
}

TEST(DiffusionTransformer, KeepsWhatItGatesAndWhatModulatesIt) {
  // In 2 bytes, of each position 16 h as any encoder's layer, and what either half adds; 4 bytes of
  // each head. Of an image one vector in, six out.
  const double h = 1152;
  const Model small = layers_of(dit(28, 1152, 16, 2));
  const RankShape image{.sequence_length = 256.0};
  EXPECT_DOUBLE_EQ(kept_bytes(small.layer(0), image).count(),
                   256 * (2 * 18 * h + 4 * 16) + 2 * 7 * h);
  EXPECT_EQ(256 * small.layer(0).output, 257 * h);
  // FLUX: 18 h of each position, and queries and keys in front of their norms; of one stream a
  // norm's and a product's input, 4 h of attention, 8 h around the activation, one gated result.
  const double d = 3072;
  const Model flux = layers_of(flux_dev());
  const RankShape pair{.sequence_length = 4608.0};
  EXPECT_NEAR(kept_bytes(flux.layer(0), pair).count(),
              4608 * (2 * (18 + 2) * d + 4 * 24) + 2 * 2 * 7 * d, 1.0);
  EXPECT_NEAR(kept_bytes(flux.layer(19), pair).count(),
              4608 * (2 * (2 + 4 + 8 + 1 + 2) * d + 4 * 24) + 2 * 4 * d, 1.0);
}

TEST(DiffusionTransformer, ScoresThatAreWrittenOutAreThoseOfAllPairs) {
  const Model flux = layers_of(flux_dev());
  const RankShape fused{.sequence_length = 4608.0};
  RankShape written = fused;
  written.fused_attention = false;
  written.fused_softmax = true;
  for (const int layer : {0, 19}) {
    EXPECT_NEAR(
        (kept_bytes(flux.layer(layer), written) - kept_bytes(flux.layer(layer), fused)).count(),
        24 * 4608.0 * (2 * 4608 - 4), 1.0);
  }
}

TEST(DiffusionTransformer, GatesMoveTheirResultsBackward) {
  // Of each position 10 h of either half's norm and sum, three times; 4 x 4 h of an activation,
  // three times; of either gate 4 h, backward.
  const double h = 1152;
  double moved = 0.0;
  const Model model = layers_of(dit(28, 1152, 16, 2));
  for (const PassWork& pass : work(model.layer(0), {.sequence_length = 256.0}).passes) {
    moved += pass.forward.count() + pass.backward.count();
  }
  EXPECT_DOUBLE_EQ(moved, 256 * (3 * 20 * h + 3 * 16 * h + 2 * 4 * h));
}

TEST(DiffusionTransformer, EndsMoveAndKeepWhatTheyWorkOn) {
  // An image of 256 patches. In front 16 numbers of each, and of a time 256 sinusoids and two
  // vectors, in 2 bytes; fixed positions are two terms read and a sum written, with no gradient.
  const double h = 1152;
  const Model model = layers_of(dit(28, 1152, 16, 2));
  const RankShape image{.sequence_length = 256.0};
  EXPECT_DOUBLE_EQ(kept_bytes(model.first, image).count(), 2 * (256 * 16 + 256 + 2 * h));
  const Work first = work(model.first, image);
  ASSERT_EQ(first.passes.size(), 1U);
  EXPECT_DOUBLE_EQ(first.passes[0].forward.count(), 256 * 6 * h);
  EXPECT_EQ(first.passes[0].backward, 0_B);
  // Behind it inputs of a norm and of a product, a vector in and two out. What it is off by, 32
  // numbers of each patch: two terms read; backward again, and the gradient written.
  EXPECT_DOUBLE_EQ(kept_bytes(model.last, image).count(), 2 * (256 * 2 * h + 3 * h));
  const Work last = work(model.last, image);
  ASSERT_EQ(last.passes.size(), 1U);
  EXPECT_DOUBLE_EQ(last.passes[0].forward.count(), 256 * 32 * 4.0);
  EXPECT_DOUBLE_EQ(last.passes[0].backward.count(), 256 * 32 * 6.0);
}

TEST(DiffusionTransformer, RanksHaveTheirPartOfAllButVectors) {
  // Of four in a layer of two streams: a quarter of 24 h^2 and of the biases where outputs are
  // split; vectors whole.
  const double h = 1536;
  const RankShape four{.sequence_length = 4250.0, .tensor_parallel = 4.0};
  EXPECT_EQ(parameters_on_rank(layers_of(stable_diffusion_3()).layer(0), four).total(),
            2 * (12 * h * h / 4 + 7 * h / 4 + 2 * h) + 12 * h * h + 12 * h);
}

TEST(DiffusionTransformer, AdaptersStandInBothStreams) {
  // 16 x (h + 3 h) of either.
  RankShape shape{.sequence_length = 4608.0, .frozen = true, .adapters = {AdapterTarget::qkv}};
  const Model flux = layers_of(flux_dev());
  EXPECT_EQ(adapter_parameters_on_rank(flux.layer(0), shape, 16.0), 2 * 16 * 4 * 3072.0);
  EXPECT_EQ(adapter_parameters_on_rank(flux.layer(19), shape, 16.0), 16 * 4 * 3072.0);
  EXPECT_TRUE(flux.has_target(AdapterTarget::projection));
  EXPECT_FALSE(flux.has_target(AdapterTarget::fc2));
}

TEST(DiffusionTransformer, ResolutionMakesPositions) {
  const auto positions = [](const char* fields) {
    const auto reading = read_model_text(
        std::string(R"({"schema": "headway/model/1", "family": "dit", "layers": 2, "hidden": 64,
            "attention_heads": 4)") +
        fields + "}");
    return reading.read ? reading.read->model.sequence_length : 0;
  };
  EXPECT_EQ(positions(""), 256);
  EXPECT_EQ(positions(R"(, "image_size": 512)"), 1024);
  EXPECT_EQ(positions(R"(, "image_size": 512, "patch_size": 4, "text_length": 77)"), 256 + 77);
}

TEST(DiffusionTransformer, WhatDoesNotGoTogetherIsToldAtOnce) {
  const auto reading = read_model_text(
      R"({"schema": "headway/model/1", "family": "dit", "layers": 2, "hidden": 64,
 "attention_heads": 5, "image_size": 250, "single_layers": 2, "pooled_wdth": 3})");
  for (const char* problem :
       {"5 does not divide 64", "8 x 2 = 16 does not divide 250", "use an image_size of 256",
        "single_layers needs text_length above 0", R"(did you mean "pooled_width"?)"}) {
    EXPECT_NE(reading.problems.find(problem), std::string::npos) << reading.problems;
  }
}

/// What is read reads back.
void expect_read(const char* config, std::int64_t parameters, std::int64_t positions) {
  const auto reading = read_model_text(config);
  EXPECT_FALSE(reading.has_errors) << reading.problems;
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(parameter_count(reading.read->model), parameters);
  EXPECT_EQ(reading.read->model.sequence_length, positions);
  const auto again = read_model_text(reading.read->resolved->dump());
  EXPECT_EQ(testing::parameters(again), parameters) << again.problems;
}

TEST(DiffusersConfigurations, HaveTheirPublishedParameters) {
  // Of diffusers' DiT every block has a time's and a class's embedder of its own: 27 more.
  expect_read(R"({"_class_name": "Transformer2DModel", "_diffusers_version": "0.12.0.dev0",
    "activation_fn": "gelu-approximate", "attention_bias": true, "attention_head_dim": 72,
    "in_channels": 4, "norm_num_groups": 32, "norm_type": "ada_norm_zero",
    "num_attention_heads": 16, "num_embeds_ada_norm": 1000, "num_layers": 28, "out_channels": 8,
    "patch_size": 2, "sample_size": 32, "num_vector_embeds": null})",
              674'834'720 + 27 * (256 * 1152 + 1152 * 1152 + 2 * 1152 + 1001 * 1152), 256);
  expect_read(R"({"_class_name": "FluxTransformer2DModel", "attention_head_dim": 128,
    "axes_dims_rope": [16, 56, 56], "guidance_embeds": true, "in_channels": 64,
    "joint_attention_dim": 4096, "num_attention_heads": 24, "num_layers": 19,
    "num_single_layers": 38, "patch_size": 1, "pooled_projection_dim": 768})",
              11'901'408'320, 4608);
  expect_read(R"({"_class_name": "SD3Transformer2DModel", "attention_head_dim": 64,
    "caption_projection_dim": 1536, "in_channels": 16, "joint_attention_dim": 4096,
    "num_attention_heads": 24, "num_layers": 24, "out_channels": 16, "patch_size": 2,
    "pooled_projection_dim": 2048, "pos_embed_max_size": 192, "sample_size": 128})",
              2'028'328'000, 4250);
}

TEST(DiffusersConfigurations, TellWhatIsTakenAndWhatIsNotRead) {
  EXPECT_EQ(
      read_model_text(R"({"_class_name": "FluxTransformer2DModel", "attention_head_dim": 8,
 "in_channels": 64, "joint_attention_dim": 32, "num_attention_heads": 2, "num_layers": 1,
 "num_single_layers": 1, "patch_size": 1, "pooled_projection_dim": 8})")
          .problems.substr(0, 85),
      "warning: images are taken to have 1024 x 1024 pixels, texts 512 positions\n  --> model");
  const auto problems = [](const char* config) { return read_model_text(config).problems; };
  EXPECT_NE(problems(R"({"_class_name": "AutoencoderKL", "in_channels": 3})")
                .find("this class of diffusers is not supported"),
            std::string::npos);
  EXPECT_NE(problems(R"({"_class_name": "Transformer2DModel", "norm_type": "ada_norm_single",
 "num_layers": 2, "num_attention_heads": 2, "attention_head_dim": 8, "in_channels": 4})")
                .find("ada_norm_single instead of ada_norm_zero"),
            std::string::npos);
  EXPECT_NE(problems(R"({"_class_name": "SD3Transformer2DModel", "attention_head_dim": 8,
 "joint_attention_dim": 32, "num_attention_heads": 2, "num_layers": 1, "in_channels": 16,
 "pooled_projection_dim": 8, "dual_attention_layers": [0]})")
                .find("layers with a second attention are not read"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
