#include "sim/programs/stage_costs/table_exchange.h"

#include <gtest/gtest.h>

#include "sim/layers/tables.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

/// Four tables of one lookup, 1,000 wide: on four ranks one each, which sends 4 x 500 rows of
/// 2,000 B, its own samples' included.
class TableExchangeTest : public testing::Test {
 protected:
  TableExchangeTest() {
    layer.tables.assign(4, {1e6, 1000.0, 1.0});
    shape.micro_batch = 500.0;
    shape.table_ranks = 4.0;
  }
  [[nodiscard]] TableExchange exchange(std::vector<int> members, Seconds beside = 0_s) const {
    return table_exchange(layer, profile, cluster_of(cluster.text())->node_type,
                          {std::move(members)}, shape, beside, 1.0);
  }

  Layer layer;
  RankShape shape;
  Profile profile = round_profile();
  ClusterText cluster = {.nodes = 2, .accelerators = 4, .nics = 4};
  const double message = 4.0 * 500.0 * 2000.0;
};

TEST_F(TableExchangeTest, StaysInADomain) {
  // Three quarters of it, at 400 GB/s.
  EXPECT_NEAR(exchange({4}).time.count(), 0.75 * message / 400e9, 1e-12);
  EXPECT_EQ(exchange({4}).sent, Bytes(0.0));
}

TEST_F(TableExchangeTest, LeavesADomainByTheNicOfTheRank) {
  // Half of it at 50 GB/s; three peers, a microsecond each.
  const TableExchange across = exchange({2, 2});
  EXPECT_NEAR(across.time.count(), 0.5 * message / 50e9 + 3e-6, 1e-12);
  EXPECT_DOUBLE_EQ(across.sent.count(), message);
  EXPECT_NEAR((across.sent / across.rate).count(), 0.5 * message / 50e9, 1e-12);
  EXPECT_DOUBLE_EQ(across.wire.count(), 50e9 / 0.5);  // of all that is exchanged
  EXPECT_DOUBLE_EQ(across.share_seen, 1.0);
}

TEST_F(TableExchangeTest, TakesAsLongAsWhatStaysIfThatIsSlower) {
  // One of three peers is in the domain, whose fabric carries 5 GB/s.
  cluster.scale_up_bandwidth = "5 GB/s";
  EXPECT_NEAR(exchange({2, 2}).time.count(), 0.25 * message / 5e9 + 3e-6, 1e-12);
}

TEST_F(TableExchangeTest, GroupsAddUpInTheirDomainFirst) {
  // Two groups with two tables each: 2,000 samples of two rows, half of them added up at 400 GB/s;
  // then a rank sends half of its half. One peer.
  shape.tables.group = 2;
  const double summed = 2.0 * message;
  EXPECT_NEAR(exchange({2, 2}).time.count(),
              0.5 * summed / 400e9 + 0.5 * (0.5 * summed) / 50e9 + 1e-6, 1e-12);
}

TEST_F(TableExchangeTest, HidesBehindWhatDoesNotWaitForIt) {
  const Seconds all = exchange({2, 2}).time;
  const TableExchange hidden = exchange({2, 2}, 0.25 * all);
  EXPECT_NEAR(hidden.seen / all, 0.75, 1e-12);
  EXPECT_NEAR(hidden.share_seen, 0.75, 1e-12);
  EXPECT_EQ(exchange({2, 2}, 2.0 * all).seen, 0_s);
}

TEST_F(TableExchangeTest, IsNoneWhereEveryRankHasAll) {
  shape.tables.placement = TablePlacement::replicated;
  EXPECT_EQ(exchange({2, 2}).time, 0_s);
}

}  // namespace
}  // namespace headway
