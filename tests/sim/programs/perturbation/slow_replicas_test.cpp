#include "sim/programs/perturbation/slow_replicas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Accelerators 0, 1 are stage 0 of replica 0; 2, 3 of replica 1; 6, 7 stage 1 of replica 0.
constexpr int kTensor = 2;
const Placement kPlacement{.tensor = kTensor, .data = 3, .pipeline = 2};

std::vector<StageFactors> slow(std::map<int, double> accelerators) {
  Perturbation perturbation;
  perturbation.slow_accelerators = std::move(accelerators);
  return slow_replicas(perturbation, kPlacement);
}

TEST(SlowReplicas, NobodyIsSlowWhereNobodyIsListed) {
  EXPECT_THAT(slow({}), IsEmpty());
  EXPECT_THAT(slow({{12, 2.0}}), IsEmpty());  // of another job
  EXPECT_THAT(slow({{0, 0.5}}), IsEmpty());   // the other rank of its group is as it was
}

TEST(SlowReplicas, AStageIsAsSlowAsItsSlowestRank) {
  EXPECT_THAT(slow({{2, 1.5}, {3, 1.25}}), ElementsAre(ElementsAre(1.5, 1.0)));
}

TEST(SlowReplicas, ThoseThatAnotherOneCoversAreLeftOut) {
  EXPECT_THAT(slow({{0, 1.2}, {2, 1.5}, {8, 1.1}}), ElementsAre(ElementsAre(1.5, 1.1)));
  EXPECT_THAT(slow({{2, 1.5}, {4, 1.5}}), ElementsAre(ElementsAre(1.5, 1.0)));
  EXPECT_THAT(slow({{0, 1.2}, {8, 1.3}}),
              UnorderedElementsAre(ElementsAre(1.2, 1.0), ElementsAre(1.0, 1.3)));
}

}  // namespace
}  // namespace headway
