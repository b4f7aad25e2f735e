#include "sim/plan/pareto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace headway {
namespace {

using testing::ElementsAre;

TEST(Pareto, WhoIsBeatenInEverythingIsNotOnTheFront) {
  // (2, 2) is as good as (2, 3) in one and better in the other; (1, 4) and (3, 1) are best in one.
  EXPECT_THAT(pareto_front({{2, 3}, {2, 2}, {1, 4}, {3, 1}, {3, 3}}),
              ElementsAre(false, true, true, true, false));
}

TEST(Pareto, OfEqualPointsTheFirstIsOnTheFront) {
  EXPECT_THAT(pareto_front({{1, 1}, {1, 1}}), ElementsAre(true, false));
}

TEST(Pareto, InfinityIsWorseThanAnything) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  EXPECT_THAT(pareto_front({{kNever, 2}, {5, 2}, {kNever, 1}}), ElementsAre(false, true, true));
  EXPECT_TRUE(pareto_front({}).empty());
}

}  // namespace
}  // namespace headway
