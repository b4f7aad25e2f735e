#include "sim/network/placement.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

TEST(Placement, TheFirstDimensionVariesFastest) {
  const Placement placement{.tensor = 4, .context = 2, .data = 3, .pipeline = 2};
  EXPECT_EQ(placement.ranks(), 48);
  EXPECT_EQ(placement.accelerator(0, 0, 0, 0), 0);
  EXPECT_EQ(placement.accelerator(1, 0, 0, 0), 1);
  EXPECT_EQ(placement.accelerator(0, 1, 0, 0), 4);   // past 4 tensor ranks
  EXPECT_EQ(placement.accelerator(0, 0, 1, 0), 8);   // past 4 x 2
  EXPECT_EQ(placement.accelerator(0, 0, 0, 1), 24);  // past 4 x 2 x 3
  EXPECT_EQ(placement.accelerator(3, 1, 2, 1), 3 + 4 + 16 + 24);
}

TEST(Placement, TheOrderDecidesWhoIsNeighbour) {
  const Placement placement{.order = {ParallelDimension::data, ParallelDimension::pipeline,
                                      ParallelDimension::tensor, ParallelDimension::context},
                            .tensor = 2,
                            .context = 1,
                            .data = 3,
                            .pipeline = 5};
  EXPECT_EQ(placement.accelerator(0, 0, 1, 0), 1);
  EXPECT_EQ(placement.accelerator(0, 0, 0, 1), 3);
  EXPECT_EQ(placement.accelerator(1, 0, 0, 0), 15);  // 3 x 5
}

TEST(Placement, StartsAtTheFirstAccelerator) {
  const Placement placement{.tensor = 2, .pipeline = 2, .first_accelerator = 100};
  EXPECT_EQ(placement.accelerator(1, 0, 0, 1), 103);
}

TEST(Placement, KnowsWhoseAnAcceleratorIs) {
  const Placement placement{.order = {ParallelDimension::data, ParallelDimension::tensor,
                                      ParallelDimension::pipeline, ParallelDimension::context},
                            .tensor = 2,
                            .context = 3,
                            .data = 5,
                            .pipeline = 4,
                            .first_accelerator = 7};
  for (int stage = 0; stage < 4; ++stage) {
    for (int replica = 0; replica < 5; ++replica) {
      for (int rank = 0; rank < 6; ++rank) {
        const auto owner =
            placement.owner(placement.accelerator(rank % 2, rank / 2, replica, stage));
        ASSERT_TRUE(owner);
        EXPECT_EQ(owner->replica, replica);
        EXPECT_EQ(owner->stage, stage);
      }
    }
  }
  EXPECT_FALSE(placement.owner(6));
  EXPECT_FALSE(placement.owner(7 + 120));
}

TEST(Placement, EveryRankHasAnAcceleratorOfItsOwn) {
  const Placement placement{.tensor = 2, .context = 3, .data = 5, .pipeline = 7};
  std::set<int> seen;
  for (int p = 0; p < 7; ++p) {
    for (int d = 0; d < 5; ++d) {
      for (int c = 0; c < 3; ++c) {
        for (int t = 0; t < 2; ++t) seen.insert(placement.accelerator(t, c, d, p));
      }
    }
  }
  EXPECT_EQ(seen.size(), 210U);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 209);
}

TEST(Placement, RefusesCoordinatesAndOrdersThatAreNotOfTheJob) {
  EXPECT_THROW(static_cast<void>(Placement{.tensor = 2}.accelerator(2, 0, 0, 0)), InternalError);
  const Placement no_data{.order = {ParallelDimension::tensor}, .data = 2};
  EXPECT_THROW(static_cast<void>(no_data.accelerator(0, 0, 0, 0)), InternalError);
  const Placement twice{.order = {ParallelDimension::tensor, ParallelDimension::tensor},
                        .tensor = 2};
  EXPECT_THROW(static_cast<void>(twice.accelerator(0, 0, 0, 0)), InternalError);
}

}  // namespace
}  // namespace headway
