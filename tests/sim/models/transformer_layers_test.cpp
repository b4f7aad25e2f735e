#include "sim/models/transformer/transformer_layers.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "sim/layers/exchanges.h"
#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

TransformerModel llama_kin(TransformerModel model) {
  model.gated_mlp = true;
  model.normalization = Normalization::rms_norm;
  model.normalization_bias = false;
  model.position_encoding = PositionEncoding::rotary;
  model.qkv_bias = model.projection_bias = model.mlp_bias = false;
  return model;
}

TransformerModel gpt3_fields() {
  return {.layers = 96,
          .hidden = 12288,
          .attention_heads = 96,
          .kv_heads = 96,
          .head_size = 128,
          .ffn_hidden = 49152,
          .vocabulary = 50257,
          .tied_embeddings = true,
          .sequence_length = 2048};
}

TransformerModel llama3() {
  return llama_kin({.layers = 126,
                    .hidden = 16384,
                    .attention_heads = 128,
                    .kv_heads = 8,
                    .head_size = 128,
                    .ffn_hidden = 53248,
                    .vocabulary = 128256,
                    .sequence_length = 8192});
}

TransformerModel mixtral() {
  return llama_kin(
      {.layers = 32,
       .hidden = 4096,
       .attention_heads = 32,
       .kv_heads = 8,
       .head_size = 128,
       .ffn_hidden = 14336,
       .mixture_of_experts =
           MixtureOfExperts{.experts = 8, .experts_per_token = 2, .expert_hidden = 14336},
       .vocabulary = 32000,
       .sequence_length = 32768});
}

TransformerModel deepseek() {
  return llama_kin({.layers = 61,
                    .hidden = 7168,
                    .attention_heads = 128,
                    .kv_heads = 128,
                    .head_size = 192,
                    .latent_attention = LatentAttention{.query_rank = 1536,
                                                        .key_value_rank = 512,
                                                        .head_size_without_rotary = 128,
                                                        .rotary_head_size = 64,
                                                        .value_head_size = 128},
                    .ffn_hidden = 18432,
                    .mixture_of_experts = MixtureOfExperts{.experts = 256,
                                                           .experts_per_token = 8,
                                                           .expert_hidden = 2048,
                                                           .shared_expert_hidden = 2048,
                                                           .leading_dense_layers = 3},
                    .multi_token_prediction_layers = 1,
                    .vocabulary = 129280,
                    .sequence_length = 4096});
}

TransformerModel gpt_oss() {
  TransformerModel model = llama_kin(
      {.layers = 36,
       .hidden = 2880,
       .attention_heads = 64,
       .kv_heads = 8,
       .head_size = 64,
       .sliding_window = SlidingWindow{.size = 128, .full_attention_interval = 2},
       .attention_sinks = true,
       .ffn_hidden = 2880,
       .mixture_of_experts =
           MixtureOfExperts{.experts = 128, .experts_per_token = 4, .expert_hidden = 2880},
       .vocabulary = 201088,
       .sequence_length = 4096});
  model.qkv_bias = model.projection_bias = model.mlp_bias = true;
  return model;
}

/// What an independent program (99 lines of Python, in whole numbers) writes down of these layers:
/// 16-bit tensors, fused attention, one sequence; with tensor parallelism sequence parallelism too;
/// experts over 8 ranks. Parameters held by all and of experts, bytes kept, FLOPs of the products,
/// bytes of forward passes. GPT-3 at tensor_parallel 1 by hand: 12 h^2 + 13 h = 1,812,099,072
/// parameters and 24 h^2 s = 7,421,703,487,488 FLOPs.
struct Expected {
  const char* name;
  TransformerModel (*model)();
  bool experts;
  int tensor_parallel;
  std::array<double, 5> numbers;
};
const Expected kExpected[] = {
    {"gpt3_fields", gpt3_fields, false, 1, {1812099072, 0, 856424448, 7421703487488, 905969664}},
    {"gpt3_fields", gpt3_fields, false, 8, {226576896, 0, 107053056, 927712935936, 113246208}},
    {"llama3", llama3, false, 1, {3187703808, 0, 4265607168, 52226802319360, 5872025600}},
    {"llama3", llama3, false, 8, {398491648, 0, 533200896, 6528350289920, 734003200}},
    {"mixtral", mixtral, true, 1, {41984000, 176160768, 7923040256, 25840670736384, 8992587776}},
    {"mixtral", mixtral, true, 8, {5283840, 176160768, 990380032, 3230083842048, 1124073472}},
    {"deepseek", deepseek, false, 1, {583483392, 0, 1378353152, 4779761729536, 1577058304}},
    {"deepseek", deepseek, false, 8, {86196224, 0, 187432960, 597470216192, 197132288}},
    {"deepseek", deepseek, true, 1, {232996864, 1409286144, 1848115200, 4794794115072, 1577058304}},
    {"deepseek", deepseek, true, 8, {43991040, 1409286144, 246153216, 599349264384, 197132288}},
    {"gpt_oss", gpt_oss, false, 1, {51447744, 0, 241696768, 421275893760, 382205952}},
    {"gpt_oss", gpt_oss, false, 8, {6441048, 0, 30212096, 52659486720, 47775744}},
    {"gpt_oss", gpt_oss, true, 1, {26924672, 398269440, 548405248, 1035825315840, 594542592}},
    {"gpt_oss", gpt_oss, true, 8, {3695816, 398269440, 68550656, 129478164480, 74317824}},
};

TEST(TransformerLayers, SumsOverTheListAreThoseOfAnIndependentProgram) {
  for (const Expected& expected : kExpected) {
    const TransformerModel model = expected.model();
    const Layer layer = transformer_layer(model, {.experts = expected.experts});
    const RankShape shape{.sequence_length = static_cast<double>(model.sequence_length),
                          .tensor_parallel = static_cast<double>(expected.tensor_parallel),
                          .sequence_parallel = expected.tensor_parallel > 1,
                          .expert_parallel = model.mixture_of_experts ? 8.0 : 1.0};
    const Parameters held = parameters_on_rank(layer, shape);
    const Work work = headway::work(layer, shape);
    double flops = 0.0;
    for (const LinearWork& linear : work.linears) flops += linear.forward.flops();
    for (const GroupedWork& grouped : work.grouped) {
      flops += grouped.experts * grouped.forward.flops();
    }
    double passes = 0.0;
    for (const PassWork& pass : work.passes) passes += pass.forward.count();
    const std::array<double, 5> found = {held.shared(), held.experts(),
                                         kept_bytes(layer, shape).count(), flops, passes};
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected.numbers[i], 1e-12 * expected.numbers[i])
          << expected.name << " tp " << expected.tensor_parallel << ", number " << i;
    }
  }
}

TEST(TransformerLayers, ModelsHaveTheirPublishedParameters) {
  EXPECT_EQ(parameter_count(layers_of(gpt3_fields())),
            174'604'259'328);  // 96 (12 h^2 + 13 h) + (V + s + 2) h
  EXPECT_EQ(parameter_count(layers_of(llama3())), 405'853'388'800);
  EXPECT_EQ(parameter_count(layers_of(mixtral())), 46'702'792'704);
  // Of the published 671,026,419,200, 58 x 256 are biases of routers that are not trained.
  EXPECT_EQ(parameter_count(layers_of(deepseek())), 671'026'419'200 - 58 * 256);
  EXPECT_EQ(parameter_count(layers_of(gpt_oss())), 116'829'156'672);
}

TEST(TransformerLayers, KindsStandWhereTheModelSays) {
  const Model dense_first = layers_of(deepseek());
  ASSERT_EQ(dense_first.kinds.size(), 2U);
  EXPECT_FALSE(dense_first.layer(2).routing);
  EXPECT_TRUE(dense_first.layer(3).routing);
  EXPECT_EQ(dense_first.ahead.kind, dense_first.kind_of(60));
  const Model alternating = layers_of(gpt_oss());
  EXPECT_DOUBLE_EQ(alternating.layer(0).attention->window, 128.0);
  EXPECT_DOUBLE_EQ(alternating.layer(1).attention->window, 0.0);
  EXPECT_EQ(alternating.kind_of(0), alternating.kind_of(2));
}

TEST(TransformerLayers, FlopsOfATokenAreSixTimesTheMatricesAndAttention) {
  // GPT-3: 96 layers of 12 h^2 weights, attention 4 s h over half the square, head h V.
  const double h = 12288.0;
  const double causal = 2.0 * (96 * 12 * h * h + h * 50257) + 96 * 2 * 2048 * h;
  const ForwardFlops flops = forward_flops(layers_of(gpt3_fields()), 2048);
  EXPECT_NEAR(flops.total().count() / causal, 1.0, 1e-12);
  EXPECT_NEAR(flops.whole_square().count() - flops.total().count(), 96 * 2 * 2048 * h, 1.0);
}

TEST(TransformerLayers, AJoinKeepsWhatItsTwoNormsAndItsProductTake) {
  // Two inputs of h into norms, one of 2 h into the product, in 2 bytes; a quarter a rank.
  const Model model = layers_of(deepseek());
  const RankShape shape{.sequence_length = 4096, .tensor_parallel = 4, .sequence_parallel = true};
  EXPECT_DOUBLE_EQ(kept_bytes(model.ahead.join, shape).count(), 4 * 7168 * 1024 * 2.0);
}

TEST(TransformerLayers, PartsOfALayerAreMadeAgainWithTheirTensors) {
  const Layer layer = transformer_layer(llama3());
  const RankShape shape{.sequence_length = 1};
  const auto dropped = [&](RecomputePart part) {
    return (kept_bytes(layer, shape) - kept_bytes(layer, shape, {part})).count();
  };
  const double h = 16384;
  const double f = 53248;
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::mlp), 2 * 3 * f);        // both halves, and the product
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::activation), 2 * f);     // the product
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::layernorm), 2 * 2 * h);  // inputs of QKV and FC1
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::core_attn), 4 * 128);    // the log-sum-exp of a head
  // Input of QKV, keys of 8 heads, input of the second norm, one half, input of FC2.
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::alternate), 2 * (h + 8 * 128 + h + f + f));
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::moe), 0.0);
  EXPECT_DOUBLE_EQ(exchanged_again(layer, {}, {RecomputePart::mlp}), 0.5);

  const auto again = [&](RecomputePart part) { return recomputed_flops(layer, 1, {part}).count(); };
  EXPECT_DOUBLE_EQ(again(RecomputePart::mlp), 2 * 3 * h * f);
  const double attention = 2 * h * (128 + 16) * 128 + 2 * h * h;
  EXPECT_DOUBLE_EQ(again(RecomputePart::alternate), 0.5 * (attention + 2 * 3 * h * f));
  const auto pass_again = [&](std::string_view name, RecomputePart part) {
    for (const MemoryPass& pass : layer.passes) {
      if (pass.name == name) return pass.again.share({part});
    }
    return -1.0;
  };
  EXPECT_DOUBLE_EQ(pass_again("rotary", RecomputePart::alternate), 1.0);
  // Of 10 bytes that norms, sums and dropouts move of a channel norms read 2 and write 2.
  EXPECT_DOUBLE_EQ(pass_again("norm_residual_dropout", RecomputePart::layernorm), 4.0 / 10.0);
}

TEST(TransformerLayers, PartsOfExpertsAreMadeAgainWithTheirTensors) {
  // A token, 8 rows of its experts.
  const Layer layer = transformer_layer(deepseek(), {.experts = true});
  const RankShape shape{.sequence_length = 1};
  const auto dropped = [&](RecomputePart part) {
    return (kept_bytes(layer, shape) - kept_bytes(layer, shape, {part})).count() / 2.0;
  };
  const double f = 2048;
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::moe_act), 8 * f);
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::shared_experts), 3 * f);
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::moe), 8 * (7168 + 3 * f) + 3 * f);
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::activation), 8 * f + f);
  for (const MemoryPass& pass : layer.passes) {
    const bool is_activation =
        pass.name.starts_with("expert_activation") || pass.name.starts_with("shared_activation");
    EXPECT_EQ(pass.again.with(RecomputePart::activation), is_activation) << pass.name;
  }
  // Queries, keys and values of 128 heads.
  EXPECT_DOUBLE_EQ(dropped(RecomputePart::mla_up_proj), 128 * (192 + 192 + 128));
  EXPECT_DOUBLE_EQ(exchanged_again(layer, {}, {RecomputePart::shared_experts}), 0.5);
  EXPECT_DOUBLE_EQ(exchanged_again(layer, {}, {RecomputePart::mlp}), 0.0);
}

// Two norms, of 16,384 channels in 2 bytes each; of elementary operations in fp32 with what they
// make of it.
TEST(TransformerLayers, NormsOfElementaryOperationsKeepMore) {
  const Model model = layers_of(llama3());
  RankShape shape{.micro_batch = 1, .sequence_length = 10};
  const double fused = kept_bytes(model.layer(0), shape).count();
  shape.fused_normalization = false;
  EXPECT_DOUBLE_EQ(kept_bytes(model.layer(0), shape).count() - fused,
                   2.0 * 10.0 * 16384.0 * (2.0 * 4.0 - 2.0));
}

// The inputs of both norms of a layer and of the one behind them, 4 bytes instead of 2.
TEST(TransformerLayers, KeepInputsOfNormsInFp32WhereTheResidualStreamIs) {
  const Model model = layers_of(llama3());
  RankShape shape{.micro_batch = 1, .sequence_length = 10};
  const Bytes layer = kept_bytes(model.layer(0), shape);
  const Bytes head = kept_bytes(model.last, shape);
  shape.wide_residuals = true;
  EXPECT_EQ(kept_bytes(model.layer(0), shape) - layer, Bytes(2.0 * 10 * 16384 * 2));
  EXPECT_EQ(kept_bytes(model.last, shape) - head, Bytes(10.0 * 16384 * 2));
}

TEST(TransformerLayers, EveryRankHasAKeyValueHead) {
  // 16 ranks, 8 heads of 128: each has one whole key and value, an eighth of the queries' 16,384.
  const Parameters held = parameters_on_rank(transformer_layer(llama3()), {.tensor_parallel = 16});
  EXPECT_DOUBLE_EQ(held.of(Part::attention),
                   16384.0 * (16384 / 16 + 2 * 128) + 16384.0 * 16384 / 16);
}

TEST(TransformerLayers, EmbeddingsReadTheirTablesAndAddPositions) {
  // A row of 12,288 in 2 bytes: read and written; backward its gradient is read, the row read and
  // written. Positions: two read and the sum written; backward as for words.
  const Work gpt = work(layers_of(gpt3_fields()).first, {});
  const double row = 2 * 12'288;
  ASSERT_EQ(gpt.passes.size(), 2U);
  EXPECT_DOUBLE_EQ(gpt.passes[0].forward.count(), 2 * row);
  EXPECT_DOUBLE_EQ(gpt.passes[0].backward.count(), 3 * row);
  EXPECT_DOUBLE_EQ(gpt.passes[1].forward.count(), 3 * row);
  EXPECT_DOUBLE_EQ(gpt.passes[1].backward.count(), 3 * row);
  EXPECT_EQ(work(layers_of(llama3()).first, {}).passes.size(), 1U);
}

TEST(TransformerLayers, AJoinMovesAsMuchAsTwoHalvesOfALayer) {
  const Layer join = layers_of(deepseek()).ahead.join;
  EXPECT_EQ(join.passes.front().forward, 2 * 10 * 7168);
  EXPECT_EQ(join.passes.front().backward, 2 * 2 * 10 * 7168);
  EXPECT_EQ(join.input, 2 * 7168);
  EXPECT_EQ(parameters(join).total(), 2.0 * 7168 * 7168 + 3 * 7168);
}

TEST(TransformerLayers, InputsOfSplitMatricesMayBeKeptGathered) {
  // Of 8 ranks with sequence parallelism each keeps an eighth of the inputs of QKV and FC1, or all.
  const Layer layer = transformer_layer(llama3());
  RankShape shape{.sequence_length = 8, .tensor_parallel = 8, .sequence_parallel = true};
  const Bytes each = kept_bytes(layer, shape);
  shape.gathered_inputs = true;
  EXPECT_DOUBLE_EQ((kept_bytes(layer, shape) - each).count(), 2 * (8 - 1) * 2 * 16384.0);
}

TEST(TransformerLayers, OfAReluOnlyTheResultIsKept) {
  // 49,152 numbers of a token less; of a gated MLP the factors of its product are kept either way.
  TransformerModel plain = gpt3_fields();
  const RankShape shape;
  const Bytes smooth = kept_bytes(transformer_layer(plain), shape);
  plain.activation = ActivationFunction::relu;
  EXPECT_DOUBLE_EQ((smooth - kept_bytes(transformer_layer(plain), shape)).count(), 2 * 49152.0);
  TransformerModel gated = llama3();
  const Bytes gate = kept_bytes(transformer_layer(gated), shape);
  gated.activation = ActivationFunction::relu;
  EXPECT_EQ(kept_bytes(transformer_layer(gated), shape), gate);
}

TEST(TransformerLayers, OfAGeluInElementaryOperationsFourTensorsAreKept) {
  // Of each of 49,152 numbers the one that a fused kernel takes, or what is cubed, the tangent, one
  // more than it, and half of what is activated, which stays in 2 bytes where the others have 4.
  TransformerModel model = gpt3_fields();
  model.activation = ActivationFunction::gelu_new;
  const auto more = [&model](bool wide_residuals) {
    RankShape shape{.wide_residuals = wide_residuals};
    const Bytes fused = kept_bytes(transformer_layer(model), shape);
    shape.fused_activation = false;
    return (kept_bytes(transformer_layer(model), shape) - fused).count();
  };
  EXPECT_DOUBLE_EQ(more(false), 49152 * (4 * 2 - 2.0));
  EXPECT_DOUBLE_EQ(more(true), 49152 * (3 * 4 + 2 - 2.0));
  // Of a gated MLP the other half and what is activated are kept besides, as factors of a product.
  model.gated_mlp = true;
  EXPECT_DOUBLE_EQ(more(false), 49152 * ((4 + 2) * 2 - 2 * 2.0));
}

TEST(TransformerLayers, DropoutIsOfAttentionToo) {
  TransformerModel model = gpt3_fields();
  const auto drops = [&] { return work(transformer_layer(model), RankShape{}).attention->dropout; };
  EXPECT_TRUE(drops());
  model.dropout = false;
  EXPECT_FALSE(drops());
}

TEST(TransformerLayers, HalvesLaunchTheirKernels) {
  EXPECT_EQ(transformer_layer(llama3()).launches.forward, 14);
  EXPECT_EQ(transformer_layer(llama3()).launches.backward, 24);
  EXPECT_EQ(transformer_layer(llama3(), {.feeds = false}).launches.forward, 7);
}

}  // namespace
}  // namespace headway
