#include "sim/programs/perturbation/draw_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/programs/perturbation/counter_draw.h"

namespace headway {
namespace {

/// The largest relative difference from what is tabulated, over draws and the ends of the range.
double worst_difference(const Jitter& jitter, int draws) {
  DrawTable table(jitter, draws);
  std::vector<double> places = {0x1p-53, 0x1p-30,       0x1p-13,       0x1p-12,       0.25,
                                0.5,     0.5 + 0x1p-53, 1.0 - 0x1p-12, 1.0 - 0x1p-13, 0.75,
                                0.4999,  0.03125,       1.0 - 0x1p-30, 1.0 - 0x1p-53};
  // Sixteen in each of the sixteen cells of every octave down to 2^-13, on either side of one half.
  std::uint64_t drawn = 0;
  for (double octave = 0x1p-13; octave < 0.5; octave *= 2.0) {
    for (int i = 0; i < 256; ++i) {
      const double place = octave * (1.0 + (i + counter_draw(7, 1, drawn++)) / 256.0);
      places.insert(places.end(), {place, 1.0 - place});
    }
  }
  double worst = 0.0;
  for (const double u : places) {
    worst = std::max(worst, std::abs(table(u) / largest_draw(jitter, u, draws) - 1.0));
  }
  return worst;
}

TEST(DrawTable, IsTheFunctionItselfToRounding) {
  for (const int draws : {1, 2, 8, 64}) {
    for (const double spread : {0.01, 0.05, 0.5}) {
      EXPECT_LT(worst_difference({.spread = spread}, draws), 2e-13) << spread << ' ' << draws;
      EXPECT_LT(worst_difference({.kind = Jitter::Kind::gamma, .spread = spread}, draws), 1e-12)
          << spread << ' ' << draws;
    }
  }
}

TEST(DrawTable, WhatHasCornersIsNotTabulated) {
  const Jitter corners{.kind = Jitter::Kind::quantiles, .quantiles = {1.0, 1.1, 1.2, 2.0}};
  EXPECT_EQ(worst_difference(corners, 8), 0.0);
  EXPECT_EQ(worst_difference({.kind = Jitter::Kind::exponential, .spread = 0.1}, 8), 0.0);
}

TEST(DrawTable, IsSharedByWhoeverDrawsAlike) {
  const Jitter wide{.spread = 0.05};
  const auto table = shared_draw_table(wide, 8);
  EXPECT_EQ(shared_draw_table(wide, 8), table);
  EXPECT_NE(shared_draw_table(wide, 1), table);
  EXPECT_NE(shared_draw_table({.spread = 0.01}, 8), table);
  EXPECT_NE(shared_draw_table({.kind = Jitter::Kind::gamma, .spread = 0.05}, 8), table);
  // Any number of distributions may be asked for; a table lives as long as its user.
  for (int i = 1; i <= 1000; ++i) {
    static_cast<void>(shared_draw_table({.spread = 1e-4 * i}, 2));
  }
  EXPECT_EQ((*table)(0.3), (*shared_draw_table(wide, 8))(0.3));
}

}  // namespace
}  // namespace headway
