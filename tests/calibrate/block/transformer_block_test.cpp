#include "calibrate/block/transformer_block.h"

#include <gtest/gtest.h>

#include <cmath>

#include "calibrate/block/block_run.h"
#include "calibrate/cpu/cpu_block_device.h"

namespace headway {
namespace {

using Numbers = std::vector<double>;

Numbers numbers(const std::vector<float>& values) { return {values.begin(), values.end()}; }

/// The block by the book, in double precision and one position after the other.
struct Book {
  std::size_t sequences, length, width, heads;
  Numbers input;

  [[nodiscard]] Numbers linear(const Numbers& x, const Numbers& w, std::size_t in) const {
    const std::size_t out = w.size() / in;
    Numbers z(x.size() / in * out);
    for (std::size_t i = 0; i < z.size(); ++i) {
      for (std::size_t k = 0; k < in; ++k) z[i] += x[i / out * in + k] * w[k * out + i % out];
    }
    return z;
  }
  [[nodiscard]] Numbers normalised(const Numbers& x) const {
    Numbers z(x.size());
    for (std::size_t row = 0; row < x.size(); row += width) {
      double mean = 0.0;
      double variance = 0.0;
      for (std::size_t i = row; i < row + width; ++i) mean += x[i] / static_cast<double>(width);
      for (std::size_t i = row; i < row + width; ++i) {
        variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(width);
      }
      for (std::size_t i = row; i < row + width; ++i) {
        z[i] = (x[i] - mean) / std::sqrt(variance + 1e-5);
      }
    }
    return z;
  }
  [[nodiscard]] Numbers attended(const Numbers& qkv) const {
    const std::size_t size = width / heads;
    Numbers z(sequences * length * width);
    for (std::size_t i = 0; i < sequences * length * heads; ++i) {
      const std::size_t head = i % heads * size;
      const std::size_t row = i / heads;
      const std::size_t first = row / length * length;
      Numbers weights(length);
      double sum = 0.0;
      for (std::size_t other = 0; other < length; ++other) {
        double score = 0.0;
        for (std::size_t k = head; k < head + size; ++k) {
          score += qkv[row * 3 * width + k] * qkv[(first + other) * 3 * width + width + k];
        }
        weights[other] = std::exp(score / std::sqrt(static_cast<double>(size)));
        sum += weights[other];
      }
      for (std::size_t other = 0; other < length; ++other) {
        for (std::size_t k = head; k < head + size; ++k) {
          z[row * width + k] +=
              weights[other] / sum * qkv[(first + other) * 3 * width + 2 * width + k];
        }
      }
    }
    return z;
  }
  [[nodiscard]] Numbers output(const std::vector<Numbers>& weights) const {
    Numbers middle =
        linear(attended(linear(normalised(input), weights[0], width)), weights[1], width);
    for (std::size_t i = 0; i < middle.size(); ++i) middle[i] += input[i];
    Numbers hidden = linear(normalised(middle), weights[2], width);
    for (double& x : hidden) {
      x *= 0.5 * (1.0 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    }
    Numbers z = linear(hidden, weights[3], 4 * width);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += middle[i];
    return z;
  }
};

constexpr BlockShape kSmall{.sequences = 2, .sequence = 3, .hidden = 4, .heads = 2};

class Block : public ::testing::Test {
 protected:
  Block()
      : block_(device_, kSmall, 5, 0.5F),
        book_{2, 3, 4, 2, numbers(device_.values(block_.input()))} {
    for (const auto weight : block_.weights()) weights_.push_back(numbers(device_.values(weight)));
  }

  CpuBlockDevice device_;
  TransformerBlock block_;
  Book book_;
  std::vector<Numbers> weights_;
};

TEST_F(Block, GivesWhatTheBookGives) {
  block_.forward();
  const Numbers expected = book_.output(weights_);
  const Numbers output = numbers(device_.values(block_.output()));
  ASSERT_EQ(output.size(), expected.size());
  for (std::size_t i = 0; i < output.size(); ++i) EXPECT_NEAR(output[i], expected[i], 1e-4) << i;
}

TEST_F(Block, HasTheGradientsOfItsLoss) {
  block_.forward();
  block_.backward();
  const Numbers minus_target = numbers(device_.values(block_.minus_target()));
  const auto loss = [&] {
    const Numbers output = book_.output(weights_);
    double sum = 0.0;
    for (std::size_t i = 0; i < output.size(); ++i) {
      const double difference = output[i] + minus_target[i];
      sum += 0.5 * difference * difference;
    }
    return sum;
  };
  for (std::size_t which = 0; which < weights_.size(); ++which) {
    const Numbers gradient = numbers(device_.values(device_.gradient(block_.weights()[which])));
    ASSERT_EQ(gradient.size(), weights_[which].size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      constexpr double kStep = 1e-5;
      double& weight = weights_[which][i];
      const double before = weight;
      weight = before + kStep;
      const double above = loss();
      weight = before - kStep;
      const double below = loss();
      weight = before;
      EXPECT_NEAR(gradient[i], (above - below) / (2.0 * kStep), 2e-3)
          << "weight " << i << " of " << which;
    }
  }
}

TEST_F(Block, UpdatesEveryWeightAgainstItsGradient) {
  block_.forward();
  block_.backward();
  block_.update();
  for (std::size_t which = 0; which < weights_.size(); ++which) {
    const auto weight = block_.weights()[which];
    const Numbers gradient = numbers(device_.values(device_.gradient(weight)));
    const Numbers updated = numbers(device_.values(weight));
    for (std::size_t i = 0; i < updated.size(); ++i) {
      if (std::abs(gradient[i]) < 1e-3) continue;
      EXPECT_LT((updated[i] - weights_[which][i]) * gradient[i], 0.0);
    }
  }
}

TEST_F(Block, LearnsItsTarget) {
  const auto distance = [this] {
    block_.forward();
    const auto output = device_.values(block_.output());
    const auto minus_target = device_.values(block_.minus_target());
    double sum = 0.0;
    for (std::size_t i = 0; i < output.size(); ++i) {
      const double difference = output[i] + minus_target[i];
      sum += difference * difference;
    }
    return sum;
  };
  const double before = distance();
  for (int i = 0; i < 300; ++i) {
    block_.forward();
    block_.backward();
    block_.update();
  }
  EXPECT_LT(distance(), 0.5 * before);
}

TEST(BlockRun, MeasuresFiveStepsAtLeastAndKeepsWhatItMeasured) {
  CpuBlockDevice device;
  const BlockRun run = measured_block(device, kSmall, 1, Seconds(0.0));
  EXPECT_EQ(run.steps, 5);
  EXPECT_GT(run.time, Seconds(0.0));
  EXPECT_EQ(run.precision, Precision::fp32);
  EXPECT_EQ(run.shape.hidden, 4);
}

}  // namespace
}  // namespace headway
