#include "sim/models/transformer/t5.h"

#include <gtest/gtest.h>

#include "sim/layers/exchanges.h"
#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

T5Model t5_base() {
  return {.layers = 12,
          .decoder_layers = 12,
          .hidden = 768,
          .attention_heads = 12,
          .ffn_hidden = 3072,
          .vocabulary = 32128,
          .sequence_length = 512,
          .target_length = 128};
}

TEST(T5, HasThePublishedParameters) {
  // A table of 32,128 h; 12 layers of 4 h^2 + 2 h f + 2 h; 12 of 8 h^2 + 2 h f + 3 h; two norms at
  // the ends; two tables of 32 distances and 12 heads.
  const std::int64_t h = 768;
  const std::int64_t mlp = 2 * h * 3072;
  EXPECT_EQ(32'128 * h + 12 * (4 * h * h + mlp + 2 * h) + 12 * (8 * h * h + mlp + 3 * h) + 2 * h +
                2 * 32 * 12,
            222'903'552);
  EXPECT_EQ(parameter_count(layers_of(t5_base())), 222'903'552);
}

TEST(T5, TheDecoderWorksOnItsOwnWordsAndOnTheKeysOfTheEncoder) {
  // For each of 512 words of input a quarter of a word is written. Encoder: 4 h^2 + 2 h f in each
  // of 12 layers, and pairs with all 512. Decoder: 4 h^2 + 2 h f on a quarter of a word, of cross
  // attention 2 h^2 on a quarter and 2 h^2 on the whole of the encoder's; pairs with half of 128,
  // and with all 512. Head: a quarter of a word.
  const double h = 768;
  const double mlp = 2 * h * 3072;
  const double part = 0.25;
  const double products = 12 * (4 * h * h + mlp) +
                          12 * (part * (4 * h * h + mlp + 2 * h * h) + 2 * h * h) +
                          part * h * 32'128;
  const double pairs = 12 * 512 + 12 * part * (128 / 2.0 + 512);
  const ForwardFlops flops = forward_flops(layers_of(t5_base()), 512);
  EXPECT_NEAR(flops.products, 2.0 * products, 1.0);
  EXPECT_NEAR(flops.attention, 2.0 * 2.0 * h * pairs, 1.0);
}

TEST(T5, CrossAttentionHasQueriesOfOneAndKeysOfTheOther) {
  const Model model = layers_of(t5_base());
  ASSERT_EQ(model.layer_count(), 12 + 2 * 12);
  const RankShape shape{.micro_batch = 2.0, .sequence_length = 512.0};
  const Work of_self = work(model.layer(12), shape);
  const Work of_cross = work(model.layer(13), shape);
  EXPECT_EQ(of_self.attention->shape.query_length, 128.0);
  EXPECT_EQ(of_self.attention->shape.key_length, 128.0);
  EXPECT_TRUE(of_self.attention->shape.causal);
  EXPECT_EQ(of_cross.attention->shape.query_length, 128.0);
  EXPECT_EQ(of_cross.attention->shape.key_length, 512.0);
  EXPECT_FALSE(of_cross.attention->shape.causal);
  EXPECT_EQ(of_cross.attention->shape.sequences, 2.0);
  EXPECT_FALSE(work(model.layer(0), shape).attention->shape.causal);
  // A stage hands on what the encoder gave and a quarter of a word of the decoder's.
  EXPECT_EQ(model.layer(12).output, 1.25 * 768);
  EXPECT_EQ(model.layer(12).input, 1.25 * 768);
  EXPECT_EQ(model.layer(13).input, 1.25 * 768);
  EXPECT_EQ(model.layer(11).output, 768.0);
}

TEST(T5, ScoresThatAreWrittenOutAreThoseOfEachPair) {
  // A softmax of 12 heads, 128 by 128 and 128 by 512 pairs, in 2 bytes; what else a layer keeps
  // does not depend on how it attends but for 4 bytes a row and head of fused attention.
  const Model model = layers_of(t5_base());
  const RankShape fused{.micro_batch = 1.0, .sequence_length = 512.0, .fused_attention = true};
  RankShape written = fused;
  written.fused_attention = false;
  written.fused_softmax = true;
  const auto scores = [&](int layer) {
    return (kept_bytes(model.layer(layer), written) - kept_bytes(model.layer(layer), fused))
        .count();
  };
  const double rows = 12 * 128.0;
  EXPECT_NEAR(scores(12), rows * (2 * 128 - 4), 1.0);
  EXPECT_NEAR(scores(13), rows * (2 * 512 - 4), 1.0);
}

TEST(T5, APlainMlpIsRectifiedAndAGatedOneHasTransformersGelu) {
  const auto keeps = [](T5Model fields, std::string_view name) {
    RankShape shape{.sequence_length = 512.0};
    shape.fused_activation = false;
    const Model model = layers_of(fields);
    return std::ranges::any_of(model.layer(0).kept, [&](const KeptTensor& tensor) {
      return tensor.name == name && shape.holds(tensor.when);
    });
  };
  T5Model fields = t5_base();
  EXPECT_FALSE(keeps(fields, "activation input"));
  fields.gated_mlp = true;
  EXPECT_TRUE(keeps(fields, "activation input"));
  EXPECT_TRUE(keeps(fields, "tangent"));
}

TEST(T5, ADecoderMovesKeepsAndSendsAQuarterOfAWord) {
  const Model model = layers_of(t5_base());
  const RankShape shape{.sequence_length = 512.0};
  const auto moved = [&](int layer) {
    double sum = 0.0;
    for (const PassWork& pass : work(model.layer(layer), shape).passes) {
      sum += pass.forward.count() + pass.backward.count();
    }
    return sum;
  };
  // Halves of a layer each: 10 bytes a channel of norms and residuals, 4 an inner one; backward
  // twice. The decoder has a norm, a residual and an attention more.
  const double h = 768;
  const double rows = 512;
  EXPECT_DOUBLE_EQ(moved(0), 3 * rows * (20 * h + 4 * 3072));
  EXPECT_DOUBLE_EQ(moved(12), 3 * rows / 4 * 10 * h);
  EXPECT_DOUBLE_EQ(moved(13), 3 * rows / 4 * (20 * h + 4 * 3072));
  // What goes into a half's norm and product, queries, keys, values and results, 4 bytes of each
  // of 12 heads, what a ReLU gives: of a quarter of a word, but for keys and values of the
  // encoder's.
  const auto kept = [&](int layer) { return kept_bytes(model.layer(layer), shape).count(); };
  const double half = 2 * 6 * h + 4 * 12;
  EXPECT_DOUBLE_EQ(kept(12), rows / 4 * half);
  EXPECT_DOUBLE_EQ(kept(13), rows / 4 * (half + 2 * (2 * h + 3072)) + rows * 2 * 2 * h * 0.75);
  ASSERT_EQ(model.layer(12).exchanges.size(), 1U);
  EXPECT_EQ(model.layer(12).exchanges[0].width, h / 4);
  // What the encoder gave goes whole into the products of keys and values.
  ASSERT_EQ(model.layer(13).exchanges.size(), 3U);
  EXPECT_EQ(model.layer(13).exchanges[0].width, h);
  EXPECT_TRUE(model.layer(13).exchanges[0].only_enters);
  EXPECT_EQ(model.layer(13).exchanges[1].width, h / 4);
  EXPECT_FALSE(model.layer(13).exchanges[1].only_enters);
  // Both look words up: 2 and 3 bytes of each of 2; the loss is over a quarter.
  const Work first = work(model.first, shape);
  EXPECT_DOUBLE_EQ(first.passes[0].forward.count(), rows * 1.25 * 2 * 2 * h);
  EXPECT_DOUBLE_EQ(first.passes[0].backward.count(), rows * 1.25 * 3 * 2 * h);
  EXPECT_EQ(model.last.loss_classes, 32'128 / 4.0);
}

}  // namespace
}  // namespace headway
