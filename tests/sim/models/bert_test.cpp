#include "sim/models/transformer/bert.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/parameters.h"

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

}  // namespace
}  // namespace headway
