#include "sim/programs/stage_costs/product_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

using ::testing::ElementsAre;

/// Hidden 8, 2 heads of 4, an MLP of 16 and 32 words; one sequence of 5 tokens.
TransformerModel small_product_model() {
  TransformerModel model;
  model.layers = 2;
  model.hidden = 8;
  model.attention_heads = 2;
  model.kv_heads = 2;
  model.head_size = 4;
  model.ffn_hidden = 16;
  model.vocabulary = 32;
  model.sequence_length = 5;
  return model;
}

Strategy one_rank() {
  Strategy strategy;
  strategy.micro_batch = 1;
  strategy.sequence_length = 5;
  strategy.precision = Precision::bf16;
  return strategy;
}

std::string text(const ProductShape& product) {
  return std::string(word_of(product.precision)) + " " +
         std::to_string(static_cast<int>(product.shape.m)) + " " +
         std::to_string(static_cast<int>(product.shape.n)) + " " +
         std::to_string(static_cast<int>(product.shape.k));
}

std::vector<std::string> texts(const std::vector<ProductShape>& products) {
  std::vector<std::string> all;
  for (const ProductShape& product : products) all.push_back(text(product));
  return all;
}

TEST(ProductShapes, AreThoseOfEveryLinearLayerThreeTimesEach) {
  const TransformerModel model = small_product_model();
  // qkv 5 x 24 x 8, projection 5 x 8 x 8 (its data gradient is alike), fc1 5 x 16 x 8 (whose data
  // gradient is fc2's forward product), head 5 x 32 x 8
  EXPECT_THAT(texts(product_shapes(layers_of(model), one_rank())),
              ElementsAre("bf16 5 24 8", "bf16 5 8 24", "bf16 24 8 5",    // qkv
                          "bf16 5 8 8", "bf16 8 8 5",                     // projection
                          "bf16 5 16 8", "bf16 5 8 16", "bf16 16 8 5",    // fc1
                          "bf16 8 16 5",                                  // fc2
                          "bf16 5 32 8", "bf16 5 8 32", "bf16 32 8 5"));  // head
  const auto products = product_shapes(layers_of(model), one_rank());
  EXPECT_THAT(products[3].uses, ElementsAre("projection forward", "projection data gradient"));
  EXPECT_THAT(products[6].uses, ElementsAre("fc1 data gradient", "fc2 forward"));
}

TEST(ProductShapes, AreCutByTensorParallelismAndKeepTheHeadWide) {
  const TransformerModel model = small_product_model();
  Strategy strategy = one_rank();
  strategy.tensor_parallel = 2;
  strategy.precision = Precision::fp8;
  const auto all = texts(product_shapes(layers_of(model), strategy));
  EXPECT_EQ(all.front(), "fp8 5 12 8");
  EXPECT_EQ(all.back(), "bf16 16 8 5");
}

}  // namespace
}  // namespace headway
