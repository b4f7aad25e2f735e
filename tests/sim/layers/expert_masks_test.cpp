#include "sim/layers/expert_masks.h"

#include <gtest/gtest.h>

#include "sim/layers/kept_tensors.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

constexpr ExpertRouting kRouting{.experts = 8, .experts_per_token = 2, .width = 16};

/// Three sequences of 100 tokens; 100 x 2 / 8 = 25 choices of an expert, which has 1.2 times as
/// many places.
RankShape shape_of(ExpertMasks masks) {
  return {.micro_batch = 3, .sequence_length = 100, .expert_capacity = 1.2, .expert_masks = masks};
}

TEST(ExpertMasks, OfSequencesAreAsManyAsThese) {
  const ExpertMaskShape masks = expert_mask_shape(kRouting, shape_of(ExpertMasks::of_sequences));
  EXPECT_EQ(masks.groups, 3);
  EXPECT_EQ(masks.tokens, 100);
  EXPECT_DOUBLE_EQ(masks.places, 25 * 1.2 * 8);
  EXPECT_EQ(masks.dispatch(), (GemmShape{.m = masks.places, .n = 16, .k = 100}));
  EXPECT_EQ(masks.combine(), (GemmShape{.m = 100, .n = 16, .k = masks.places}));
  EXPECT_EQ(masks.mask_gradient(), (GemmShape{.m = 100, .n = masks.places, .k = 16}));
  // 2 + 1 written, 1 read, 2 written.
  EXPECT_EQ(masks.forward_bytes, 6);
  EXPECT_EQ(masks.backward_bytes, 2);
}

TEST(ExpertMasks, OfMicroBatchesGrowWithTheSquareOfTheirTokens) {
  const ExpertMaskShape masks =
      expert_mask_shape(kRouting, shape_of(ExpertMasks::of_micro_batches));
  EXPECT_EQ(masks.groups, 1);
  EXPECT_EQ(masks.tokens, 300);
  EXPECT_DOUBLE_EQ(masks.places, 75 * 1.2 * 8);
  // Two choices: 2 x 4, added 12, compared 5, narrowed 3 and 6; backward 6 and 2 x 4.
  EXPECT_EQ(masks.forward_bytes, 34);
  EXPECT_EQ(masks.backward_bytes, 14);
}

TEST(ExpertMasks, PlacesAreWhole) {
  // 101 x 2 / 8 = 25.25 choices of an expert: 26.
  RankShape shape = shape_of(ExpertMasks::of_sequences);
  shape.sequence_length = 101;
  EXPECT_DOUBLE_EQ(expert_mask_shape(kRouting, shape).places, 26 * 1.2 * 8);
}

TEST(ExpertMasks, RanksOfASequenceMaskTheirOwnTokens) {
  RankShape shape = shape_of(ExpertMasks::of_sequences);
  shape.context_parallel = 2;
  const ExpertMaskShape masks = expert_mask_shape(kRouting, shape);
  EXPECT_EQ(masks.groups, 3);
  EXPECT_EQ(masks.tokens, 50);
}

TEST(ExpertMasks, EveryPlaceIsWorkedOnAndNothingIsSorted) {
  Layer layer;
  layer.routing = kRouting;
  layer.kept.push_back({.name = "weights by place",
                        .rows = Rows::own,
                        .elements = 1.0,
                        .placed = true,
                        .when = KernelChoice::expert_masks});
  RankShape shape = shape_of(ExpertMasks::none);
  EXPECT_DOUBLE_EQ(row_count(Rows::routed, layer, shape), 300 * 2);
  EXPECT_DOUBLE_EQ(work(layer, shape).permuted_elements, 300 * 2 * 16);
  EXPECT_EQ(work(layer, shape).masks.groups, 0);
  EXPECT_EQ(kept_bytes(layer, shape).count(), 0);
  shape = shape_of(ExpertMasks::of_sequences);
  EXPECT_DOUBLE_EQ(row_count(Rows::routed, layer, shape), 300 * 2 * 1.2);
  EXPECT_EQ(work(layer, shape).permuted_elements, 0);
  EXPECT_EQ(work(layer, shape).masks.groups, 3);
  // 300 tokens x 240 places in two bytes.
  EXPECT_DOUBLE_EQ(kept_bytes(layer, shape).count(), 300 * 240 * 2);
}

}  // namespace
}  // namespace headway
