#include "sim/engine/max_min_shares.h"

#include <gtest/gtest.h>

#include <limits>
#include <list>
#include <vector>

namespace headway {
namespace {

constexpr double kNoCap = std::numeric_limits<double>::infinity();

/// A solver that keeps what its flows use.
class Shares {
 public:
  explicit Shares(std::vector<double> capacities) : shares_(std::move(capacities)) {}

  std::int32_t add(std::vector<MaxMinShares::Use> uses, double cap = kNoCap) {
    uses_.push_back(std::move(uses));
    return shares_.add(uses_.back(), cap);
  }
  void remove(std::int32_t flow) { shares_.remove(flow); }
  void set_capacity(std::int32_t link, double capacity) { shares_.set_capacity(link, capacity); }
  std::span<const MaxMinShares::Change> settle() { return shares_.settle(); }
  [[nodiscard]] std::int64_t computed() const { return shares_.counts().recomputed; }
  double rate(std::int32_t flow) {
    shares_.settle();
    return shares_.rate(flow);
  }

 private:
  std::list<std::vector<MaxMinShares::Use>> uses_;
  MaxMinShares shares_;
};

TEST(MaxMinShares, ALoneFlowTakesItsNarrowestLink) {
  Shares shares({10.0, 4.0, 7.0});
  EXPECT_DOUBLE_EQ(shares.rate(shares.add({{0, 1.0}, {1, 1.0}, {2, 1.0}})), 4.0);
}

TEST(MaxMinShares, EqualFlowsShareALinkEqually) {
  Shares shares({12.0});
  std::vector<std::int32_t> flows;
  for (int i = 0; i < 5; ++i) flows.push_back(shares.add({{0, 1.0}}));
  for (const std::int32_t flow : flows) EXPECT_DOUBLE_EQ(shares.rate(flow), 12.0 / 5.0);
}

TEST(MaxMinShares, AWeightTakesThatMuchOfTheLinkForTheSameRate) {
  // Weights 3 and 1 on 50: r (3 + 1) = 50.
  Shares shares({50.0});
  const std::int32_t heavy = shares.add({{0, 3.0}});
  const std::int32_t light = shares.add({{0, 1.0}});
  EXPECT_DOUBLE_EQ(shares.rate(heavy), 12.5);
  EXPECT_DOUBLE_EQ(shares.rate(light), 12.5);
}

TEST(MaxMinShares, WhatACappedFlowLeavesGoesToTheOthers) {
  Shares shares({12.0});
  const std::int32_t capped = shares.add({{0, 1.0}}, 2.0);
  const std::int32_t a = shares.add({{0, 1.0}});
  const std::int32_t b = shares.add({{0, 1.0}});
  EXPECT_DOUBLE_EQ(shares.rate(capped), 2.0);
  EXPECT_DOUBLE_EQ(shares.rate(a), 5.0);
  EXPECT_DOUBLE_EQ(shares.rate(b), 5.0);
}

TEST(MaxMinShares, ACapAboveTheShareChangesNothing) {
  Shares shares({12.0});
  const std::int32_t capped = shares.add({{0, 1.0}}, 7.0);
  const std::int32_t free = shares.add({{0, 1.0}});
  EXPECT_DOUBLE_EQ(shares.rate(capped), 6.0);
  EXPECT_DOUBLE_EQ(shares.rate(free), 6.0);
}

TEST(MaxMinShares, TheLongFlowOfAParkingLotGetsTheShareOfItsWorstLink) {
  // Four links in a row, one flow over all of them. Cross flows: 1 on the first link, 3 on the
  // second, 1 on the third and none on the fourth. The second link decides: 12 / 4 = 3 each; the
  // other cross flows take the rest of their links, 9 and 9.
  Shares shares({12.0, 12.0, 12.0, 12.0});
  const std::int32_t through = shares.add({{0, 1.0}, {1, 1.0}, {2, 1.0}, {3, 1.0}});
  const std::int32_t first = shares.add({{0, 1.0}});
  const std::int32_t second = shares.add({{1, 1.0}});
  shares.add({{1, 1.0}});
  shares.add({{1, 1.0}});
  const std::int32_t third = shares.add({{2, 1.0}});
  EXPECT_DOUBLE_EQ(shares.rate(through), 3.0);
  EXPECT_DOUBLE_EQ(shares.rate(second), 3.0);
  EXPECT_DOUBLE_EQ(shares.rate(first), 9.0);
  EXPECT_DOUBLE_EQ(shares.rate(third), 9.0);
}

TEST(MaxMinShares, BottlenecksFollowOneAfterTheOther) {
  // Links of 1. Flow 1 crosses links 0, 1 and 2; flows 2 and 3 link 0; flow 4 links 2 and 3; flow
  // 5, capped at 1/3, link 3. Link 0 has three flows: 1/3 each. That leaves 2/3 of link 2 to flow
  // 4, which then fills link 3 together with flow 5.
  Shares shares({1.0, 1.0, 1.0, 1.0});
  const std::int32_t one = shares.add({{0, 1.0}, {1, 1.0}, {2, 1.0}});
  const std::int32_t two = shares.add({{0, 1.0}});
  const std::int32_t three = shares.add({{0, 1.0}});
  const std::int32_t four = shares.add({{2, 1.0}, {3, 1.0}});
  const std::int32_t five = shares.add({{3, 1.0}}, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(shares.rate(one), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(shares.rate(two), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(shares.rate(three), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(shares.rate(four), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(shares.rate(five), 1.0 / 3.0);
}

TEST(MaxMinShares, AChangeRunsDownAChain) {
  // Links of 10 in a row; flow i uses links i and i + 1, flow "end" link 0 alone. Link 0 splits 5
  // and 5, so flow 0 leaves 5 of link 1 to flow 1, and so on. Without "end" the inner links still
  // split 5 and 5. Without flow 1, flow 0 is alone; without flow 3, flows 2 and 4 are.
  Shares shares(std::vector<double>(6, 10.0));
  const std::int32_t end = shares.add({{0, 1.0}});
  std::vector<std::int32_t> chain;
  for (int i = 0; i < 5; ++i) chain.push_back(shares.add({{i, 1.0}, {i + 1, 1.0}}));
  for (const std::int32_t flow : chain) EXPECT_DOUBLE_EQ(shares.rate(flow), 5.0);
  shares.remove(end);
  for (const std::int32_t flow : chain) EXPECT_DOUBLE_EQ(shares.rate(flow), 5.0);
  shares.remove(chain[1]);
  EXPECT_DOUBLE_EQ(shares.rate(chain[0]), 10.0);
  EXPECT_DOUBLE_EQ(shares.rate(chain[2]), 5.0);
  shares.remove(chain[3]);
  EXPECT_DOUBLE_EQ(shares.rate(chain[2]), 10.0);
  EXPECT_DOUBLE_EQ(shares.rate(chain[4]), 10.0);
}

TEST(MaxMinShares, ARingThatTwoLinksHoldBackStaysWhereOneOfThemIsFreed) {
  // A ring over 40 links of 12. Two others share each of the last two with it, hence 12 / 3; one
  // shares each of the rest and takes the 8 that are left there, where filling looks first.
  constexpr std::int32_t kLinks = 40;
  Shares shares(std::vector<double>(kLinks, 12.0));
  std::vector<MaxMinShares::Use> all;
  for (std::int32_t link = 0; link < kLinks; ++link) all.push_back({link, 1.0});
  const std::int32_t ring = shares.add(all);
  std::vector<std::int32_t> first;  // on each link
  std::vector<std::int32_t> second;
  for (std::int32_t link = 0; link < kLinks; ++link) first.push_back(shares.add({{link, 1.0}}));
  for (std::int32_t link : {kLinks - 2, kLinks - 1}) second.push_back(shares.add({{link, 1.0}}));
  EXPECT_DOUBLE_EQ(shares.rate(ring), 4.0);
  for (const std::size_t freed : {0U, 1U}) {
    const std::int32_t link = kLinks - 2 + static_cast<std::int32_t>(freed);
    const std::int64_t before = shares.computed();
    shares.remove(second[freed]);
    EXPECT_DOUBLE_EQ(shares.rate(first[static_cast<std::size_t>(link)]), 8.0);
    EXPECT_DOUBLE_EQ(shares.rate(ring), 4.0);
    EXPECT_DOUBLE_EQ(shares.rate(first[20]), 8.0);
    EXPECT_LT(shares.computed() - before, 8) << "the flows beside the ring elsewhere do not change";
    second[freed] = shares.add({{link, 1.0}});
    EXPECT_DOUBLE_EQ(shares.rate(ring), 4.0);
  }
  // Without both it rises to a half of every link, all at once.
  for (const std::int32_t flow : second) shares.remove(flow);
  EXPECT_DOUBLE_EQ(shares.rate(ring), 6.0);
  for (const std::int32_t flow : first) EXPECT_DOUBLE_EQ(shares.rate(flow), 6.0);
}

TEST(MaxMinShares, AnUnevenChainIsUndoneByRemovingItsHead) {
  // Capacities 2, 10, 20. Flow 0 on links 0 and 1 has 2; flow 1 on links 1 and 2 has 8; flow 2 on
  // link 2 has 12. Without flow 0: flow 1 has 10 (link 1 and half of link 2), flow 2 has 10.
  Shares shares({2.0, 10.0, 20.0});
  const std::int32_t zero = shares.add({{0, 1.0}, {1, 1.0}});
  const std::int32_t one = shares.add({{1, 1.0}, {2, 1.0}});
  const std::int32_t two = shares.add({{2, 1.0}});
  EXPECT_DOUBLE_EQ(shares.rate(zero), 2.0);
  EXPECT_DOUBLE_EQ(shares.rate(one), 8.0);
  EXPECT_DOUBLE_EQ(shares.rate(two), 12.0);
  shares.remove(zero);
  EXPECT_DOUBLE_EQ(shares.rate(one), 10.0);
  EXPECT_DOUBLE_EQ(shares.rate(two), 10.0);
}

TEST(MaxMinShares, SettlingReportsThoseFlowsWhoseRateChanged) {
  // Flows 0 and 1 share link 0; flow 2 is alone on link 1 and hears nothing of them.
  Shares shares({8.0, 8.0});
  const std::int32_t zero = shares.add({{0, 1.0}});
  shares.add({{1, 1.0}});
  EXPECT_EQ(shares.settle().size(), 2U);
  EXPECT_TRUE(shares.settle().empty());
  const std::int32_t one = shares.add({{0, 1.0}});
  const auto changes = shares.settle();
  ASSERT_EQ(changes.size(), 2U);
  for (const MaxMinShares::Change& change : changes) {
    EXPECT_TRUE(change.flow == zero || change.flow == one);
    EXPECT_DOUBLE_EQ(change.rate, 4.0);
  }
}

TEST(MaxMinShares, AFlowThatIsGoneBeforeSettlingLeavesNoTrace) {
  Shares shares({8.0});
  const std::int32_t stays = shares.add({{0, 1.0}});
  shares.settle();
  shares.remove(shares.add({{0, 1.0}}));
  EXPECT_TRUE(shares.settle().empty());
  EXPECT_DOUBLE_EQ(shares.rate(stays), 8.0);
}

TEST(MaxMinShares, AHandleIsReusedWithoutItsPast) {
  Shares shares({8.0, 2.0});
  const std::int32_t first = shares.add({{0, 1.0}});
  shares.settle();
  shares.remove(first);
  const std::int32_t second = shares.add({{1, 1.0}}, 8.0);
  EXPECT_EQ(second, first);
  EXPECT_DOUBLE_EQ(shares.rate(second), 2.0);
}

TEST(MaxMinShares, ALinkThatItsUsersCannotFillConcernsNobody) {
  // Three flows of at most 4 on a link of 10: two want 8 and have it; the third makes them share
  // 10 / 3; without it both have 4 again. Who comes to a link that stays wide is computed alone.
  Shares shares({10.0});
  const std::int32_t a = shares.add({{0, 1.0}}, 4.0);
  shares.settle();
  const std::int64_t before = shares.computed();
  const std::int32_t b = shares.add({{0, 1.0}}, 4.0);
  EXPECT_EQ(shares.rate(b), 4.0);
  EXPECT_EQ(shares.computed() - before, 1);
  const std::int32_t c = shares.add({{0, 1.0}}, 4.0);
  for (const std::int32_t flow : {a, b, c}) EXPECT_DOUBLE_EQ(shares.rate(flow), 10.0 / 3.0);
  shares.remove(a);
  for (const std::int32_t flow : {b, c}) EXPECT_EQ(shares.rate(flow), 4.0);
}

TEST(MaxMinShares, ANarrowerLinkElsewhereMakesOneWide) {
  // The first flow takes 6 of 10 beside one of at most 5: both have 5. Its other link then allows
  // it 3, and the first link is wide; then 6 again.
  Shares shares({10.0, 6.0});
  const std::int32_t far = shares.add({{0, 1.0}, {1, 1.0}});
  const std::int32_t near = shares.add({{0, 1.0}}, 5.0);
  EXPECT_DOUBLE_EQ(shares.rate(far), 5.0);
  shares.set_capacity(1, 3.0);
  EXPECT_EQ(shares.rate(far), 3.0);
  EXPECT_EQ(shares.rate(near), 5.0);
  shares.set_capacity(1, 6.0);
  EXPECT_DOUBLE_EQ(shares.rate(far), 5.0);
  EXPECT_DOUBLE_EQ(shares.rate(near), 5.0);
}

TEST(MaxMinShares, AFlowWithoutLinksRunsAtItsCap) {
  Shares shares({});
  EXPECT_DOUBLE_EQ(shares.rate(shares.add({}, 3.0)), 3.0);
}

}  // namespace
}  // namespace headway
