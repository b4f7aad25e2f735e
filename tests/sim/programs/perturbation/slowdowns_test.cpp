#include "sim/programs/perturbation/slowdowns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "sim/programs/perturbation/perturbation.h"

namespace headway {
namespace {

const std::vector<std::int32_t> kPair = {4, 5};

TEST(Slowdowns, NoneLeavesTheEndAsItIs) {
  EXPECT_EQ(block_end({}, kPair, 0.1, 0.2), 0.1 + 0.2);
  // An episode that slows nothing down does not either, to the last bit.
  const Perturbation idle{
      .slow_episodes = {{.accelerators = {0, 9}, .from = 0.15, .to = 0.2, .time_factor = 1.0}}};
  EXPECT_EQ(block_end(idle, kPair, 0.1, 0.2), 0.1 + 0.2);
}

TEST(Slowdowns, WorkGoesOnSlowerInAnEpisode) {
  // Throttled to half speed from 2 to 4 on one of the two: of 5 s of work from 1 on, one is done
  // at 2, another at 4, the other three at 7.
  const Perturbation throttled{
      .slow_episodes = {{.accelerators = {5, 5}, .from = 2.0, .to = 4.0, .time_factor = 2.0}}};
  EXPECT_DOUBLE_EQ(block_end(throttled, kPair, 1.0, 5.0), 7.0);
  const std::vector<std::int32_t> other = {4};
  EXPECT_DOUBLE_EQ(block_end(throttled, other, 1.0, 5.0), 6.0);
}

TEST(Slowdowns, WhatTheHostDoesIsNotSlowed) {
  // Half of the work is the device's: between 2 and 4 everything takes 1.5 times as long, so that
  // 4/3 s are done, and the last 8/3 of the 5 s end at 4 + 8/3.
  const Perturbation throttled{
      .slow_episodes = {{.accelerators = {5, 5}, .from = 2.0, .to = 4.0, .time_factor = 2.0}}};
  EXPECT_DOUBLE_EQ(block_end(throttled, kPair, 1.0, 5.0, 0.5), 4.0 + 8.0 / 3.0);
  EXPECT_DOUBLE_EQ(block_end(throttled, kPair, 1.0, 5.0, 0.0), 6.0);
}

TEST(Slowdowns, AnEpisodeWithoutAnEndIsANodeThatFailsSlow) {
  const Perturbation failing{
      .slow_episodes = {{.accelerators = {4, 5}, .from = 2.0, .time_factor = 3.0}}};
  EXPECT_DOUBLE_EQ(block_end(failing, kPair, 1.0, 3.0), 2.0 + 2.0 * 3.0);
}

TEST(Slowdowns, EpisodesOfOneAcceleratorMultiplyAndThoseOfTwoDoNot) {
  const Perturbation same{.slow_episodes = {{.accelerators = {4, 4}, .time_factor = 2.0},
                                            {.accelerators = {4, 4}, .time_factor = 3.0}}};
  EXPECT_DOUBLE_EQ(block_end(same, kPair, 0.0, 1.0), 6.0);
  const Perturbation apart{.slow_episodes = {{.accelerators = {4, 4}, .time_factor = 2.0},
                                             {.accelerators = {5, 5}, .time_factor = 3.0}}};
  EXPECT_DOUBLE_EQ(block_end(apart, kPair, 0.0, 1.0), 3.0);
}

TEST(Slowdowns, PausesTogetherStopEverybodyAtTheSameTime) {
  // Every 10 s a pause of 1 s: whenever the first one begins, work of 18 s meets two of them, and
  // a group of many no more than one accelerator.
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Perturbation paused{
        .seed = seed,
        .pauses = {{.accelerators = {0, 9}, .every = 10.0, .lasts = 1.0, .together = true}}};
    EXPECT_DOUBLE_EQ(block_end(paused, kPair, 0.0, 18.0), 20.0);
    const std::vector<std::int32_t> other = {7};
    EXPECT_EQ(block_end(paused, kPair, 0.0, 5.0), block_end(paused, other, 0.0, 5.0));
  }
}

TEST(Slowdowns, AnIterationBeginsAnywhereBetweenTwoPauses) {
  // Work of 3 s in the 9 s between two pauses meets one of them in a third of all cases.
  int met = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Perturbation paused{
        .seed = seed,
        .pauses = {{.accelerators = {0, 9}, .every = 10.0, .lasts = 1.0, .together = true}}};
    const double end = block_end(paused, kPair, 0.0, 3.0);
    if (end > 3.5) ++met;
    EXPECT_TRUE(end == 3.0 || std::abs(end - 4.0) < 1e-12) << end;
  }
  EXPECT_NEAR(met, 1000, 100);
}

TEST(Slowdowns, WhoIsTheFirstToPauseDoesAndThoseBeforeItDoNot) {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    const Perturbation paused{.seed = seed,
                              .pauses = {{.accelerators = {0, 9}, .every = 1e6, .lasts = 1.0}},
                              .first_pause = {.kind = 0, .accelerator = 5, .within = 2.0}};
    const std::vector<std::int32_t> before = {4};
    const std::vector<std::int32_t> first = {5};
    EXPECT_EQ(block_end(paused, before, 0.0, 2.0), 2.0);
    EXPECT_NEAR(block_end(paused, first, 0.0, 2.0), 3.0, 1e-9);
  }
}

// A double of 1e17 s and more is followed by the next one 16 s later.
TEST(Slowdowns, PausesThatNobodyCanTellApartStopNobody) {
  const Perturbation paused{
      .pauses = {{.accelerators = {0, 9}, .every = 5.0, .lasts = 0.1, .together = true}}};
  EXPECT_EQ(block_end(paused, kPair, 1e17, 1.0), 1e17);
  EXPECT_EQ(block_end(paused, kPair, 1e300, 1.0), 1e300);
}

TEST(Slowdowns, APhaseOfTheirOwnMakesEachWaitForAllOthers) {
  // Over a long time a share of 0.01 is lost to one accelerator's pauses; of 20 with phases of
  // their own that rarely meet, nearly 20 times as much: each pause is 0.01 of its period, and the
  // group stands still in the union of all.
  const Perturbation paused{.seed = 3,
                            .pauses = {{.accelerators = {0, 99}, .every = 1.0, .lasts = 0.01}}};
  std::vector<std::int32_t> group;
  for (std::int32_t i = 0; i < 20; ++i) group.push_back(i);
  const std::vector<std::int32_t> one = {0};
  EXPECT_NEAR(block_end(paused, one, 0.0, 990.0), 1000.0, 1.0);
  const double end = block_end(paused, group, 0.0, 1000.0);
  EXPECT_GT(end, 1000.0 / (1.0 - 0.10));
  EXPECT_LE(end, 1000.0 / (1.0 - 0.20) + 1.0);
}

TEST(Slowdowns, WhatNobodyPausesInIsTheRestOfThePeriod) {
  EXPECT_EQ(working_share({}, kPair), 1.0);
  Perturbation pausing{.pauses = {{.accelerators = {0, 99}, .every = 10.0, .lasts = 1.0}}};
  // Of 60 accelerators with phases of their own somebody always pauses.
  std::vector<std::int32_t> many(60);
  std::iota(many.begin(), many.end(), 0);
  EXPECT_EQ(working_share(pausing, many), 0.0);
  // A block of a thousand periods shows what is left to two.
  const double share = working_share(pausing, kPair);
  EXPECT_NEAR(block_end(pausing, kPair, 0.0, 1e4 * share), 1e4, 10.0);
  pausing.pauses[0].together = true;
  EXPECT_NEAR(working_share(pausing, many), 0.9, 1e-12);
}

TEST(Slowdowns, ARepairedAcceleratorNeitherPausesNorSlowsDown) {
  Perturbation both{.slow_episodes = {{.accelerators = {4, 4}, .time_factor = 2.0}},
                    .pauses = {{.accelerators = {4, 4}, .every = 10.0, .lasts = 1.0}}};
  both.repair.accelerators = {4};
  EXPECT_DOUBLE_EQ(block_end(both, kPair, 5.0, 20.0), 25.0);
}

TEST(Slowdowns, WhenPausesBeginIsRandom) {
  EXPECT_TRUE((Perturbation{.pauses = {{.lasts = 0.1, .together = true}}}).random());
  EXPECT_TRUE((Perturbation{.pauses = {{.lasts = 0.1}}}).random());
  EXPECT_TRUE((Perturbation{.jitter = {.spread = 0.1}}).random());
  EXPECT_FALSE((Perturbation{.slow_episodes = {{.time_factor = 2.0}}}).random());
}

}  // namespace
}  // namespace headway
