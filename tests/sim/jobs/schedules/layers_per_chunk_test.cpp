#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sim/base/diagnostic.h"
#include "sim/jobs/schedules/layer_placement.h"

namespace headway {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr LayerPlacement kEven = LayerPlacement::even;
constexpr LayerPlacement kWithEnds = LayerPlacement::embedding_and_loss_as_layers;

TEST(LayersPerChunk, SplitsEvenlyWhereItCan) {
  EXPECT_THAT(layers_per_chunk(kEven, 96, 8), Each(12));
  EXPECT_THAT(layers_per_chunk(kEven, 5, 1), ElementsAre(5));
}

TEST(LayersPerChunk, GivesTheRestToTheFirstChunks) {
  EXPECT_THAT(layers_per_chunk(kEven, 10, 4), ElementsAre(3, 3, 2, 2));
}

// 126 layers and two ends fill 16 x 8 = 128 places of one layer (Llama 3 405B).
TEST(LayersPerChunk, LeavesTheEndsToEmbeddingAndLoss) {
  const std::vector<int> layers = layers_per_chunk(kWithEnds, 126, 128);
  EXPECT_EQ(layers.front(), 0);
  EXPECT_EQ(layers.back(), 0);
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0), 126);
  EXPECT_EQ(layers[1], 1);
  EXPECT_EQ(layers[126], 1);
}

TEST(LayersPerChunk, TakesOneLayerOffEitherEnd) {
  // (94 + 2) / 8 = 12 places
  EXPECT_THAT(layers_per_chunk(kWithEnds, 94, 8), ElementsAre(11, 12, 12, 12, 12, 12, 12, 11));
  EXPECT_THAT(layers_per_chunk(kWithEnds, 94, 1), ElementsAre(94));
}

TEST(LayersPerChunk, FillsTheFirstPlacesIfTheEndsDoNotComeOutEven) {
  // (12 + 2) / 4 = 3.5: places of 4, 4, 3 and 3
  EXPECT_THAT(layers_per_chunk(kWithEnds, 12, 4), ElementsAre(3, 4, 3, 2));
}

TEST(LayersPerChunk, PlacesEveryLayerOnce) {
  for (int layers = 1; layers <= 40; ++layers) {
    for (int chunks = 1; chunks <= layers + 2; ++chunks) {
      SCOPED_TRACE(std::to_string(layers) + " layers, " + std::to_string(chunks) + " chunks");
      const auto with_ends = layers_per_chunk(kWithEnds, layers, chunks);
      EXPECT_EQ(with_ends.size(), static_cast<std::size_t>(chunks));
      EXPECT_EQ(std::accumulate(with_ends.begin(), with_ends.end(), 0), layers);
      EXPECT_THAT(with_ends, Each(::testing::Ge(0)));
      if (chunks > layers) continue;
      const auto even = layers_per_chunk(kEven, layers, chunks);
      EXPECT_EQ(std::accumulate(even.begin(), even.end(), 0), layers);
      EXPECT_THAT(even, Each(::testing::Ge(1)));
    }
  }
}

TEST(LayersPerChunk, RefusesMoreChunksThanPlaces) {
  EXPECT_THROW(static_cast<void>(layers_per_chunk(kEven, 4, 5)), InternalError);
  EXPECT_THROW(static_cast<void>(layers_per_chunk(kWithEnds, 4, 7)), InternalError);
}

TEST(LayersOfChunks, AreTheNamedOnesWhereTheyAreNamed) {
  Strategy strategy;
  strategy.pipeline_parallel = 2;
  EXPECT_THAT(layers_of_chunks(strategy, 5), ElementsAre(3, 2));
  strategy.layers_per_stage = {1, 4};
  EXPECT_THAT(layers_of_chunks(strategy, 5), ElementsAre(1, 4));
}

// 61 layers in 8 chunks: ceil(63 / 8) = 8 each but for the last, which has 5 (DeepSeek-V3 in
// Megatron-Bridge).
TEST(LayersPerChunk, LeavesTheLastChunkShort) {
  constexpr LayerPlacement kShort = LayerPlacement::short_last_chunk;
  EXPECT_THAT(layers_per_chunk(kShort, 61, 8), ElementsAre(8, 8, 8, 8, 8, 8, 8, 5));
  EXPECT_THAT(layers_per_chunk(kShort, 61, 1), ElementsAre(61));
  // ceil(14 / 4) = 4: the last has nothing but the loss; ceil(15 / 4) = 4 with one layer.
  EXPECT_THAT(layers_per_chunk(kShort, 12, 4), ElementsAre(4, 4, 4, 0));
  EXPECT_THAT(layers_per_chunk(kShort, 13, 4), ElementsAre(4, 4, 4, 1));
  // 16 / 4 = 4 with nothing left over: the last has room for both ends.
  EXPECT_THAT(layers_per_chunk(kShort, 14, 4), ElementsAre(4, 4, 4, 2));
  // ceil(10 / 7) = 2, of which six chunks would take 12 of 8 layers.
  EXPECT_FALSE(can_place(kShort, 8, 7, 0));
  EXPECT_TRUE(can_place(kShort, 12, 4, 0));
}

TEST(LayersPerChunk, CountsPredictionsAsLayersOfTheLastChunk) {
  // 61 layers, two ends and one prediction in 4 places of 16: 15, 16, 16 and 14.
  EXPECT_THAT(layers_per_chunk(kWithEnds, 61, 4, 1), ElementsAre(15, 16, 16, 14));
  // Both ends and the prediction need a place in the last chunk.
  EXPECT_TRUE(can_place(kWithEnds, 5, 4, 1));   // 8 places, 2 each
  EXPECT_FALSE(can_place(kWithEnds, 4, 4, 1));  // 7 places, 1 each
  EXPECT_TRUE(can_place(kWithEnds, 1, 1, 1));
  EXPECT_FALSE(can_place(kEven, 3, 4, 0));
  EXPECT_TRUE(can_place(kEven, 4, 4, 0));
}

}  // namespace
}  // namespace headway
