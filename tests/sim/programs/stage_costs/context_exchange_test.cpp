#include "sim/programs/stage_costs/context_exchange.h"

#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

/// 4 ranks; a message starts 2 us late, 1 us of it overhead.
ContextExchange exchange_of(const Layer& layer) {
  Strategy strategy;
  strategy.context_parallel = 4;
  const GroupLink link{.overhead = Seconds(1e-6),
                       .step = {.latency = Seconds(1e-6), .bandwidth = BytesPerSecond(1e9)},
                       .wire = BytesPerSecond(1e9)};
  return context_exchange(strategy, round_profile(), link, layer, {}, Seconds(0.0));
}

TEST(ContextExchange, LayersWithoutAttentionDoNotStartARing) {
  Layer layer;
  EXPECT_EQ(exchange_of(layer).forward, Seconds(0.0));
  EXPECT_EQ(exchange_of(layer).backward, Seconds(0.0));
  layer.attention = AttentionCore{};
  EXPECT_GE(exchange_of(layer).forward, Seconds(6e-6));
}

}  // namespace
}  // namespace headway
