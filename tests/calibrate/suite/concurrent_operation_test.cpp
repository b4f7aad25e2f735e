#include "calibrate/suite/concurrent_operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headway {
namespace {

using ::testing::ElementsAre;

/// What happened, in order.
using Story = std::vector<std::string>;

/// Work of 1 ms a repetition, which has ended when the other has where it was told so.
class ScriptedWork final : public RepeatedWork {
 public:
  ScriptedWork(std::string name, int repetitions, int outlasts, Story& story)
      : name_(std::move(name)), repetitions_(repetitions), outlasts_(outlasts), story_(story) {}
  void launch(const RepeatedWork* after) override {
    story_.push_back(name_ + (after == nullptr ? " begins" : " begins after the other"));
  }
  [[nodiscard]] bool has_ended() const override { return repetitions_ < outlasts_; }
  [[nodiscard]] Seconds finish() override {
    story_.push_back(name_ + " ends");
    return 1.0_ms;
  }
  [[nodiscard]] Seconds expected_time() const override { return repetitions_ * 1.0_ms; }
  void double_repetitions() override { repetitions_ *= 2; }

 private:
  std::string name_;
  int repetitions_;
  int outlasts_;
  Story& story_;
};

TEST(ConcurrentOperation, BeginsTheNeighbourFirstAndWaitsForBoth) {
  Story story;
  SingleRendezvous alone;
  const auto operation =
      concurrent_operation(std::make_unique<ScriptedWork>("product", 1, 0, story),
                           std::make_unique<ScriptedWork>("all-reduce", 4, 0, story), alone);
  const Sample sample = operation->repeat();
  EXPECT_THAT(story, ElementsAre("all-reduce begins", "product begins after the other",
                                 "product ends", "all-reduce ends"));
  EXPECT_EQ(sample.time, 1.0_ms);
  EXPECT_FALSE(sample.contaminated);
  EXPECT_EQ(sample.besides, 4.0_ms);
}

TEST(ConcurrentOperation, MakesANeighbourLongerThatEndedFirst) {
  Story story;
  SingleRendezvous alone;
  const auto operation =
      concurrent_operation(std::make_unique<ScriptedWork>("product", 1, 0, story),
                           std::make_unique<ScriptedWork>("all-reduce", 4, 16, story), alone);
  std::vector<bool> contaminated;
  for (int i = 0; i < 3; ++i) contaminated.push_back(operation->repeat().contaminated);
  EXPECT_THAT(contaminated, ElementsAre(true, true, false));  // 4, 8 and 16 repetitions
}

/// Another rank, whose work takes 5 ms; its neighbour ends first the first time.
class SlowerRank final : public Rendezvous {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  void barrier() override {}
  [[nodiscard]] std::vector<double> all_gather(double value) override {
    switch (calls_++) {
      case 0:
        return {value, 5e-3};  // time
      case 1:
        return {value, 1.0};  // whether the neighbour had ended
      default:
        return {value, value};
    }
  }
  void broadcast(std::span<std::byte> /*bytes*/) override {}

 private:
  int calls_ = 0;
};

TEST(ConcurrentOperation, IsTheSlowestRanksSampleAndContaminatedWhereItWasOnAny) {
  Story story;
  SlowerRank ranks;
  const auto operation =
      concurrent_operation(std::make_unique<ScriptedWork>("product", 1, 0, story),
                           std::make_unique<ScriptedWork>("all-reduce", 4, 0, story), ranks);
  const Sample first = operation->repeat();
  EXPECT_EQ(first.time, 5.0_ms);
  EXPECT_TRUE(first.contaminated);
  // All ranks made the neighbour longer, this one too, where it had outlasted the product.
  EXPECT_EQ(operation->repeat().besides, 8.0_ms);
}

}  // namespace
}  // namespace headway
