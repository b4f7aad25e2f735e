#include "sim/programs/stage_costs/attention_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// 6 heads of 4, two of keys; sequences of 16 tokens.
TransformerModel small_model() {
  TransformerModel model;
  model.layers = 2;
  model.hidden = 24;
  model.attention_heads = 6;
  model.kv_heads = 2;
  model.head_size = 4;
  model.ffn_hidden = 16;
  model.vocabulary = 32;
  model.sequence_length = 16;
  return model;
}

Strategy three_sequences() {
  Strategy strategy;
  strategy.micro_batch = 3;
  strategy.sequence_length = 16;
  strategy.precision = Precision::bf16;
  return strategy;
}

TEST(AttentionShapes, AreWhatOneRankRuns) {
  const AttentionShape whole{.sequences = 3,
                             .query_length = 16,
                             .key_length = 16,
                             .query_heads = 6,
                             .key_heads = 2,
                             .head_size = 4};
  EXPECT_THAT(attention_shapes(layers_of(small_model()), three_sequences()), ElementsAre(whole));

  Strategy cut = three_sequences();
  cut.tensor_parallel = 4;  // one and a half heads, half a head of keys
  AttentionShape part = whole;
  part.query_heads = 2;
  part.key_heads = 1;
  EXPECT_THAT(attention_shapes(layers_of(small_model()), cut), ElementsAre(part));
}

TEST(AttentionShapes, HaveHeadsThatShareKeysEvenly) {
  TransformerModel model = small_model();
  model.attention_heads = 14;
  model.kv_heads = 4;
  Strategy strategy = three_sequences();
  strategy.tensor_parallel = 3;  // 4 2/3 heads and 1 1/3 of keys: 2 of keys, 6 that share them
  const auto shapes = attention_shapes(layers_of(model), strategy);
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_EQ(shapes[0].key_heads, 2.0);
  EXPECT_EQ(shapes[0].query_heads, 6.0);
}

TEST(AttentionShapes, LeaveOutWhatATableCannotHold) {
  Strategy unfused = three_sequences();
  unfused.fused_attention = false;
  EXPECT_THAT(attention_shapes(layers_of(small_model()), unfused), IsEmpty());
  Strategy spread = three_sequences();
  spread.context_parallel = 2;  // half of the queries meet all keys
  EXPECT_THAT(attention_shapes(layers_of(small_model()), spread), IsEmpty());
  TransformerModel sinks = small_model();
  sinks.attention_sinks = true;
  EXPECT_THAT(attention_shapes(layers_of(sinks), three_sequences()), IsEmpty());
}

}  // namespace
}  // namespace headway
