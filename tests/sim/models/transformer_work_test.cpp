#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "sim/layers/flops.h"
#include "sim/layers/work.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

using ::testing::ElementsAre;

TransformerModel gated_model() {
  return {.layers = 2,
          .hidden = 16,
          .attention_heads = 4,
          .kv_heads = 2,
          .head_size = 4,
          .ffn_hidden = 32,
          .gated_mlp = true,
          .vocabulary = 100,
          .position_encoding = PositionEncoding::rotary,
          .sequence_length = 8};
}

TransformerModel plain_model() {
  TransformerModel model = gated_model();
  model.gated_mlp = false;
  model.position_encoding = PositionEncoding::learned;
  return model;
}

/// 2 sequences of 8 over 2 context-parallel ranks: 8 tokens.
constexpr RankShape kQuarter{
    .micro_batch = 2, .sequence_length = 8, .tensor_parallel = 2, .context_parallel = 2};
constexpr RankShape kWhole{.micro_batch = 2, .sequence_length = 8};

/// Layers whose names are looked at later.
const Layer& kept(Layer layer) {
  static std::deque<Layer> layers;
  return layers.emplace_back(std::move(layer));
}
Work layer_work(const TransformerModel& model, const RankShape& shape) {
  return work(kept(transformer_layer(model)), shape);
}
Work head_work(const TransformerModel& model, const RankShape& shape) {
  return work(kept(layers_of(model).last), shape);
}
Work embedding_work(const TransformerModel& model, const RankShape& shape) {
  return work(kept(embedding_layer(model)), shape);
}

const PassWork& pass_of(const Work& work, std::string_view name) {
  return *std::ranges::find(work.passes, name, &PassWork::name);
}

std::vector<std::string_view> names(const std::vector<PassWork>& passes) {
  std::vector<std::string_view> list;
  for (const PassWork& pass : passes) list.push_back(pass.name);
  return list;
}

TEST(TransformerPasses, OfAGeluInElementaryOperationsAreThoseOfAutograd) {
  // Six operators that read a tensor and write one of 2 bytes, and two that read two: 36 bytes of
  // each of 16 x 32 inner channels; backward five and six.
  TransformerModel model = plain_model();
  model.activation = ActivationFunction::gelu_new;
  RankShape shape = kWhole;
  EXPECT_EQ(pass_of(layer_work(model, shape), "activation").forward, Bytes(16 * 32 * 4.0));
  shape.fused_activation = false;
  const Work written_out = layer_work(model, shape);
  EXPECT_EQ(std::ranges::count(names(written_out.passes), "activation"), 0);
  const PassWork& pass = pass_of(written_out, "activation, written out");
  EXPECT_EQ(pass.forward, Bytes(16 * 32 * 36.0));
  EXPECT_EQ(pass.backward, Bytes(16 * 32 * 56.0));
  EXPECT_FALSE(pass.merged);
  // Of a gated MLP the product with the other half is there as well.
  model.gated_mlp = true;
  EXPECT_EQ(pass_of(layer_work(model, shape), "activation").forward, Bytes(16 * 32 * 6.0));
  EXPECT_EQ(pass_of(layer_work(model, shape), "activation, written out").forward,
            Bytes(16 * 32 * 36.0));
}

PassWork named(const Work& operators, std::string_view name) {
  for (const PassWork& pass : operators.passes) {
    if (pass.name == name) return pass;
  }
  ADD_FAILURE() << "no pass named " << name;
  return {};
}

double flops(const Work& operators) {
  double sum = 0;
  for (const LinearWork& linear : operators.linears) sum += linear.forward.flops();
  if (operators.attention) sum += operators.attention->shape.forward_flops();
  return sum;
}

TEST(LayerWork, TensorParallelCutsOneSideOfEachProduct) {
  const std::vector<LinearWork> linears = layer_work(gated_model(), kQuarter).linears;
  ASSERT_EQ(linears.size(), 4U);
  EXPECT_EQ(linears[0].name, "qkv");
  EXPECT_EQ(linears[0].forward, (GemmShape{.m = 8, .n = 16, .k = 16}));  // (4 + 2x2) x 4 / 2
  EXPECT_EQ(linears[1].name, "projection");
  EXPECT_EQ(linears[1].forward, (GemmShape{.m = 8, .n = 16, .k = 8}));  // 4 x 4 / 2
  EXPECT_EQ(linears[2].name, "fc1");
  EXPECT_EQ(linears[2].forward, (GemmShape{.m = 8, .n = 32, .k = 16}));  // 2 x 32 / 2
  EXPECT_EQ(linears[3].name, "fc2");
  EXPECT_EQ(linears[3].forward, (GemmShape{.m = 8, .n = 16, .k = 16}));  // 32 / 2
}

TEST(LayerWork, PlainMlpHasHalfTheFirstProduct) {
  EXPECT_EQ(layer_work(plain_model(), kQuarter).linears[2].forward,
            (GemmShape{.m = 8, .n = 16, .k = 16}));
}

TEST(LayerWork, ContextParallelCutsQueriesAndKeepsKeys) {
  const AttentionShape expected{.sequences = 2,
                                .query_length = 4,
                                .key_length = 8,
                                .query_heads = 2,
                                .key_heads = 1,
                                .head_size = 4,
                                .causal = true};
  EXPECT_EQ(layer_work(gated_model(), kQuarter).attention->shape, expected);
}

TEST(LayerWork, MemoryPassesOfAGatedRotaryLayer) {
  const Work operators = layer_work(gated_model(), kQuarter);
  EXPECT_THAT(names(operators.passes),
              ElementsAre("norm_residual_dropout", "rotary", "activation"));
  // 8 tokens x 20 x 16; 8 x 6 x 32 / 2; 8 x (4 + 2) x 4 x 4 / 2
  EXPECT_EQ(named(operators, "norm_residual_dropout").forward, 2560_B);
  EXPECT_EQ(named(operators, "activation").forward, 768_B);
  EXPECT_EQ(named(operators, "rotary").forward, 384_B);
}

TEST(LayerWork, MemoryPassesOfAPlainLayer) {
  const Work operators = layer_work(plain_model(), kQuarter);
  EXPECT_THAT(names(operators.passes), ElementsAre("norm_residual_dropout", "activation"));
  EXPECT_EQ(named(operators, "activation").forward, 512_B);  // 8 x 4 x 32 / 2
}

TEST(LayerWork, BackwardMovesTwiceTheBytes) {
  for (const PassWork& pass : layer_work(gated_model(), kQuarter).passes) {
    EXPECT_EQ(pass.backward, 2.0 * pass.forward) << pass.name;
  }
}

TEST(LayerWork, SequenceParallelCutsTheNormsOnly) {
  RankShape shard = kQuarter;
  shard.sequence_parallel = true;
  shard.gathered_bytes = 1;
  const Work operators = layer_work(gated_model(), shard);
  EXPECT_EQ(named(operators, "norm_residual_dropout").forward, 1280_B);
  EXPECT_EQ(named(operators, "activation").forward, 768_B);
  EXPECT_EQ(operators.linears[0].forward.m, 8.0);
  // What is gathered in 8 bits was cast by the rank that has it: half of 8 x 16 for queries and for
  // the MLP.
  EXPECT_EQ(operators.linears[0].input_elements, 64.0);
  EXPECT_EQ(operators.linears[2].input_elements, 64.0);
}

TEST(LayerWork, UnfusedAttentionHasNoRotaryPassOfItsOwn) {
  RankShape shard = kQuarter;
  shard.fused_attention = false;
  EXPECT_THAT(names(layer_work(gated_model(), shard).passes),
              ElementsAre("norm_residual_dropout", "activation"));
}

TEST(Work, OfAllLayersAndTheHeadMakeTheModelFlops) {
  for (const TransformerModel& model : {gated_model(), plain_model()}) {
    const double layers = 2.0 * flops(layer_work(model, kWhole));
    const double head = flops(head_work(model, kWhole));
    const double tokens = 16.0;
    EXPECT_DOUBLE_EQ(layers + head, tokens * forward_flops(layers_of(model), 8).total().count());
  }
}

TEST(Work, DevicesShareTheWorkEvenly) {
  const TransformerModel model = gated_model();
  EXPECT_DOUBLE_EQ(4.0 * flops(layer_work(model, kQuarter)), flops(layer_work(model, kWhole)));
  EXPECT_DOUBLE_EQ(4.0 * flops(head_work(model, kQuarter)), flops(head_work(model, kWhole)));
}

TEST(HeadWork, CutTheVocabulary) {
  const Work operators = head_work(gated_model(), kQuarter);
  ASSERT_EQ(operators.linears.size(), 1U);
  EXPECT_EQ(operators.linears[0].name, "head");
  EXPECT_EQ(operators.linears[0].forward, (GemmShape{.m = 8, .n = 50, .k = 16}));
  EXPECT_FALSE(operators.attention.has_value());
}

TEST(HeadWork, LossMovesEighteenBytesALogit) {
  const PassWork loss = named(head_work(gated_model(), kQuarter), "cross_entropy");
  EXPECT_EQ(loss.forward, 2400_B);   // 8 x 50 x 6
  EXPECT_EQ(loss.backward, 4800_B);  // 8 x 50 x 12
}

TEST(EmbeddingWork, GatherRowsAndScatterGradients) {
  const Work operators = embedding_work(gated_model(), kQuarter);
  EXPECT_THAT(names(operators.passes), ElementsAre("token_embedding"));
  EXPECT_TRUE(operators.linears.empty());
  EXPECT_EQ(named(operators, "token_embedding").forward, 512_B);   // 8 x 16 x 2 x 2
  EXPECT_EQ(named(operators, "token_embedding").backward, 768_B);  // 8 x 16 x 2 x 3
}

TEST(EmbeddingWork, LearnedPositionsAddAPass) {
  const Work operators = embedding_work(plain_model(), kQuarter);
  EXPECT_EQ(named(operators, "position_embedding").forward, 768_B);  // 8 x 16 x 2 x 3
  EXPECT_EQ(named(operators, "position_embedding").backward, 768_B);
}

}  // namespace
}  // namespace headway
