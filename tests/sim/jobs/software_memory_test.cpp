// What software keeps otherwise than most does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/jobs/memory.h"
#include "sim/jobs/stage_parameters.h"
#include "tests/sim/jobs/sample_models.h"
#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::gpt;
using testing::llama;

const Model kLlama8B = llama(32, 4096, 32, 8, 14'336);
const Model kGptOf175B = gpt(96, 12'288, 96);
constexpr double kGptSbh = 2048.0 * 12'288.0;  // of GPT-3

StageMemory memory_of_one(const Model& model, const Strategy& strategy) {
  return stage_memory(model, strategy).front();
}

double kept_per_sbh(const Strategy& strategy) {
  return testing::layer_activations(kGptOf175B, strategy).count() / kGptSbh;
}

TEST(SoftwareMemory, OptimizerStatesAreWhatTheSoftwareKeepsOfThem) {
  Strategy strategy{.global_batch = 64, .sequence_length = 8192};
  const double parameters = stage_parameters(kLlama8B, strategy, 0).total();
  EXPECT_DOUBLE_EQ(memory_of_one(kLlama8B, strategy).optimizer.count(), 12.0 * parameters);
  strategy.memory.optimizer_state_bytes = 10.0;  // the master copy is 16 bits that were missing
  EXPECT_DOUBLE_EQ(memory_of_one(kLlama8B, strategy).optimizer.count(), 10.0 * parameters);
  strategy.sharding = Sharding::optimizer;
  strategy.data_parallel = 8;
  EXPECT_DOUBLE_EQ(memory_of_one(kLlama8B, strategy).optimizer.count(), 10.0 / 8.0 * parameters);
}

// A byte an element of layers; two of blocks of 32 with a byte of scale each; two of 4 bits and
// their scale. Embedding and head stay in 16 bits.
TEST(SoftwareMemory, QuantisedWeightsOfLayersTakeWhatTheirFormatTakes) {
  Strategy strategy{.global_batch = 64, .sequence_length = 8192, .precision = Precision::fp8};
  const StageParameters parameters = stage_parameters(kLlama8B, strategy, 0);
  const double rest = 2.0 * (parameters.embedding + parameters.head);
  const auto bytes = [&] { return memory_of_one(kLlama8B, strategy).parameters.count(); };
  EXPECT_DOUBLE_EQ(bytes(), rest + 2.0 * parameters.layers);
  strategy.memory.quantised_weights = true;
  EXPECT_DOUBLE_EQ(bytes(), rest + parameters.layers);
  strategy.scaling = Scaling::mxfp8;
  EXPECT_DOUBLE_EQ(bytes(), rest + 2.0625 * parameters.layers);
  strategy.precision = Precision::fp4;
  strategy.scaling = Scaling::nvfp4;
  EXPECT_DOUBLE_EQ(bytes(), rest + 1.125 * parameters.layers);
  strategy.precision = Precision::bf16;
  strategy.scaling = Scaling::delayed;
  EXPECT_DOUBLE_EQ(bytes(), rest + 2.0 * parameters.layers);
}

// Along either side a byte an element; with scales of blocks of 32 one in 32 more.
TEST(SoftwareMemory, CopiesInTheFormatOfProductsStandBesideTheWeights) {
  Strategy strategy{.data_parallel = 4,
                    .global_batch = 64,
                    .sequence_length = 8192,
                    .sharding = Sharding::optimizer,
                    .precision = Precision::fp8};
  const StageParameters parameters = stage_parameters(kLlama8B, strategy, 0);
  const double plain = 2.0 * parameters.total();
  const auto bytes = [&] { return memory_of_one(kLlama8B, strategy).parameters.count(); };
  EXPECT_DOUBLE_EQ(bytes(), plain);
  strategy.memory.quantised_copies = 2;
  EXPECT_DOUBLE_EQ(bytes(), plain + 2.0 * parameters.layers);
  strategy.scaling = Scaling::mxfp8;
  EXPECT_DOUBLE_EQ(bytes(), plain + 2.0625 * parameters.layers);
  strategy.quantised_parameter_gathers = true;
  EXPECT_DOUBLE_EQ(bytes(), plain);
  strategy.quantised_parameter_gathers = false;
  strategy.precision = Precision::bf16;
  strategy.scaling = Scaling::delayed;
  EXPECT_DOUBLE_EQ(bytes(), plain);
}

TEST(SoftwareMemory, QuantisedWeightsAreShardedLikeOthers) {
  Strategy strategy{.data_parallel = 16,
                    .global_batch = 64,
                    .sequence_length = 8192,
                    .sharding = Sharding::full,
                    .precision = Precision::fp8};
  const StageParameters parameters = stage_parameters(kLlama8B, strategy, 0);
  const Bytes plain = memory_of_one(kLlama8B, strategy).parameters;
  strategy.memory.quantised_weights = true;
  EXPECT_NEAR((plain - memory_of_one(kLlama8B, strategy).parameters).count(),
              parameters.layers / 16.0, 1.0);
}

// Two halves of 14,336 in one byte instead of two.
TEST(SoftwareMemory, QuantisedInputsOfActivationsTakeAByte) {
  Strategy strategy{.sequence_length = 8192, .precision = Precision::fp8};
  const Bytes plain = testing::layer_activations(kLlama8B, strategy);
  strategy.memory.quantised_activation_input = true;
  EXPECT_DOUBLE_EQ((plain - testing::layer_activations(kLlama8B, strategy)).count(),
                   8192.0 * 2.0 * 14'336);
}

// Of 34 + 80 over t ranks two inputs of 2 each are whole on all of them.
TEST(SoftwareMemory, GatheredInputsAreWholeOnEveryRank) {
  Strategy strategy{.tensor_parallel = 8,
                    .sequence_length = 2048,
                    .sequence_parallel = true,
                    .fused_attention = false};
  EXPECT_DOUBLE_EQ(kept_per_sbh(strategy), 114.0 / 8.0);
  strategy.memory.gathered_inputs = true;
  EXPECT_DOUBLE_EQ(kept_per_sbh(strategy), 110.0 / 8.0 + 4.0);
  strategy.sequence_parallel = false;  // then they are anyway
  EXPECT_DOUBLE_EQ(kept_per_sbh(strategy), 10.0 + 24.0 / 8.0 + 80.0 / 8.0);
}

// 2 for each of t ranks' part of the output.
TEST(SoftwareMemory, ACopiedAttentionOutputIsThereTwice) {
  Strategy strategy{.tensor_parallel = 8, .sequence_length = 2048, .sequence_parallel = true};
  const double once = kept_per_sbh(strategy);
  strategy.memory.copied_attention_output = true;
  EXPECT_DOUBLE_EQ(kept_per_sbh(strategy), once + 2.0 / 8.0);
  strategy.fused_attention = false;
  EXPECT_DOUBLE_EQ(kept_per_sbh(strategy), 114.0 / 8.0);
}

// 4 a s / h = 4 x 96 x 2048 / 12,288 = 64 more than the 80 of equation 1.
TEST(SoftwareMemory, ASoftmaxOfSeveralKernelsStaysInFp32Too) {
  Strategy strategy{.sequence_length = 2048, .fused_attention = false};
  strategy.memory.fused_softmax = false;
  EXPECT_DOUBLE_EQ(kept_per_sbh(strategy), 34.0 + 80.0 + 64.0);
  strategy.fused_attention = true;
  EXPECT_DOUBLE_EQ(kept_per_sbh(strategy), 34.0 + 4.0 * 96 / 12'288.0);
}

// Of 34 and 80 the masks of dropout, 2 and a s / h = 16, are bytes; the rest is twice as wide.
TEST(SoftwareMemory, ASoftmaxOfSeveralKernelsIsThereOnceInFp32) {
  Strategy strategy{
      .sequence_length = 2048, .fused_attention = false, .precision = Precision::fp32};
  const double merged = kept_per_sbh(strategy);
  EXPECT_DOUBLE_EQ(merged, 2.0 + 2.0 * 32.0 + 16.0 + 2.0 * 64.0);
  strategy.memory.fused_softmax = false;
  EXPECT_DOUBLE_EQ(kept_per_sbh(strategy), merged);
}

// 256 MiB each.
TEST(SoftwareMemory, FurtherCommunicatorsHaveTheirBuffers) {
  Strategy strategy{.global_batch = 64, .sequence_length = 8192};
  const Bytes plain = memory_of_one(kLlama8B, strategy).buffers;
  strategy.memory.communicators = 3;
  EXPECT_EQ(memory_of_one(kLlama8B, strategy).buffers - plain, 768_MiB);
}

TEST(SoftwareMemory, FlattenedGradientsAreThereTwiceOnOneReplicaToo) {
  Strategy strategy{.global_batch = 64, .sequence_length = 8192};
  const StageMemory plain = memory_of_one(kLlama8B, strategy);
  strategy.memory.flattened_gradients = true;
  strategy.gradient_bucket = 1e12_B;
  EXPECT_NEAR((memory_of_one(kLlama8B, strategy).buffers - plain.buffers).count(),
              plain.gradients.count(), 1.0);
  strategy.gradient_bucket = 4e9_B;
  EXPECT_NEAR((memory_of_one(kLlama8B, strategy).buffers - plain.buffers).count(), 4e9, 1.0);
}

TEST(SoftwareMemory, StandingBucketsAreAsManyBytesAsGradientsWhereReplicasReduceThem) {
  Strategy strategy{.data_parallel = 2, .global_batch = 64, .sequence_length = 8192};
  strategy.gradient_bucket = 25_MiB;
  const StageMemory plain = memory_of_one(kLlama8B, strategy);
  strategy.memory.standing_buckets = true;
  EXPECT_NEAR((memory_of_one(kLlama8B, strategy).buffers - plain.buffers + 25_MiB).count(),
              plain.gradients.count(), 1.0);
  strategy.data_parallel = 1;
  const Bytes alone = memory_of_one(kLlama8B, strategy).buffers;
  strategy.memory.standing_buckets = false;
  EXPECT_EQ(memory_of_one(kLlama8B, strategy).buffers, alone);
}

TEST(SoftwareMemory, LogitsOfTheMicroBatchBeforeAreTwoBytesEach) {
  Strategy strategy{.global_batch = 64, .sequence_length = 8192};
  const Bytes plain = memory_of_one(kLlama8B, strategy).buffers;
  strategy.memory.previous_logits = true;
  EXPECT_NEAR((memory_of_one(kLlama8B, strategy).buffers - plain).count(),
              1.15 * 2.0 * 8192 * 128'000, 1.0);
}

TEST(SoftwareMemory, TheReserveIsAShareOfWhatComesAndGoes) {
  Strategy strategy{.global_batch = 64, .sequence_length = 8192};
  const StageMemory plain = memory_of_one(kLlama8B, strategy);
  strategy.memory.allocator_reserve = 0.05;
  const Bytes loss(6.0 * 8192 * 128'000);
  EXPECT_NEAR((plain.buffers - memory_of_one(kLlama8B, strategy).buffers).count(),
              0.1 * (plain.activations + loss).count(), 1.0);
}

TEST(SoftwareMemory, IsReadIntoTheStrategy) {
  const auto reading = testing::read_strategy_text(
      testing::kLlama3, R"("global_batch": 8, "memory": {"optimizer_state_bytes": 4,
          "quantised_weights": true, "allocator_reserve": 0.05})");
  ASSERT_TRUE(reading.read.has_value()) << reading.problems;
  const SoftwareMemory memory = reading.read->strategy.memory;
  EXPECT_EQ(memory.optimizer_state_bytes, 4.0);
  EXPECT_TRUE(memory.quantised_weights);
  EXPECT_FALSE(memory.gathered_inputs);
  EXPECT_TRUE(memory.fused_softmax);
  EXPECT_EQ(memory.allocator_reserve, 0.05);
}

TEST(SoftwareMemory, AWrongNumberIsOneProblem) {
  for (const char* wrong : {"-4", "101", "\"4 B\"", "null"}) {
    const auto reading = testing::read_strategy_text(
        testing::kLlama3,
        std::string(R"("global_batch": 8, "memory": {"optimizer_state_bytes": )") + wrong + "}");
    EXPECT_THAT(reading.problems, ::testing::HasSubstr("optimizer_state_bytes")) << wrong;
    EXPECT_THAT(reading.problems, ::testing::Not(::testing::HasSubstr("needs"))) << wrong;
  }
}

}  // namespace
}  // namespace headway
