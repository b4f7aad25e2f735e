#include "sim/programs/stage_costs/tensor_exchange.h"

#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

/// Cross attention of a decoder with a quarter of the encoder's 1,024 positions, 2 bytes of each of
/// 8 channels; two ranks with 1 GB/s between them.
class TensorExchangeOfTwoSequences : public testing::Test {
 protected:
  TensorExchangeOfTwoSequences() {
    layer.exchanges = {{.width = 8.0, .only_enters = true}, {.width = 2.0}};
    strategy.tensor_parallel = 2;
    profile.overlap.sharded_interference = estimate(0.0);
  }

  [[nodiscard]] RankShape shape() const {
    return {.sequence_length = 1024.0,
            .tensor_parallel = 2.0,
            .sequence_parallel = strategy.sequence_parallel};
  }
  [[nodiscard]] TensorExchangeTime time() const {
    const GroupLink link{.overhead = Seconds(0.0), .step = {Seconds(0.0), BytesPerSecond(1e9)}};
    return tensor_exchange(strategy, profile, link, layer, shape(), columns);
  }
  [[nodiscard]] PassTraffic traffic() const { return tensor_traffic(strategy, layer, shape()); }

  static constexpr double kEncoder = 1024 * 8 * 2;  // bytes
  static constexpr double kDecoder = 1024 * 2 * 2;
  Layer layer;
  Strategy strategy;
  Profile profile = round_profile();
  ColumnGradients columns;
};

TEST_F(TensorExchangeOfTwoSequences, SumsGradientsOfBothAndTheResultsOfOne) {
  // An all-reduce over two ranks sends the message once: half of it reduced, half gathered. Every
  // rank has the whole output of the encoder, so nothing of it travels forward; what each makes of
  // its own heads' keys and values is one term of its gradient.
  EXPECT_NEAR(time().forward.count(), kDecoder / 1e9, 1e-15);
  EXPECT_NEAR(time().backward.count(), (kDecoder + kEncoder) / 1e9, 1e-15);
  EXPECT_DOUBLE_EQ(traffic().forward.count(), kDecoder);
  EXPECT_DOUBLE_EQ(traffic().backward.count(), kDecoder + kEncoder);
}

TEST_F(TensorExchangeOfTwoSequences, GathersBothWhereRanksHavePartsOfThem) {
  // Half of a message each. Forward both are gathered, and results of the decoder are scattered;
  // backward gradients of these are gathered, and those of both inputs are scattered.
  strategy.sequence_parallel = true;
  const double forward = kDecoder + kEncoder / 2.0;
  EXPECT_NEAR(time().forward.count(), forward / 1e9, 1e-15);
  EXPECT_NEAR(time().backward.count(), forward / 1e9, 1e-15);
  EXPECT_DOUBLE_EQ(traffic().forward.count(), forward);
  EXPECT_DOUBLE_EQ(traffic().backward.count(), forward);
  // Parts of both inputs are gathered again beside gradients of data, here of no length.
  strategy.overlap_tensor_parallel_backward = true;
  const double backward = forward + (kDecoder + kEncoder) / 2.0;
  EXPECT_NEAR(time().backward.count(), backward / 1e9, 1e-15);
  EXPECT_DOUBLE_EQ(traffic().backward.count(), backward);
  // What is gathered again runs beside gradients of data alone, what is scattered beside those of
  // weights: of no length here, so that gradients of results and of both inputs are seen.
  columns = {.data = Seconds(1.0)};
  EXPECT_NEAR(time().backward.count(), forward / 1e9, 1e-15);
  // Beside products as long as they take, gathered gradients of results alone are seen.
  columns = {.data = Seconds(1.0), .weights = Seconds(1.0)};
  EXPECT_NEAR(time().backward.count(), kDecoder / 2.0 / 1e9, 1e-15);
  EXPECT_DOUBLE_EQ(time().backward_seen, kDecoder / 2.0 / backward);
}

}  // namespace
}  // namespace headway
