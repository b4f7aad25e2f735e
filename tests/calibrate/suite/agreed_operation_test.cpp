#include "calibrate/suite/agreed_operation.h"

#include <gtest/gtest.h>

#include <vector>

namespace headway {
namespace {

/// Another rank that takes `other` seconds for whatever this one does.
class PairRendezvous final : public Rendezvous {
 public:
  explicit PairRendezvous(double other) : other_(other) {}
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  void barrier() override {}
  [[nodiscard]] std::vector<double> all_gather(double value) override { return {value, other_}; }
  void broadcast(std::span<std::byte> /*bytes*/) override {}

 private:
  double other_;
};

TEST(AgreedOperation, TakesASampleOfABatchOfShortCollectives) {
  SingleRendezvous alone;
  std::vector<int> batches;
  AgreedOperation operation(alone, [&batches](int repetitions) {
    batches.push_back(repetitions);
    return repetitions * 1.0_ms;
  });
  EXPECT_EQ(operation.repetitions(), 5);  // of 1 ms, to fill 5 ms
  EXPECT_NEAR(operation.repeat().time.count(), 1e-3, 1e-15);
  EXPECT_EQ(batches, (std::vector<int>{1, 1, 5}));  // the first one sets connections up
}

TEST(AgreedOperation, RepeatsLongCollectivesOneByOneAndShortOnesNotForEver) {
  SingleRendezvous alone;
  EXPECT_EQ(AgreedOperation(alone, [](int) { return 1.0_s; }).repetitions(), 1);
  EXPECT_EQ(AgreedOperation(alone, [](int) { return 0.0_s; }).repetitions(), 200);
}

TEST(AgreedOperation, CountsTheSlowestRankOnThoseThatTakeNoPartToo) {
  PairRendezvous slower(0.5);
  AgreedOperation operation(slower, [](int) { return 0.1_s; });
  EXPECT_EQ(operation.repeat().time, 0.5_s);
  AgreedOperation idle(slower, nullptr);
  EXPECT_EQ(idle.repeat().time, 0.5_s);
  EXPECT_EQ(idle.repetitions(), 1);
}

}  // namespace
}  // namespace headway
