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

}  // namespace
}  // namespace headway
