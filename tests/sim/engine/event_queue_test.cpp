#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/support/random_numbers.h"

namespace headway {
namespace {

/// The events of all moments, one moment after the other.
std::vector<std::vector<Event>> moments(EventQueue& queue) {
  std::vector<std::vector<Event>> all;
  while (!queue.empty()) {
    queue.take_until(EventQueue::end_of_moment(queue.next_time()), all.emplace_back());
  }
  return all;
}

TEST(EventQueue, GivesTheEventsOfAMomentInTheSameOrderWhicheverWayTheyCame) {
  std::vector<Event> events;
  for (std::int32_t id = 0; id < 6; ++id) {
    for (const EventKind kind : {EventKind::flow_done, EventKind::block_done}) {
      // One moment: they differ by rounding.
      events.emplace_back(3.0 * (1.0 + 1e-15 * (id % 4)), kind, id, 1);
    }
  }
  std::ranges::sort(events, {}, &Event::time);
  for (int turn = 0; turn < 12; ++turn) {
    std::ranges::rotate(events, events.begin() + 1);
    EventQueue queue;
    for (const Event& event : events) queue.push(event.time, event.kind, event.id, event.version);
    const auto all = moments(queue);
    ASSERT_EQ(all.size(), 1U);
    ASSERT_EQ(all[0].size(), 12U);
    for (std::int32_t i = 0; i < 12; ++i) {
      EXPECT_EQ(all[0][static_cast<std::size_t>(i)].kind,
                i < 6 ? EventKind::block_done : EventKind::flow_done);
      EXPECT_EQ(all[0][static_cast<std::size_t>(i)].id, i % 6);
    }
  }
}

TEST(EventQueue, TellsMomentsApartThatDifferByMoreThanRounding) {
  EventQueue queue;
  queue.push(1.0 + 1e-11, EventKind::block_done, 0);
  queue.push(1.0, EventKind::block_done, 1);
  const auto all = moments(queue);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0][0].id, 1);
  EXPECT_EQ(all[1][0].id, 0);
}

/// What is taken makes room for something later, as blocks and flows do; some events come at once,
/// some at the end of time.
TEST(EventQueue, GivesAnyEventsInTheOrderOfTime) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomNumbers random(seed);
    EventQueue queue;
    std::multimap<double, std::int32_t> expected;
    std::int32_t next = 0;
    const auto push = [&](double time) {
      queue.push(time, EventKind::block_done, next);
      expected.emplace(time, next++);
    };
    for (int i = 0; i < 400; ++i) push(random.chance(0.2) ? 0.0 : random.between(0.0, 1.0));
    push(1e9);
    std::vector<Event> taken;
    while (!queue.empty()) {
      ASSERT_EQ(queue.next_time(), expected.begin()->first);
      taken.clear();
      queue.take_until(queue.next_time(), taken);
      for (const Event& event : taken) {
        ASSERT_EQ(event.time, expected.begin()->first);
        ASSERT_EQ(event.id, expected.begin()->second);
        expected.erase(expected.begin());
      }
      if (next > 20000) continue;
      const double now = taken.front().time;
      for (std::size_t i = 0; i < taken.size(); ++i) {
        push(now + std::pow(10.0, random.between(-9.0, 1.0)));
      }
    }
    EXPECT_TRUE(expected.empty());
  }
}

/// Nothing is pushed meanwhile: what stands behind the nearest is what comes next.
TEST(EventQueue, TellsWhatComesBeforeItDoes) {
  EventQueue queue;
  RandomNumbers random(7);
  queue.push(0.0, EventKind::block_done, 0);  // what comes before the first is near at once
  for (std::int32_t id = 1; id < 1000; ++id) {
    queue.push(random.between(1.0, 2.0), EventKind::block_done, id);
  }
  const auto ids = [](std::span<const Event> events) {
    std::set<std::int32_t> them;
    for (const Event& event : events) them.insert(event.id);
    return them;
  };
  int foretold = 0;
  while (!queue.empty()) {
    const std::set<std::int32_t> next = ids(queue.coming(1));
    const std::uint64_t turn = queue.turn();
    while (!queue.empty() && queue.turn() == turn) {
      std::vector<Event> taken;
      queue.take_until(queue.next_time(), taken);
    }
    if (next.empty()) continue;  // an empty bucket, or the last one known
    EXPECT_EQ(ids(queue.coming(0)), next);
    ++foretold;
  }
  EXPECT_GT(foretold, 50);
}

}  // namespace
}  // namespace headway
