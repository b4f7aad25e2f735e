// Fused attention by cuDNN's graphs, on a device or on the one that is not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "calibrate/cuda/cudnn/attention_run.h"
#include "calibrate/cuda/cudnn/cudnn_check.h"
#include "calibrate/cuda/device_fill.h"
#include "calibrate/cuda/fused_attention.h"
#include "tests/calibrate/cuda/cudnn/attention_reference.h"
#include "tests/calibrate/cuda/cudnn/small_attention.h"
#include "tests/calibrate/cuda/has_device.h"

namespace headway {
namespace {

TEST(DenseStrides, CountTheElementsOfTheAxesBehind) {
  EXPECT_EQ(dense_strides({2, 3, 5, 7}), (TensorSizes{105, 35, 7, 1}));
}

TEST(AttentionGraph, KeepsWhatTrainingKeeps) {
  const auto bytes_of = [](const AttentionGraph& graph, AttentionTensor tensor) {
    for (const StoredTensor& stored : graph.stored) {
      if (stored.tensor == tensor) return stored.bytes;
    }
    return std::size_t{0};
  };
  // 2 sequences of 16 positions, 4 heads of 8, 2 of keys: 1024 elements of queries, 512 of keys,
  // 128 rows.
  const AttentionShape small = small_attention(4, 2, 16, 8, true);
  const AttentionGraph forward = attention_forward_graph(small);
  EXPECT_EQ(forward.stored.size(), 5U);
  EXPECT_EQ(bytes_of(forward, AttentionTensor::queries), 2048U);
  EXPECT_EQ(bytes_of(forward, AttentionTensor::keys), 1024U);
  EXPECT_EQ(bytes_of(forward, AttentionTensor::result), 2048U);
  EXPECT_EQ(bytes_of(forward, AttentionTensor::statistics), 512U);
  const AttentionGraph backward = attention_backward_graph(small);
  EXPECT_EQ(backward.stored.size(), 11U);
  EXPECT_EQ(bytes_of(backward, AttentionTensor::key_gradient), 1024U);
  EXPECT_EQ(bytes_of(backward, AttentionTensor::row_sums), 512U);
  EXPECT_EQ(bytes_of(backward, AttentionTensor::query_sums), 4096U);
}

std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}
float from_bf16(std::uint16_t half) {
  const std::uint32_t bits = std::uint32_t{half} << 16U;
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Random numbers that bf16 holds, in the device's memory and as they are.
std::vector<float> fill(void* memory, std::size_t bytes, std::mt19937& random) {
  std::uniform_real_distribution<float> number(-1.0F, 1.0F);
  std::vector<std::uint16_t> halves(bytes / 2);
  std::vector<float> values;
  for (std::uint16_t& half : halves) {
    half = to_bf16(number(random));
    values.push_back(from_bf16(half));
  }
  upload(memory, halves.data(), bytes);
  return values;
}

/// The largest difference over the largest value.
double difference(const void* memory, const std::vector<double>& expected) {
  std::vector<std::uint16_t> halves(expected.size());
  HEADWAY_CUDA(cudaMemcpy(halves.data(), memory, 2 * halves.size(), cudaMemcpyDeviceToHost));
  double most = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(from_bf16(halves[i]) - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return most / largest;
}

TEST(FusedAttention, ComputesAttentionAndItsGradients) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device can be used here";
  cudnnHandle_t handle = nullptr;
  HEADWAY_CUDA(cudnnCreate(&handle));
  std::mt19937 random(7);
  for (const AttentionShape& one :
       {small_attention(4, 4, 256, 64, true), small_attention(4, 2, 128, 128, false)}) {
    const CudnnTarget target{.handle = handle};
    const CompiledAttention forward(attention_forward_graph(one), target);
    const CompiledAttention backward(attention_backward_graph(one), target);
    const AttentionMemory memory(forward, &backward);
    const auto random_operand = [&](AttentionTensor tensor, double heads) {
      const double elements = one.sequences * one.query_length * heads * one.head_size;
      return fill(memory.at(tensor), static_cast<std::size_t>(2 * elements), random);
    };
    const auto q = random_operand(AttentionTensor::queries, one.query_heads);
    const auto k = random_operand(AttentionTensor::keys, one.key_heads);
    const auto v = random_operand(AttentionTensor::values, one.key_heads);
    const auto d_o = random_operand(AttentionTensor::result_gradient, one.query_heads);
    const DeviceStream stream;
    memory.run(forward, handle, stream);
    memory.run(backward, handle, stream);
    memory.run(backward, handle, stream);  // from the sums of the first, which cuDNN sets to zero
    wait_for(stream);

    const AttentionReference expected = ReferenceAttention(one).run(q, k, v, d_o);
    // bf16 has 8 bits; the weights are rounded to it before the second product, too.
    EXPECT_LT(difference(memory.at(AttentionTensor::result), expected.result), 0.02);
    EXPECT_LT(difference(memory.at(AttentionTensor::query_gradient), expected.query_gradient),
              0.02);
    EXPECT_LT(difference(memory.at(AttentionTensor::key_gradient), expected.key_gradient), 0.02);
    EXPECT_LT(difference(memory.at(AttentionTensor::value_gradient), expected.value_gradient),
              0.02);
  }
  HEADWAY_CUDA(cudnnDestroy(handle));
}

TEST(FusedAttention, RefusesWhatItCannotRunAndRunsTheRest) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device can be used here";
  FusedAttention attention(1);
  EXPECT_THROW(attention.work({small_attention(4, 4, 256, 100, true), Pass::forward}), Refused);
  const DeviceStream stream;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const AttentionPoint point{small_attention(4, 4, 256, 64, true), pass};
    const Enqueue work = attention.work(point);
    for (int i = 0; i < 3; ++i) work(stream);
    wait_for(stream);
  }
}

/// The reference itself, on numbers that can be worked out by hand.
TEST(ReferenceAttention, IsTheWeightedMeanOfTheValuesSeen) {
  AttentionShape tiny = small_attention(1, 1, 2, 1, true);
  tiny.sequences = 1;
  // Position 0 sees itself alone; position 1 has scores 0 and ln 3, weights 1/4 and 3/4: 7.
  const float ln3 = std::log(3.0F);
  const auto out =
      ReferenceAttention(tiny).run({5.0F, 1.0F}, {0.0F, ln3}, {4.0F, 8.0F}, {0.0F, 1.0F});
  EXPECT_NEAR(out.result[0], 4.0, 1e-6);
  EXPECT_NEAR(out.result[1], 7.0, 1e-6);
  // dP is 4 and 8, their weighted mean 7: dS = 1/4 (4 - 7) and 3/4 (8 - 7).
  EXPECT_NEAR(out.value_gradient[0], 0.25, 1e-6);
  EXPECT_NEAR(out.value_gradient[1], 0.75, 1e-6);
  EXPECT_NEAR(out.key_gradient[0], -0.75, 1e-6);
  EXPECT_NEAR(out.key_gradient[1], 0.75, 1e-6);
  EXPECT_NEAR(out.query_gradient[1], 0.75 * ln3, 1e-6);
}

}  // namespace
}  // namespace headway
