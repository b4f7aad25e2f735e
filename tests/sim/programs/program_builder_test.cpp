#include "sim/programs/program_builder.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace headway {
namespace {

/// The window is a block by itself, as long as the kernels of the pass at most.
TEST(ProgramBuilder, TheWindowOfAnExchangeIsCutOutOfItsPass) {
  const auto blocks_of = [](Seconds window) {
    TimeByCause time;
    time[Cause::compute] = 0.75_s;
    time[Cause::recompute] = 0.25_s;
    time[Cause::other] = 0.5_s;
    PassFlows flows;
    flows.of[ExchangeKind::context] = {.hidden = 8_B, .hidden_time = 0.1_s, .window = window};
    ProgramBuilder builder("pass");
    builder.run(builder.add_pass("forward", time, flows), flows);
    return std::move(builder).finished().blocks;
  };
  for (const auto& [window, inside] : {std::pair{0.25_s, 0.25_s}, {3_s, 1_s}}) {
    const std::vector<Block> blocks = blocks_of(window);
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].time.total(), inside);
    EXPECT_EQ(blocks[1].time.total(), 1.5_s - inside);
  }
}

}  // namespace
}  // namespace headway
