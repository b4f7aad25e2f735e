#include "sim/models/transformer/bert.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

BertModel large() {
  return {.layers = 24,
          .hidden = 1024,
          .attention_heads = 16,
          .ffn_hidden = 4096,
          .vocabulary = 30522,
          .sequence_length = 128,
          .predicted_words = 20};
}

TEST(Bert, HasThePublishedParameters) {
  // transformers.BertForPreTraining of bert-large-uncased and bert-base-uncased. By hand, of the
  // latter: embeddings (30522 + 512 + 2) 768 + 2 x 768, 12 layers of 12 h^2 + 13 h, pooler and
  // transform h^2 + h each, a norm, 30522 biases and 2 x 768 + 2.
  EXPECT_EQ(parameter_count(layers_of(large())), 336'226'108);
  EXPECT_EQ(parameter_count(layers_of(BertModel{.layers = 12,
                                                .hidden = 768,
                                                .attention_heads = 12,
                                                .ffn_hidden = 3072,
                                                .vocabulary = 30522})),
            110'106'428);
}

TEST(Bert, AttendsBothWaysAndPredictsSomeWords) {
  // A token: 24 layers of 12 h^2 and 2 s h of attention; of the head 20/128 of a word's transform
  // and matrix, 1/128 of what is pooled.
  const double h = 1024;
  const double head = 20.0 / 128 * (h * h + h * 30522) + (h * h + 2 * h) / 128;
  const ForwardFlops flops = forward_flops(layers_of(large()), 128);
  EXPECT_NEAR(flops.total().count(), 2.0 * (24 * (12 * h * h + 2 * 128 * h) + head), 1.0);
  EXPECT_DOUBLE_EQ(flops.total().count(), flops.whole_square().count());
}

TEST(Bert, TheHeadKeepsAndMovesThePredictedWordsOnly) {
  // 20 of 128 words: inputs of the transform, its activation, its norm and the words, 2 bytes each;
  // the loss 6 bytes a word of the vocabulary, 12 backward.
  const Model model = layers_of(large());
  const RankShape shape{.sequence_length = 128};
  EXPECT_DOUBLE_EQ(kept_bytes(model.last, shape).count(), 20 * 4 * 2 * 1024.0);
  const Work last = work(model.last, shape);
  ASSERT_EQ(last.passes.size(), 1U);
  EXPECT_DOUBLE_EQ(last.passes[0].forward.count(), 20 * 6 * 30522.0);
  EXPECT_DOUBLE_EQ(last.passes[0].backward.count(), 20 * 12 * 30522.0);
  EXPECT_DOUBLE_EQ(128 * model.last.loss_classes, 20 * 30522.0);
}

TEST(Bert, NarrowRowsOfTablesAreKeptForTheProductThatWidensThem) {
  BertModel model = large();
  model.dropout = false;
  const RankShape shape{.sequence_length = 128};
  EXPECT_EQ(kept_bytes(layers_of(model).first, shape), 0_B);
  model.table_width = 128;
  EXPECT_DOUBLE_EQ(kept_bytes(layers_of(model).first, shape).count(), 128 * 2 * 128.0);
}

/// 8 channels in 2 heads, 10 words of a sequence, 6 distances.
TEST(Bert, DistancesAreComparedWithWords) {
  BertModel fields{.layers = 1,
                   .hidden = 8,
                   .attention_heads = 2,
                   .ffn_hidden = 16,
                   .vocabulary = 50,
                   .token_types = 0,
                   .position_encoding = PositionEncoding::none,
                   .positions = 10,
                   .sequence_length = 10,
                   .predicted_words = 10,
                   .next_sentence = false};
  const Model plain = layers_of(fields);
  fields.relative_positions = 6;
  const Model model = layers_of(fields);
  EXPECT_TRUE(model.biases_scores);
  EXPECT_FALSE(plain.biases_scores);
  // A table and its norm.
  EXPECT_EQ(parameter_count(model) - parameter_count(plain), 6 * 8 + 2 * 8);
  // Queries and keys of 6 distances for 10 words; of each word and distance both ways 8 channels.
  const ForwardFlops more = forward_flops(model.layer(0), 10);
  const ForwardFlops less = forward_flops(plain.layer(0), 10);
  EXPECT_NEAR(more.products - less.products, 2 * (6.0 / 10) * 8 * 16, 1e-9);
  EXPECT_NEAR(more.attention - less.attention, 2 * 2 * 6 * 8, 1e-9);
  // Drops out as one with a table does, of which it has no pass.
  EXPECT_TRUE(model.layer(0).attention->dropout);
  const auto passes = [](const Model& of) { return of.first.passes.size(); };
  EXPECT_EQ(passes(model), 1U);
  for (const PassWork& pass : work(model.layer(0), {.sequence_length = 10}).passes) {
    if (pass.name != "scores of distances") continue;
    // 2 heads of 10 x 10 scores: picked by 8 bytes, read and written; scaled; added; all added.
    EXPECT_EQ(pass.forward, Bytes(200.0 * (2 * (12 + 4 + 6) + 6)));
    EXPECT_EQ(pass.backward, Bytes(200.0 * 2 * (14 + 4)));
    EXPECT_FALSE(pass.merged);
    return;
  }
  ADD_FAILURE() << "no scores of distances";
}

TEST(Bert, WithoutDropoutItKeepsNoMasks) {
  BertModel model = large();
  EXPECT_TRUE(layers_of(model).layer(0).attention->dropout);
  const RankShape shape{.sequence_length = 128};
  const Bytes with = kept_bytes(layers_of(model).layer(0), shape);
  model.dropout = false;
  EXPECT_FALSE(layers_of(model).layer(0).attention->dropout);
  // Two masks of the residual stream, of a byte a channel; fused attention draws its own again.
  const Bytes without = kept_bytes(layers_of(model).layer(0), shape);
  EXPECT_DOUBLE_EQ((with - without).count(), 128 * 2 * 1024.0);
}

}  // namespace
}  // namespace headway
