// On the round device: bf16 at 50 TFLOP/s, products start 10 us late, inner sizes of 100 count
// double, half of a wave's quantisation is seen; passes at 0.5 TB/s.
#include "sim/costs/work_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/costs/kernel_cost.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

Profile profile_with_experts() {
  Profile profile = even_profile();
  profile.experts = ExpertCosts{.grouped_efficiency = estimate(0.5),
                                .grouped_half_rows = estimate(1000.0),
                                .permutation_bytes = estimate(4.0)};
  return profile;
}

WorkCost cost_of(const Work& work, const Profile& profile, Precision precision = Precision::bf16,
                 const RecomputeParts& again = {}) {
  return work_cost(work, {.profile = profile,
                          .family = profile.kernel_families.at("fused"),
                          .precision = precision,
                          .again = again});
}

/// 2 x 1e12 operations each: 40 ms.
constexpr GemmShape kProduct{10'000, 10'000, 10'000};
constexpr double kProductTime = 0.04;

TEST(WorkCost, AProductRunsOnceForwardAndTwiceBackward) {
  const Profile profile = profile_with_experts();
  Work work;
  work.linears.push_back({.forward = kProduct, .column_parallel = true});
  const WorkCost cost = cost_of(work, profile);
  EXPECT_NEAR(cost.forward.time().count(), kProductTime, 1e-15);
  EXPECT_NEAR(cost.backward.time().count(), 2 * kProductTime, 1e-15);
  EXPECT_NEAR(cost.weight_gradients.count(), kProductTime, 1e-15);
  EXPECT_NEAR(cost.column_gradients.data.count(), kProductTime, 1e-15);
  EXPECT_NEAR(cost.column_gradients.weights.count(), kProductTime, 1e-15);
  work.linears[0].column_parallel = false;
  EXPECT_EQ(cost_of(work, profile).column_gradients.data, Seconds(0.0));
  EXPECT_EQ(cost_of(work, profile).column_gradients.weights, Seconds(0.0));
}

/// 10,001 is odd, so that pieces of 16 bytes, 8 elements, are halved three times to fit: 2 x 2 x 2
/// times the 40 ms, and what starts the product is small beside it. 10,002 is even, 10,008 whole
/// pieces.
TEST(WorkCost, SidesThatAreNoWholePiecesTakeLongerWhereSoftwareLeavesThemSo) {
  Profile profile = profile_with_experts();
  const auto forward = [&](double outputs, Precision precision = Precision::bf16) {
    Work work;
    work.linears.push_back({.forward = {10'000, outputs, 10'000}});
    return cost_of(work, profile, precision).forward.time().count();
  };
  EXPECT_NEAR(forward(10'001), kProductTime, 1e-4);
  profile.kernel_families.at("fused").misaligned_product_factor = estimate(2.0);
  EXPECT_NEAR(forward(10'001), 8.0 * kProductTime * 1.0001, 1e-4);
  EXPECT_NEAR(forward(10'002), 4.0 * kProductTime * 1.0002, 1e-4);
  EXPECT_NEAR(forward(10'008), kProductTime, 1e-4);
  Work narrow;
  narrow.linears.push_back({.forward = {10'000, 10'000, 9'999}});
  const WorkCost cost = cost_of(narrow, profile);
  EXPECT_NEAR(cost.backward.time().count(), 2.0 * cost.forward.time().count(), 1e-12);
  EXPECT_NEAR(cost.forward.time().count(), 8.0 * kProductTime, 1e-4);
}

TEST(WorkCost, ProductsOfActivationsHaveTheirOwnOperationsInEachPass) {
  const Profile profile = profile_with_experts();
  Work work;
  work.activation_products.push_back({.forward = Flops(1e12),
                                      .backward = Flops(3e12),
                                      .inputs = 128.0,
                                      .again = {{RecomputePart::core_attn}}});
  const DeviceCosts& device = profile.device;
  const KernelFamily& family = profile.kernel_families.at("fused");
  const auto time = [&](double flops, Pass pass) {
    return activation_product_cost(device, family, Flops(flops), 128.0, pass).time;
  };
  const WorkCost cost = cost_of(work, profile, Precision::bf16, {RecomputePart::core_attn});
  EXPECT_EQ(cost.forward.time(), time(1e12, Pass::forward));
  EXPECT_EQ(cost.backward.time(), time(3e12, Pass::backward));
  EXPECT_EQ(cost.again, time(1e12, Pass::forward));
}

TEST(WorkCost, WhatIsNotTrainedHasNoGradient) {
  const Profile profile = profile_with_experts();
  Work work;
  work.linears.push_back({.forward = kProduct, .frozen = true});
  EXPECT_NEAR(cost_of(work, profile).backward.time().count(), kProductTime, 1e-15);
  EXPECT_EQ(cost_of(work, profile).weight_gradients, Seconds(0.0));
  work.linears[0] = {.forward = kProduct, .input_gradient = false};
  EXPECT_NEAR(cost_of(work, profile).backward.time().count(), kProductTime, 1e-15);
  EXPECT_NEAR(cost_of(work, profile).weight_gradients.count(), kProductTime, 1e-15);
}

TEST(WorkCost, EveryMicroBatchAddsItsGradientsToTheSum) {
  Profile profile = profile_with_experts();
  profile.device.gradient_accumulation_bytes = estimate(6.0);
  // 6 bytes for each of 1e8 weights at 0.5 TB/s: 1.2 ms.
  constexpr double kAdding = 6.0 * 1e8 / 0.5e12;
  Work work;
  work.linears.push_back({.forward = kProduct, .column_parallel = true});
  const WorkCost cost = cost_of(work, profile);
  EXPECT_NEAR(cost.forward.time().count(), kProductTime, 1e-15);
  EXPECT_NEAR(cost.backward.time().count(), 2 * kProductTime + kAdding, 1e-15);
  EXPECT_NEAR(cost.weight_gradients.count(), kProductTime + kAdding, 1e-15);
  EXPECT_NEAR(cost.column_gradients.weights.count(), kProductTime + kAdding, 1e-15);
  work.linears[0].frozen = true;
  EXPECT_NEAR(cost_of(work, profile).backward.time().count(), kProductTime, 1e-15);

  // Of each of 4 experts.
  Work experts;
  experts.grouped.push_back({.experts = 4.0, .forward = {1000, 2000, 3000}});
  const double with = cost_of(experts, profile).weight_gradients.count();
  profile.device.gradient_accumulation_bytes = {};
  const double without = cost_of(experts, profile).weight_gradients.count();
  EXPECT_NEAR(with - without, 4 * 6.0 * 2000 * 3000 / 0.5e12, 1e-15);
}

TEST(WorkCost, WeightGradientsOfConvolutionsFillTheDevice) {
  // 64 x 256 weights from 65,536 positions: half a tile, for one of 8 multiprocessors. 16 tiles of
  // 4,096 positions each fill all of them: 1,024 rows of the same product, no quantisation left.
  const DeviceCosts device = round_device();
  EXPECT_EQ(split_product(device, {64, 256, 65'536}), (GemmShape{1024, 256, 4096}));
  EXPECT_EQ(split_product(device, {64, 256, 4096}), (GemmShape{256, 256, 1024}));
  EXPECT_EQ(split_product(device, {64, 256, 1500}), (GemmShape{64, 256, 1500}));
  EXPECT_EQ(split_product(device, {2048, 256, 65'536}), (GemmShape{2048, 256, 65'536}));
  const Profile profile = round_profile();
  Work work;
  work.linears.push_back({.forward = {65'536, 64, 256}, .splits_terms = true});
  EXPECT_EQ(cost_of(work, profile).weight_gradients,
            gemm_cost(device, {1024, 256, 4096}, Precision::bf16).time);
  work.linears[0].splits_terms = false;
  EXPECT_EQ(cost_of(work, profile).weight_gradients,
            gemm_cost(device, {64, 256, 65'536}, Precision::bf16).time);
}

TEST(WorkCost, ConvolutionsReadEachElementOnceAndFilterWithLess) {
  const Profile profile = round_profile();
  Work work;
  work.linears.push_back({.forward = {8192, 64, 576}, .reuse = 9.0, .filtering = 2.25});
  const auto time_of = [&](const GemmShape& shape, Precision precision, double shared) {
    return gemm_cost(profile.device, shape, precision, {.shared = Bytes(shared)}).time;
  };
  // Of 8,192 x 576 operands of 2 bytes, 8 of 9 are those of positions beside.
  const WorkCost narrow = cost_of(work, profile);
  const double repeated = 2.0 * 8192 * 576 * 8 / 9;
  EXPECT_EQ(narrow.forward.time(), time_of({8192, 64, 576}, Precision::bf16, repeated));
  EXPECT_EQ(narrow.weight_gradients, time_of({64, 576, 8192}, Precision::bf16, repeated));
  EXPECT_EQ(narrow.backward.time(),
            narrow.weight_gradients + time_of({8192, 576, 64}, Precision::bf16, repeated));
  // Plain cores multiply 256 times for 576 taps; memory holds 64 elements of 4 bytes still.
  const WorkCost wide = cost_of(work, profile, Precision::fp32);
  EXPECT_NEAR(
      wide.forward.time() / time_of({8192, 64, 256}, Precision::fp32, 4.0 * 8192 * (256 - 64)), 1.0,
      1e-12);
}

TEST(WorkCost, ProductsInTurnsAreAsManySmallOnes) {
  const Profile profile = round_profile();
  Work work;
  work.linears.push_back({.forward = {4096, 64, 256}, .turns = 4.0});
  const WorkCost cost = cost_of(work, profile);
  const auto time_of = [&](const GemmShape& shape) {
    return gemm_cost(profile.device, shape, Precision::bf16).time;
  };
  EXPECT_EQ(cost.forward.time(), 4.0 * time_of({1024, 64, 256}));
  // The gradient of the weights waits for all of them.
  EXPECT_EQ(cost.weight_gradients, time_of({64, 256, 4096}));
  EXPECT_EQ(cost.backward.time(), 4.0 * time_of({1024, 256, 64}) + time_of({64, 256, 4096}));
}

TEST(WorkCost, RowsOfTablesMoveAtTheRateOfScatteredOnes) {
  Profile profile = round_profile();
  const BytesPerSecond peak(profile.device.memory_bandwidth.value);
  Work work;
  work.tables = {.name = "tables", .forward = Bytes(1e9), .backward = Bytes(3e9)};
  const double streaming = profile.device.memory_efficiency.value;
  EXPECT_EQ(cost_of(work, profile).tables_forward, Bytes(1e9) / (streaming * peak));
  profile.device.gather_efficiency = estimate(0.5);
  const WorkCost cost = cost_of(work, profile);
  EXPECT_EQ(cost.forward.time(), Bytes(1e9) / (0.5 * peak));
  EXPECT_EQ(cost.backward.time(), Bytes(3e9) / (0.5 * peak));
  EXPECT_EQ(cost.tables_backward, cost.backward.time());
}

TEST(WorkCost, CountedBytesMoveAtTheRateOfCopies) {
  Profile profile = round_profile();
  const BytesPerSecond peak(profile.device.memory_bandwidth.value);
  Work work;
  work.passes.push_back({.forward = Bytes(1e9), .backward = Bytes(2e9), .merged = false});
  const double streaming = profile.device.memory_efficiency.value;
  EXPECT_EQ(cost_of(work, profile).forward.time(), Bytes(1e9) / (streaming * peak));
  profile.device.copy_efficiency = estimate(0.8);
  EXPECT_EQ(cost_of(work, profile).forward.time(), Bytes(1e9) / (0.8 * peak));
  EXPECT_EQ(cost_of(work, profile).backward.time(), Bytes(2e9) / (0.8 * peak));
  // Or at a share of it.
  work.passes.front().forward_rate = 0.5;
  work.passes.front().backward_rate = 0.25;
  EXPECT_EQ(cost_of(work, profile).forward.time(), Bytes(2e9) / (0.8 * peak));
  EXPECT_EQ(cost_of(work, profile).backward.time(), Bytes(8e9) / (0.8 * peak));
}

// 4 x 1,024^2 x 8 x 128 operations, half of them hidden, and two and a half times as many backward.
TEST(WorkCost, FusedAttentionOfWideElementsIsNoFasterThanTheirPeak) {
  Profile profile = round_profile();
  constexpr double kOperations = 2.0 * 1024.0 * 1024.0 * 8.0 * 128.0;
  Work work;
  work.attention = {.shape = {.sequences = 1,
                              .query_length = 1024,
                              .key_length = 1024,
                              .query_heads = 8,
                              .key_heads = 8,
                              .head_size = 128}};
  const Seconds halves = cost_of(work, profile).forward.time();
  profile.device.peak_flops[Precision::fp32] = estimate(kOperations / (10.0 * halves.count()));
  const WorkCost wide = cost_of(work, profile, Precision::fp32);
  EXPECT_NEAR(wide.forward.time() / halves, 10.0, 1e-9);
  EXPECT_NEAR(wide.backward.time() / halves, 25.0, 1e-9);
}

TEST(WorkCost, LowPrecisionCastsInputsOnceAPass) {
  // 100 TFLOP/s in fp8: 20 ms a product. Casting 1e9 elements moves 5 bytes each: 10 ms.
  const Profile profile = profile_with_experts();
  Work work;
  work.linears.push_back({.forward = kProduct, .input_elements = 1e9});
  const WorkCost cost = cost_of(work, profile, Precision::fp8);
  EXPECT_NEAR(cost.forward.time().count(), 0.02 + 0.01, 1e-12);
  EXPECT_NEAR(cost.backward.time().count(), 2 * 0.02 + 0.01, 1e-12);
  work.linears[0].wide = true;
  EXPECT_NEAR(cost_of(work, profile, Precision::fp8).forward.time().count(), 0.04 + 0.01, 1e-12);
  EXPECT_NEAR(cost_of(work, profile).forward.time().count(), 0.04, 1e-12);
}

TEST(WorkCost, ExpertsMultiplyTheirOwnRowsAndCastThem) {
  // 4 experts of 1e4 rows at half the rate, 1 + 1000 / 10,000 of the time: 4 x 80 ms x 1.1; 4 x 1e8
  // elements cast in 8 bits, at twice the rate: 4 ms.
  const Profile profile = profile_with_experts();
  Work work;
  work.grouped.push_back({.experts = 4, .forward = kProduct});
  const WorkCost cost = cost_of(work, profile);
  EXPECT_NEAR(cost.forward.time().count(), 4 * 0.08 * 1.1, 1e-12);
  EXPECT_NEAR(cost.backward.time().count(), 2 * 4 * 0.08 * 1.1, 1e-12);
  EXPECT_NEAR(cost.weight_gradients.count(), 4 * 0.08 * 1.1, 1e-12);
  EXPECT_NEAR(cost_of(work, profile, Precision::fp8).forward.time().count(), 4 * 0.04 * 1.1 + 0.004,
              1e-12);
}

TEST(WorkCost, ExpertsInFp32MultiplyOneAfterTheOther) {
  // Not grouped, 4 products of 2e12 operations, each as any other is: in tf32 at 25 TFLOP/s, 80 ms;
  // without tf32 in fp32 at 5, 400 ms.
  Profile profile = profile_with_experts();
  profile.device.peak_flops[Precision::tf32] = estimate(50e12);
  profile.device.gemm_efficiency[Precision::tf32] = estimate(0.5);
  Work work;
  work.grouped.push_back({.experts = 4, .forward = kProduct, .alone = Precision::tf32});
  const WorkCost cost = cost_of(work, profile);
  EXPECT_NEAR(cost.forward.time().count(), 4 * 0.08, 1e-4);
  EXPECT_EQ(cost.forward.time(), 4.0 * gemm_cost(profile.device, kProduct, Precision::tf32).time);
  EXPECT_EQ(cost.backward.time(), 2.0 * cost.forward.time());
  profile.device.peak_flops.erase(Precision::tf32);
  EXPECT_EQ(cost_of(work, profile).forward.time(),
            4.0 * gemm_cost(profile.device, kProduct, Precision::fp32).time);
}

TEST(WorkCost, ProductsOfARecipeHaveTheRateThatItsScalesLeave) {
  // 20 ms a product in fp8, 25 at four fifths of the rate, of experts too; the cast's 10 ms and
  // what is kept in 16 bits stay.
  Profile profile = profile_with_experts();
  profile.device.recipe_cast_bytes[Scaling::mxfp8] = profile.device.cast_bytes;
  profile.device.recipe_rate[Scaling::mxfp8] = {0.8, 0.1, ""};
  const auto forward = [&profile](const Work& work) {
    return work_cost(work, {.profile = profile,
                            .family = profile.kernel_families.at("fused"),
                            .precision = Precision::fp8,
                            .scaling = Scaling::mxfp8})
        .forward.time()
        .count();
  };
  Work work;
  work.linears.push_back({.forward = kProduct, .input_elements = 1e9});
  EXPECT_NEAR(forward(work), 0.025 + 0.01, 1e-12);
  EXPECT_NEAR(cost_of(work, profile, Precision::fp8).forward.time().count(), 0.02 + 0.01, 1e-12);
  work.linears[0].wide = true;
  EXPECT_NEAR(forward(work), 0.04 + 0.01, 1e-12);
  Work experts;
  experts.grouped.push_back({.experts = 4, .forward = kProduct});
  EXPECT_NEAR(forward(experts), 4 * 0.05 * 1.1 + 0.004, 1e-12);
}

TEST(WorkCost, ProductsOfARecipeAreKnownAsWellAsItsRate) {
  // 25 ms of a product, whose efficiency is known to 3 % and whose recipe's rate to 10 %.
  Profile profile = profile_with_experts();
  profile.device.recipe_cast_bytes[Scaling::mxfp8] = profile.device.cast_bytes;
  profile.device.recipe_rate[Scaling::mxfp8] = {0.8, 0.1, ""};
  Work work;
  work.linears.push_back({.forward = kProduct});
  const WorkCost cost = work_cost(work, {.profile = profile,
                                         .family = profile.kernel_families.at("fused"),
                                         .precision = Precision::fp8,
                                         .scaling = Scaling::mxfp8});
  EXPECT_NEAR(std::sqrt(cost.forward.variance()), 0.025 * std::hypot(0.03, 0.1), 1e-12);
}

TEST(WorkCost, RowsGoToTheirExpertsAndComeBack) {
  // 1e9 elements of 4 bytes there and back: 16 ms forward, both gradients backward.
  const Profile profile = profile_with_experts();
  Work work;
  work.permuted_elements = 1e9;
  work.permuted_again = {{RecomputePart::moe, 0.5}};
  const WorkCost cost = cost_of(work, profile, Precision::bf16, {RecomputePart::moe});
  EXPECT_NEAR(cost.forward.time().count(), 0.016, 1e-12);
  EXPECT_NEAR(cost.backward.time().count(), 0.032, 1e-12);
  EXPECT_NEAR(cost.again.count(), 0.008, 1e-12);
}

TEST(WorkCost, MasksPutRowsInPlacesByProducts) {
  // Two groups of 10,000 tokens and places, rows of 10,000: each product 40 ms a group. Passes of
  // 2 x 1e8 x 5 bytes forward and half of it backward: 2 and 1 ms.
  const Profile profile = profile_with_experts();
  Work work;
  work.masks = {.groups = 2,
                .tokens = 10'000,
                .places = 10'000,
                .width = 10'000,
                .forward_bytes = 5,
                .backward_bytes = 2.5};
  work.permuted_again = {{RecomputePart::moe}};
  const WorkCost cost = cost_of(work, profile, Precision::bf16, {RecomputePart::moe});
  EXPECT_NEAR(cost.forward.time().count(), 2 * 2 * kProductTime + 0.002, 1e-12);
  EXPECT_NEAR(cost.backward.time().count(), 2 * 3 * kProductTime + 0.001, 1e-12);
  EXPECT_NEAR(cost.again.count(), cost.forward.time().count(), 1e-12);
  EXPECT_EQ(cost.weight_gradients.count(), 0.0);
}

TEST(WorkCost, SoftwareMovesMoreOfWhatOthersMerge) {
  // 1e9 bytes forward, 2e9 backward, 2 ms each 1e9; a family that moves three times as much.
  Profile profile = profile_with_experts();
  profile.kernel_families.at("fused").memory_traffic = estimate(3.0);
  Work work;
  work.passes.push_back(
      {.forward = 1_GB, .backward = 2_GB, .again = {{RecomputePart::activation}}});
  const WorkCost merged = cost_of(work, profile, Precision::bf16, {RecomputePart::activation});
  EXPECT_NEAR(merged.forward.time().count(), 6e-3, 1e-12);
  EXPECT_NEAR(merged.backward.time().count(), 12e-3, 1e-12);
  EXPECT_NEAR(merged.again.count(), 6e-3, 1e-12);
  work.passes[0].merged = false;  // the operator's own bytes are all there are
  const WorkCost own = cost_of(work, profile);
  EXPECT_NEAR(own.forward.time().count(), 2e-3, 1e-12);
  EXPECT_NEAR(own.backward.time().count(), 4e-3, 1e-12);
  EXPECT_EQ(own.again, Seconds(0.0));
}

TEST(WorkCost, AttentionIsFusedOrNot) {
  const Profile profile = profile_with_experts();
  const AttentionShape shape{.sequences = 1,
                             .query_length = 4096,
                             .key_length = 4096,
                             .query_heads = 8,
                             .key_heads = 8,
                             .head_size = 128};
  Work work;
  work.attention = AttentionWork{shape, {{RecomputePart::core_attn}}};
  const KernelFamily& family = profile.kernel_families.at("fused");
  const WorkCost fused = cost_of(work, profile, Precision::bf16, {RecomputePart::core_attn});
  const Seconds forward = fused_attention_cost(profile.device, family, shape, Pass::forward).time;
  EXPECT_EQ(fused.forward.time(), forward);
  EXPECT_EQ(fused.attention_forward, forward);
  EXPECT_EQ(fused.again, forward);
  EXPECT_EQ(fused.backward.time(),
            fused_attention_cost(profile.device, family, shape, Pass::backward).time);
  const WorkCost unfused =
      work_cost(work, {.profile = profile, .family = family, .fused_attention = false});
  EXPECT_EQ(unfused.forward.time(), unfused_attention_cost(profile.device, family, *work.attention,
                                                           Pass::forward, Precision::bf16)
                                        .time);
  EXPECT_EQ(unfused.backward.time(), unfused_attention_cost(profile.device, family, *work.attention,
                                                            Pass::backward, Precision::bf16)
                                         .time);
}

TEST(CostSum, PartsErrIndependently) {
  CostSum sum;
  sum.add({.time = 3_s, .status = CostStatus::exact, .spread = 0.1});
  EXPECT_FALSE(sum.extrapolated());
  sum.add({.time = 4_s, .status = CostStatus::extrapolated, .spread = 0.1});
  EXPECT_EQ(sum.time(), 7_s);
  EXPECT_NEAR(sum.variance(), 0.09 + 0.16, 1e-15);
  sum.add({.time = 1_s, .status = CostStatus::exact, .spread = 0.0});
  EXPECT_TRUE(sum.extrapolated());
}

}  // namespace
}  // namespace headway
