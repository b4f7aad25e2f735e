#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <vector>

#include "sim/engine/max_min_shares.h"
#include "tests/support/random_numbers.h"

namespace headway {
namespace {

struct PlainFlow {
  std::vector<MaxMinShares::Use> uses;
  double cap = 0.0;
};
using PlainFlows = std::map<std::int32_t, PlainFlow>;

/// Progressive filling from scratch (Bertsekas, Gallager, Data Networks, 6.5.2): all rates rise
/// together until a cap or a link stops some of them; the others go on.
std::map<std::int32_t, double> plain_rates(const std::vector<double>& capacities,
                                           const PlainFlows& flows) {
  std::map<std::int32_t, double> rates;
  while (rates.size() < flows.size()) {
    std::vector<double> left = capacities;
    std::vector<double> weights(capacities.size(), 0.0);
    for (const auto& [id, flow] : flows) {
      const auto known = rates.find(id);
      for (const auto& use : flow.uses) {
        const auto link = static_cast<std::size_t>(use.link);
        if (known == rates.end()) {
          weights[link] += use.weight;
        } else {
          left[link] -= use.weight * known->second;
        }
      }
    }
    const auto level_of = [&](const PlainFlow& flow) {
      double level = flow.cap;
      for (const auto& use : flow.uses) {
        const auto link = static_cast<std::size_t>(use.link);
        level = std::min(level, std::max(left[link], 0.0) / weights[link]);
      }
      return level;
    };
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [id, flow] : flows) {
      if (!rates.contains(id)) least = std::min(least, level_of(flow));
    }
    std::map<std::int32_t, double> stopped;
    for (const auto& [id, flow] : flows) {
      if (!rates.contains(id) && level_of(flow) <= least * (1.0 + 1e-12)) stopped[id] = least;
    }
    rates.merge(stopped);
  }
  return rates;
}

/// The property that defines the max-min allocation: nothing is overloaded, and every flow runs at
/// its cap or crosses a full link on which nobody is faster.
void expect_max_min(const std::vector<double>& capacities, const PlainFlows& flows,
                    const MaxMinShares& shares) {
  constexpr double kSlack = 1e-9;
  std::vector<double> load(capacities.size(), 0.0);
  std::vector<double> fastest(capacities.size(), 0.0);
  for (const auto& [id, flow] : flows) {
    for (const auto& use : flow.uses) {
      const auto link = static_cast<std::size_t>(use.link);
      load[link] += use.weight * shares.rate(id);
      fastest[link] = std::max(fastest[link], shares.rate(id));
    }
  }
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    ASSERT_LE(load[i], capacities[i] * (1.0 + kSlack)) << "link " << i;
  }
  for (const auto& [id, flow] : flows) {
    const double rate = shares.rate(id);
    ASSERT_LE(rate, flow.cap * (1.0 + kSlack));
    const bool bound = std::ranges::any_of(flow.uses, [&](const auto& use) {
      const auto link = static_cast<std::size_t>(use.link);
      return load[link] >= capacities[link] * (1.0 - kSlack) &&
             rate >= fastest[link] * (1.0 - kSlack);
    });
    ASSERT_TRUE(bound || rate >= flow.cap * (1.0 - kSlack)) << "flow " << id;
  }
}

struct SystemShape {
  int links;
  int most_links_of_flow;
  bool equal;  ///< capacities and weights: ties everywhere
  int changes;
  bool links_change = false;
};

std::vector<double> random_capacities(const SystemShape& shape, RandomNumbers& random) {
  std::vector<double> capacities;
  for (int i = 0; i < shape.links; ++i) {
    capacities.push_back(shape.equal ? 50e9 : random.between(1e9, 100e9));
  }
  return capacities;
}

PlainFlow random_flow(const SystemShape& shape, RandomNumbers& random) {
  PlainFlow flow;
  const int count = 1 + random.below(shape.most_links_of_flow);
  for (int i = 0; i < count; ++i) {
    const int link = random.below(shape.links);
    if (std::ranges::find(flow.uses, link, &MaxMinShares::Use::link) != flow.uses.end()) continue;
    flow.uses.push_back({link, shape.equal ? 1.0 : random.between(0.05, 4.0)});
  }
  flow.cap =
      random.chance(0.3) ? random.between(1e8, 50e9) : std::numeric_limits<double>::infinity();
  return flow;
}

void expect_equal_to_plain(const SystemShape& shape, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << shape.links << " links");
  RandomNumbers random(seed);
  std::vector<double> capacities = random_capacities(shape, random);
  MaxMinShares shares(capacities);
  PlainFlows flows;
  std::map<std::int32_t, double> last_rates;
  const int standing = shape.links;  // about as many flows as links at a time
  for (int change = 0; change < shape.changes; ++change) {
    const int steps = 1 + random.below(3);  // several changes between two settlings
    for (int step = 0; step < steps; ++step) {
      if (shape.links_change && random.chance(0.3)) {
        const int link = random.below(shape.links);
        capacities[static_cast<std::size_t>(link)] = random.between(1e9, 100e9);
        shares.set_capacity(link, capacities[static_cast<std::size_t>(link)]);
        continue;
      }
      const bool adds = flows.empty() || random.below(2 * standing) >= std::ssize(flows);
      if (adds) {
        PlainFlow flow = random_flow(shape, random);
        const double cap = flow.cap;
        // A node of the map stays where it is, and with it what the solver refers to.
        PlainFlows::node_type node = PlainFlows{{0, std::move(flow)}}.extract(0);
        node.key() = shares.add(node.mapped().uses, cap);
        last_rates.erase(node.key());
        flows.insert(std::move(node));
      } else {
        const auto gone = std::next(flows.begin(), random.below(static_cast<int>(flows.size())));
        shares.remove(gone->first);
        last_rates.erase(gone->first);
        flows.erase(gone);
      }
    }
    for (const MaxMinShares::Change& made : shares.settle()) last_rates[made.flow] = made.rate;
    const auto expected = plain_rates(capacities, flows);
    for (const auto& [id, rate] : expected) {
      ASSERT_NEAR(shares.rate(id), rate, 1e-9 * rate) << "flow " << id << ", change " << change;
      ASSERT_TRUE(last_rates.contains(id)) << "the rate of a new flow was not reported";
      ASSERT_EQ(last_rates.at(id), shares.rate(id)) << "a change of rate was not reported";
    }
    expect_max_min(capacities, flows, shares);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(MaxMinRandom, SmallSystemsEqualPlainFilling) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    expect_equal_to_plain({.links = 5, .most_links_of_flow = 3, .equal = false, .changes = 40},
                          seed);
    if (HasFatalFailure()) return;
  }
}

TEST(MaxMinRandom, SystemsFullOfTiesEqualPlainFilling) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    expect_equal_to_plain({.links = 8, .most_links_of_flow = 4, .equal = true, .changes = 40},
                          seed);
    if (HasFatalFailure()) return;
  }
}

TEST(MaxMinRandom, WideSystemsEqualPlainFilling) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    expect_equal_to_plain({.links = 60, .most_links_of_flow = 8, .equal = false, .changes = 80},
                          seed);
    if (HasFatalFailure()) return;
  }
}

TEST(MaxMinRandom, LinksThatChangeEqualPlainFilling) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    expect_equal_to_plain({.links = 8,
                           .most_links_of_flow = 4,
                           .equal = seed % 2 == 0,
                           .changes = 60,
                           .links_change = true},
                          seed);
    if (HasFatalFailure()) return;
  }
}

/// Where flows stand apart, a change touches its neighbours only: a settling takes few rounds.
TEST(MaxMinRandom, ALocalChangeIsSettledInFewRounds) {
  constexpr int kLinks = 400;
  MaxMinShares shares(std::vector<double>(kLinks, 10.0));
  std::list<std::vector<MaxMinShares::Use>> uses;
  for (int i = 0; i < kLinks; ++i) {
    uses.push_back({{i, 1.0}});
    shares.add(uses.back(), 4.0);
  }
  shares.settle();
  const std::int64_t before = shares.counts().rounds;
  uses.push_back({{7, 1.0}});
  shares.add(uses.back(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(shares.settle().size(), 1U);  // 6 are left beside the 4 of the flow that is there
  EXPECT_LE(shares.counts().rounds - before, 2);
}

}  // namespace
}  // namespace headway
