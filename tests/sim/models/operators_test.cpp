#include "sim/models/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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
constexpr ShardShape kQuarter{
    .micro_batch = 2, .sequence_length = 8, .tensor_parallel = 2, .context_parallel = 2};
constexpr ShardShape kWhole{.micro_batch = 2, .sequence_length = 8};

std::vector<std::string_view> names(const std::vector<MemoryOperator>& passes) {
  std::vector<std::string_view> list;
  for (const MemoryOperator& pass : passes) list.push_back(pass.name);
  return list;
}

MemoryOperator named(const Operators& operators, std::string_view name) {
  for (const MemoryOperator& pass : operators.memory_passes) {
    if (pass.name == name) return pass;
  }
  ADD_FAILURE() << "no pass named " << name;
  return {};
}

double flops(const Operators& operators) {
  double sum = 0;
  for (const LinearOperator& linear : operators.linears) sum += linear.forward.flops();
  for (const AttentionShape& attention : operators.attention) sum += attention.forward_flops();
  return sum;
}

TEST(LayerOperators, TensorParallelCutsOneSideOfEachProduct) {
  const std::vector<LinearOperator> linears = layer_operators(gated_model(), kQuarter).linears;
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

TEST(LayerOperators, PlainMlpHasHalfTheFirstProduct) {
  EXPECT_EQ(layer_operators(plain_model(), kQuarter).linears[2].forward,
            (GemmShape{.m = 8, .n = 16, .k = 16}));
}

TEST(LayerOperators, ContextParallelCutsQueriesAndKeepsKeys) {
  const AttentionShape expected{.sequences = 2,
                                .query_length = 4,
                                .key_length = 8,
                                .query_heads = 2,
                                .key_heads = 1,
                                .head_size = 4,
                                .causal = true};
  EXPECT_THAT(layer_operators(gated_model(), kQuarter).attention, ElementsAre(expected));
}

TEST(LayerOperators, MemoryPassesOfAGatedRotaryLayer) {
  const Operators operators = layer_operators(gated_model(), kQuarter);
  EXPECT_THAT(names(operators.memory_passes),
              ElementsAre("norm_residual_dropout", "rotary", "activation"));
  // 8 tokens x 20 x 16; 8 x 6 x 32 / 2; 8 x (4 + 2) x 4 x 4 / 2
  EXPECT_EQ(named(operators, "norm_residual_dropout").forward, 2560_B);
  EXPECT_EQ(named(operators, "activation").forward, 768_B);
  EXPECT_EQ(named(operators, "rotary").forward, 384_B);
}

TEST(LayerOperators, MemoryPassesOfAPlainLayer) {
  const Operators operators = layer_operators(plain_model(), kQuarter);
  EXPECT_THAT(names(operators.memory_passes), ElementsAre("norm_residual_dropout", "activation"));
  EXPECT_EQ(named(operators, "activation").forward, 512_B);  // 8 x 4 x 32 / 2
}

TEST(LayerOperators, BackwardMovesTwiceTheBytes) {
  for (const MemoryOperator& pass : layer_operators(gated_model(), kQuarter).memory_passes) {
    EXPECT_EQ(pass.backward, 2.0 * pass.forward) << pass.name;
  }
}

TEST(LayerOperators, SequenceParallelCutsTheNormsOnly) {
  ShardShape shard = kQuarter;
  shard.sequence_parallel = true;
  const Operators operators = layer_operators(gated_model(), shard);
  EXPECT_EQ(named(operators, "norm_residual_dropout").forward, 1280_B);
  EXPECT_EQ(named(operators, "activation").forward, 768_B);
  EXPECT_EQ(operators.linears[0].forward.m, 8.0);
}

TEST(LayerOperators, UnfusedAttentionHasNoRotaryPassOfItsOwn) {
  ShardShape shard = kQuarter;
  shard.fused_attention = false;
  EXPECT_THAT(names(layer_operators(gated_model(), shard).memory_passes),
              ElementsAre("norm_residual_dropout", "activation"));
}

TEST(Operators, OfAllLayersAndTheHeadMakeTheModelFlops) {
  for (const TransformerModel& model : {gated_model(), plain_model()}) {
    const double layers = 2.0 * flops(layer_operators(model, kWhole));
    const double head = flops(head_operators(model, kWhole));
    const double tokens = 16.0;
    EXPECT_DOUBLE_EQ(layers + head, tokens * forward_flops_per_token(model, 8, true).count());
  }
}

TEST(Operators, DevicesShareTheWorkEvenly) {
  const TransformerModel model = gated_model();
  EXPECT_DOUBLE_EQ(4.0 * flops(layer_operators(model, kQuarter)),
                   flops(layer_operators(model, kWhole)));
  EXPECT_DOUBLE_EQ(4.0 * flops(head_operators(model, kQuarter)),
                   flops(head_operators(model, kWhole)));
}

TEST(HeadOperators, CutTheVocabulary) {
  const Operators operators = head_operators(gated_model(), kQuarter);
  ASSERT_EQ(operators.linears.size(), 1U);
  EXPECT_EQ(operators.linears[0].name, "head");
  EXPECT_EQ(operators.linears[0].forward, (GemmShape{.m = 8, .n = 50, .k = 16}));
  EXPECT_TRUE(operators.attention.empty());
}

TEST(HeadOperators, LossMovesEighteenBytesALogit) {
  const MemoryOperator loss = named(head_operators(gated_model(), kQuarter), "cross_entropy");
  EXPECT_EQ(loss.forward, 2400_B);   // 8 x 50 x 6
  EXPECT_EQ(loss.backward, 4800_B);  // 8 x 50 x 12
}

TEST(EmbeddingOperators, GatherRowsAndScatterGradients) {
  const Operators operators = embedding_operators(gated_model(), kQuarter);
  EXPECT_THAT(names(operators.memory_passes), ElementsAre("token_embedding"));
  EXPECT_TRUE(operators.linears.empty());
  EXPECT_EQ(named(operators, "token_embedding").forward, 512_B);   // 8 x 16 x 2 x 2
  EXPECT_EQ(named(operators, "token_embedding").backward, 768_B);  // 8 x 16 x 2 x 3
}

TEST(EmbeddingOperators, LearnedPositionsAddAPass) {
  const Operators operators = embedding_operators(plain_model(), kQuarter);
  EXPECT_EQ(named(operators, "position_embedding").forward, 768_B);  // 8 x 16 x 2 x 3
  EXPECT_EQ(named(operators, "position_embedding").backward, 768_B);
}

}  // namespace
}  // namespace headway
