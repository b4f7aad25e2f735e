#include "sim/programs/perturbation/met_pauses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace headway {
namespace {

Workload of_accelerators(int count) {
  Workload workload;
  for (std::int32_t i = 0; i < count; ++i) workload.groups.push_back({.accelerators = {i}});
  return workload;
}

Perturbation pausing(bool together, std::uint64_t seed = 1) {
  return {.seed = seed,
          .pauses = {{.accelerators = {0, 9}, .every = 101.0, .lasts = 1.0, .together = together}}};
}

TEST(MetPauses, ThoseOfAllTogetherAreMetAsOftenAsOneAccelerators) {
  EXPECT_NEAR(met_pauses(pausing(true), of_accelerators(4), 5.0).probability, 0.05, 1e-12);
  EXPECT_NEAR(met_pauses(pausing(false), of_accelerators(1), 5.0).probability, 0.05, 1e-12);
}

TEST(MetPauses, WhoPausesForItselfAddsToTheChance) {
  const MetPauses met = met_pauses(pausing(false), of_accelerators(4), 5.0);
  EXPECT_NEAR(met.probability, 1.0 - std::pow(0.95, 4), 1e-12);
  // Of accelerators that do not pause there may be any number.
  EXPECT_NEAR(met_pauses(pausing(false), of_accelerators(50), 5.0).probability,
              1.0 - std::pow(0.95, 10), 1e-12);
}

TEST(MetPauses, NobodyMeetsWhatIsNotThereOrRepaired) {
  EXPECT_TRUE(met_pauses({}, of_accelerators(4), 5.0).iterations.empty());
  Perturbation repaired = pausing(false);
  repaired.repair.accelerators = {0, 1, 2, 3};
  EXPECT_EQ(met_pauses(repaired, of_accelerators(4), 5.0).probability, 0.0);
}

TEST(MetPauses, EachOfThemSomebodyBegins) {
  constexpr double kLength = 5.0;
  std::map<std::int32_t, int> first;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const MetPauses met = met_pauses(pausing(false, seed), of_accelerators(4), kLength);
    for (const Perturbation& one : met.iterations) {
      int pausing = 0;
      for (std::int32_t i = 0; i < 4; ++i) {
        const std::vector<std::int32_t> alone = {i};
        const bool pauses = block_end(one, alone, 0.0, kLength) > kLength;
        if (pauses && pausing++ == 0) ++first[i];
      }
      EXPECT_GE(pausing, 1);
    }
  }
  // The first with 0.05 of 0.1855, the second with 0.95 times that.
  EXPECT_NEAR(first[0], 2000 * 0.05 / 0.18549, 60);
  EXPECT_NEAR(first[1], 2000 * 0.0475 / 0.18549, 60);
}

TEST(MetPauses, WhereIterationsMeetManyOneTellsAll) {
  const MetPauses met = met_pauses(pausing(true), of_accelerators(2), 5000.0);
  EXPECT_EQ(met.probability, 1.0);
  EXPECT_EQ(met.iterations.size(), 1U);
}

TEST(MetPauses, EvenPausesTakeTheSameShare) {
  const Perturbation even = with_even_pauses(pausing(false), 4.0);
  EXPECT_LE(even.pauses[0].every, 1.0);
  EXPECT_NEAR(even.pauses[0].lasts / even.pauses[0].every, 1.0 / 101.0, 1e-12);
}

}  // namespace
}  // namespace headway
