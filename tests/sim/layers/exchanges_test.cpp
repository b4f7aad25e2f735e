#include "sim/layers/exchanges.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(ContextMessages, OfCrossAttentionAreTheQueriesOfOneTextAndTheKeysOfTheOther) {
  // 8 tokens of 2 bytes, of which 2 ask and 6 are read, over 4 ranks that split heads; values half
  // as wide as keys.
  Layer layer;
  layer.attention = AttentionCore{.heads = 4.0,
                                  .key_heads = 2.0,
                                  .head_size = 3.0,
                                  .value_head_size = 1.5,
                                  .queries = 0.25,
                                  .keys = 0.75};
  const RankShape shape{.micro_batch = 2, .sequence_length = 4, .tensor_parallel = 4};
  const ContextMessages messages = context_messages(layer, shape);
  EXPECT_EQ(messages.queries, 12_B);  // of each token 4 heads of 3
  EXPECT_EQ(messages.keys, 18_B);     // 2 heads of 3
  EXPECT_EQ(messages.values, 9_B);
  EXPECT_EQ(messages.outputs, 6_B);
  EXPECT_EQ(messages.keys_and_values(), 27_B);
  EXPECT_EQ(messages.all(), 45_B);
  // Blocks are dealt out whole: nobody asks another rank.
  layer.attention->block = 2.0;
  EXPECT_EQ(context_messages(layer, shape).all(), 0_B);
}

// 8 tokens of 7 channels of 2 bytes, over 4 ranks.
TEST(StageMessage, IsAPartOrAllOfWhatRanksHave) {
  Layer layer;
  layer.output = 7.0;
  RankShape shape{.micro_batch = 2, .sequence_length = 4, .tensor_parallel = 4};
  EXPECT_EQ(stage_message(layer, shape), 28_B);
  shape.split_messages = false;
  EXPECT_EQ(stage_message(layer, shape), 112_B);
}

}  // namespace
}  // namespace headway
