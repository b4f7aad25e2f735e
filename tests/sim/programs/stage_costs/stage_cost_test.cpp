#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/costs/kernel_cost.h"
#include "sim/jobs/strategy.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/programs/stage_costs/host_cost.h"
#include "tests/sim/programs/stage_costs/stage_cost_fixture.h"

namespace headway {
namespace {

TEST_F(StageCostTest, ALayerIsItsProductsItsAttentionAndItsStreamingPasses) {
  const StageCost layer = cost();
  EXPECT_NEAR(layer.layer().forward[Cause::compute].count(), linears + attention + streaming,
              1e-12);
  // Backward: two products for each, attention 2.5 times at 0.8 of the rate, traffic twice.
  EXPECT_NEAR(layer.layer().backward[Cause::compute].count(),
              2.0 * linears + 2.5 / 0.8 * attention + 2.0 * streaming, 1e-12);
  EXPECT_DOUBLE_EQ(layer.layer().forward.total().count(),
                   layer.layer().forward[Cause::compute].count());
  EXPECT_FALSE(layer.extrapolated);
}

TEST_F(StageCostTest, HeadAndEmbeddingStandBesideTheLayers) {
  const StageCost stage = cost();
  // Head: 2 x 1,024 x 1,024 x 32,768 operations; loss 6 and 12 bytes for each of 32 Mi logits.
  EXPECT_NEAR(stage.head_forward.total().count(), 64.0 * kGi / kRate + 6.0 * 32.0 * kMi / kMemory,
              1e-12);
  EXPECT_NEAR(stage.head_backward.total().count(),
              128.0 * kGi / kRate + 12.0 * 32.0 * kMi / kMemory, 1e-12);
  // Embedding: rows of 2 x 1,024 bytes, 2 passes and 3 for the position; backward 3 and 3.
  EXPECT_NEAR(stage.embedding_forward.total().count(), 5.0 * 2.0 * kMi / kMemory, 1e-12);
  EXPECT_NEAR(stage.embedding_backward.total().count(), 6.0 * 2.0 * kMi / kMemory, 1e-12);
}

TEST_F(StageCostTest, FullRecomputationRunsTheForwardPassAgain) {
  strategy.tensor_parallel = 2;
  profile.kernel_families["fused"].launch_gap = estimate(1e-6);
  const StageCost without = cost();
  strategy.recompute = Recompute::full;
  const StageCost with = cost();
  EXPECT_DOUBLE_EQ(with.layer().recompute.total().count(), without.layer().forward.total().count());
  // The pauses between its kernels are the host's then, too.
  EXPECT_GT(without.layer().forward[Cause::other], 0_s);
  EXPECT_EQ(with.layer().recompute[Cause::other], without.layer().forward[Cause::other]);
  EXPECT_DOUBLE_EQ(with.layer().backward.total().count(), without.layer().backward.total().count());
}

TEST_F(StageCostTest, ALayerThatPredictsAheadIsRecomputedToo) {
  model.multi_token_prediction_layers = 1;
  const StageCost without = cost();
  strategy.recompute = Recompute::full;
  EXPECT_NEAR((cost().head_backward.total() - without.head_backward.total()).count(),
              linears + attention + streaming, 1e-12);
}

TEST_F(StageCostTest, OtherRecomputationRunsThatPartAgain) {
  strategy.recompute = Recompute::activation;
  EXPECT_NEAR(cost().layer().recompute[Cause::recompute].count(), 16.0 * kMi / kMemory, 1e-15);
  strategy.recompute = Recompute::selective;
  EXPECT_NEAR(cost().layer().recompute[Cause::recompute].count(), attention, 1e-12);
  // Unfused: products over the whole square at a quarter of the peak, while two times 8 Mi scores
  // and 2 Mi operands of two bytes move; 10 bytes a score.
  strategy.fused_attention = false;
  const Seconds products =
      head_product_time(Seconds(4.0 * kGi / 25e12), Seconds(2.0 * 10.0 * kMi * 2.0 / kMemory));
  EXPECT_NEAR(cost().layer().recompute[Cause::recompute].count(),
              products.count() + 8.0 * kMi * 10.0 / kMemory, 1e-12);
}

TEST_F(StageCostTest, ModulesAreRecomputedWithAllThatTheyCover) {
  // FC1 and FC2: 8 Gi operations each; the activation function between them.
  strategy.recompute = Recompute::modules;
  strategy.recompute_modules = {RecomputePart::mlp};
  const double mlp = 16.0 * kGi / kRate + 16.0 * kMi / kMemory;
  EXPECT_NEAR(cost().layer().recompute.total().count(), mlp, 1e-12);
  // Two norms of 4 of the 20 bytes a channel.
  strategy.recompute_modules = {RecomputePart::layernorm, RecomputePart::mlp};
  EXPECT_NEAR(cost().layer().recompute.total().count(), mlp + 8.0 * kMi / kMemory, 1e-12);
  strategy.recompute_modules = {RecomputePart::core_attn};
  EXPECT_NEAR(cost().layer().recompute.total().count(), attention, 1e-12);
  // The MLP has one of the two exchanges.
  strategy.recompute_modules = {RecomputePart::mlp};
  strategy.tensor_parallel = 2;
  const StageCost split = cost();
  EXPECT_NEAR(split.layer().recompute.total().count(),
              mlp / 2.0 + 0.5 * split.layer().forward[Cause::tensor_parallel].count(), 1e-12);
}

TEST_F(StageCostTest, EverySecondProductAndAllMemoryPassesAreRecomputed) {
  strategy.recompute = Recompute::alternate;
  EXPECT_NEAR(cost().layer().recompute.total().count(), linears / 2.0 + streaming, 1e-12);
}

TEST_F(StageCostTest, OffloadingShowsWhatALayerDoesNotHide) {
  // 34 x 1,024 x 1,024 bytes of a GPT layer, less the scores that fused attention does not keep,
  // plus 4 bytes a head and token: at 100 GB/s more than the layer takes, at 1 TB/s less.
  strategy.offload_layers = 1;
  const double transfer = (34.0 * kMi + 8.0 * 1024.0 * 4.0) / 100e9;
  profile.device.host_bandwidth = estimate(100e9);
  const StageCost slow = cost();
  EXPECT_NEAR(slow.layer().offload_forward.total().count(),
              std::max(0.0, transfer - slow.layer().forward.total().count()), 1e-12);
  profile.device.host_bandwidth = estimate(10e9);
  const StageCost slower = cost();
  EXPECT_NEAR(slower.layer().offload_forward[Cause::other].count(),
              10.0 * transfer - slower.layer().forward.total().count(), 1e-12);
  EXPECT_NEAR(slower.layer().offload_backward[Cause::other].count(),
              10.0 * transfer - slower.layer().backward.total().count(), 1e-12);
  profile.device.host_bandwidth = estimate(1e15);
  EXPECT_EQ(cost().layer().offload_forward.total(), 0_s);
  profile.device.host_bandwidth.reset();
  EXPECT_THROW(static_cast<void>(cost()), InternalError);
}

TEST_F(StageCostTest, TheHostShowsWhereItIsSlowerThanTheDevice) {
  // An eighth-power mean: equal times give 2^(1/8) of either, a host twice as slow 1 + 2^-11 of its
  // own time; one ten times slower hides the device.
  const double device = cost().layer().forward.total().count();
  KernelFamily& family = profile.kernel_families["fused"];
  family.host_per_layer = estimate(device);
  EXPECT_NEAR(cost().layer().forward.total().count(), std::pow(2.0, 0.125) * device, 1e-12);
  family.host_per_layer = estimate(2.0 * device);
  EXPECT_NEAR(cost().layer().forward.total().count() / (2.0 * device), 1.0 + std::pow(2.0, -11),
              2e-6);
  family.host_per_layer = estimate(10.0 * device);
  EXPECT_NEAR(cost().layer().forward.total().count() / (10.0 * device), 1.0, 1e-8);
  EXPECT_GT(cost().layer().forward[Cause::other].count(), 8.9 * device);
  // The device's time is that with the gaps between its kernels.
  family.launch_gap = estimate(0.01 * device);
  family.host_per_layer = estimate(1.14 * device);
  EXPECT_NEAR(cost().layer().forward.total().count(), std::pow(2.0, 0.125) * 1.14 * device, 1e-12);
}

TEST_F(StageCostTest, TheHostIssuesTheCollectivesOfTensorParallelRanks) {
  KernelFamily& family = profile.kernel_families["fused"];
  family.host_per_layer = estimate(14e-3);  // 1 ms a kernel
  const auto host = [&] {
    return host_costs(strategy, profile, family, transformer_layer(model, {}));
  };
  EXPECT_DOUBLE_EQ(host().forward.count(), 14e-3);
  // Two sums over ranks in a forward pass, half a kernel each; with sequence parallelism two
  // gatherings and two scattered sums.
  strategy.tensor_parallel = 2;
  EXPECT_DOUBLE_EQ(host().forward.count(), 15e-3);
  EXPECT_DOUBLE_EQ(host().backward.count(), 1.5 * 15e-3);
  strategy.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(host().forward.count(), 16e-3);
}

TEST_F(StageCostTest, TheHostIssuesTheProductsAndSumsOfAdapters) {
  KernelFamily& family = profile.kernel_families["fused"];
  family.host_per_layer = estimate(14e-3);  // 1 ms a kernel
  strategy.task = Task::lora;
  strategy.lora_targets = {AdapterTarget::qkv, AdapterTarget::fc2};
  const HostCosts host = host_costs(strategy, profile, family, transformer_layer(model, {}));
  EXPECT_DOUBLE_EQ(host.forward.count(), (14 + 2 * 3) * 1e-3);
  EXPECT_DOUBLE_EQ(host.backward.count(), 1.5 * 20e-3);
}

TEST_F(StageCostTest, TheHostIssuesLayerNormsWithFewerKernelsThanWrittenOutOnes) {
  KernelFamily& family = profile.kernel_families["fused"];
  family.host_per_layer = estimate(13e-3);
  const auto host = [&](Normalization norm) {
    TransformerModel of = model;
    of.normalization = norm;
    return host_costs(strategy, profile, family, transformer_layer(of, {})).forward.count();
  };
  EXPECT_DOUBLE_EQ(host(Normalization::layer_norm), 13e-3);
  EXPECT_DOUBLE_EQ(host(Normalization::rms_norm), 13e-3);
  strategy.fused_operators = false;
  EXPECT_DOUBLE_EQ(host(Normalization::layer_norm), 11e-3);
  EXPECT_DOUBLE_EQ(host(Normalization::rms_norm), 13e-3);
}

TEST_F(StageCostTest, GapsBetweenKernelsAndTheStepsOwnOverheadAreTheHosts) {
  KernelFamily& family = profile.kernel_families["fused"];
  family.launch_gap = estimate(2e-6);
  family.step_overhead = estimate(8e-3);
  const StageCost stage = cost();
  EXPECT_NEAR(stage.layer().forward[Cause::other].count(), 14 * 2e-6, 1e-15);
  EXPECT_NEAR(stage.layer().backward[Cause::other].count(), 24 * 2e-6, 1e-15);
  EXPECT_EQ(stage.step_overhead, 8_ms);
}

TEST_F(StageCostTest, TheLossHasATrafficOfItsOwn) {
  const StageCost before = cost();
  profile.kernel_families["fused"].loss_traffic = estimate(3.0);
  const StageCost after = cost();
  // 1,024 tokens x 32,768 logits x 6 bytes forward, twice backward, each three times.
  const double loss = 1024.0 * 32768.0 * 6.0 / kMemory;
  EXPECT_NEAR(after.head_forward.total().count(), before.head_forward.total().count() + 2.0 * loss,
              1e-12);
  EXPECT_NEAR(after.head_backward.total().count(),
              before.head_backward.total().count() + 4.0 * loss, 1e-12);
  EXPECT_EQ(after.layer().forward.total(), before.layer().forward.total());
}

TEST_F(StageCostTest, AReleaseStretchesEveryKernel) {
  const StageCost before = cost();
  profile.kernel_families["fused"].releases["old-1.0"] = estimate(1.25);
  EXPECT_EQ(cost().layer().forward.total(), before.layer().forward.total());
  strategy.software_release = "old-1.0";
  const StageCost after = cost();
  EXPECT_NEAR(after.layer().forward.total() / before.layer().forward.total(), 1.25, 1e-12);
  EXPECT_NEAR(after.head_backward.total() / before.head_backward.total(), 1.25, 1e-12);
  strategy.software_release = "unknown-2.0";
  EXPECT_EQ(cost().layer().forward.total(), before.layer().forward.total());
}

TEST_F(StageCostTest, EightBitProductsAreTwiceAsFastAndCastTheirInputs) {
  // Inputs of the four products: 1,024 x (1,024 x 3 + 4,096) elements of 5 bytes, in each pass.
  // Attention stays in 16 bits.
  strategy.precision = Precision::fp8;
  EXPECT_NEAR(cost().layer().forward[Cause::compute].count(),
              linears / 2.0 + attention + streaming + 7.0 * kMi * 5.0 / kMemory, 1e-12);
}

TEST_F(StageCostTest, EachRecipeCastsWithItsOwnTraffic) {
  strategy.precision = Precision::fp8;
  const double delayed = cost().layer().forward.total().count();
  strategy.scaling = Scaling::mxfp8;
  profile.device.recipe_cast_bytes[Scaling::mxfp8] = estimate(8.0);
  // 7 Mi elements as above, of 8 bytes instead of 5.
  EXPECT_NEAR(cost().layer().forward.total().count() - delayed, 7.0 * kMi * 3.0 / kMemory, 1e-12);
}

TEST_F(StageCostTest, FourBitProductsHaveTheirOwnPeak) {
  strategy.precision = Precision::fp4;
  strategy.scaling = Scaling::nvfp4;
  profile.device.peak_flops[Precision::fp4] = estimate(400e12);
  profile.device.gemm_efficiency[Precision::fp4] = estimate(0.5);
  profile.device.recipe_cast_bytes[Scaling::nvfp4] = estimate(0.0);
  EXPECT_NEAR(cost().layer().forward[Cause::compute].count(), linears / 4.0 + attention + streaming,
              1e-12);
}

TEST_F(StageCostTest, SequenceParallelRanksThatGatherEightBitsQuantiseBefore) {
  strategy.precision = Precision::fp8;
  strategy.tensor_parallel = 2;
  const double products = linears / 4.0 + attention / 2.0;
  // Inputs of QKV and FC1 whole, of projection and FC2 a half: 1 + 0.5 + 1 + 2 Mi elements.
  EXPECT_NEAR(cost().layer().forward[Cause::compute].count(),
              products + (20.0 + 8.0) * kMi / kMemory + 4.5 * kMi * 5.0 / kMemory, 1e-12);
  // What is gathered in 16 bits they cast whole, what is gathered in 8 each a half of.
  strategy.sequence_parallel = true;
  EXPECT_NEAR(cost().layer().forward[Cause::compute].count(),
              products + (10.0 + 8.0) * kMi / kMemory + 4.5 * kMi * 5.0 / kMemory, 1e-12);
  strategy.quantised_tensor_gathers = true;
  EXPECT_NEAR(cost().layer().forward[Cause::compute].count(),
              products + (10.0 + 8.0) * kMi / kMemory + 3.5 * kMi * 5.0 / kMemory, 1e-12);
}

TEST_F(StageCostTest, IsNeverBelowTheRoofline) {
  profile.device.gemm_efficiency[Precision::bf16] = estimate(1.0);
  profile.device.attention_efficiency = estimate(5.0);
  for (const int tensor : {1, 2, 4, 8}) {
    strategy.tensor_parallel = tensor;
    const StageCost stage = cost();
    const double least = (24.0 + 2.0) * kGi / tensor / 100e12;
    EXPECT_GE(stage.layer().forward[Cause::compute].count(), least);
    EXPECT_GE(stage.layer().backward[Cause::compute].count(), 2.0 * least);
  }
}

TEST_F(StageCostTest, TheSpreadOfIndependentPartsAddsUpAsSquares) {
  // Only products vary, all by 3 %: 12 of them. Forward n equal parts would leave 3 % / sqrt(n);
  // here parts are of 6, 2, 8 and 8 and twice each of them backward.
  profile.device.attention_efficiency = estimate(0.5);
  profile.device.attention_backward = estimate(0.8);
  profile.device.memory_efficiency = estimate(0.5);
  const StageCost stage = cost();
  const double squares = 3.0 * (36.0 + 4.0 + 64.0 + 64.0);
  const double parts = 0.03 * std::sqrt(squares) * kGi / kRate;
  const double all = (stage.layer().forward + stage.layer().backward)[Cause::compute].count();
  EXPECT_NEAR(stage.spread, parts / all, 1e-9);
}

TEST_F(StageCostTest, GradientsOfWeightsAreAPartOfTheBackwardPass) {
  EXPECT_NEAR(cost().layer().weight.total().count(), linears, 1e-12);
  EXPECT_NEAR(cost().head_weight.total().count(), 64.0 * kGi / kRate, 1e-12);
  strategy.task = Task::lora;
  EXPECT_EQ(cost().head_weight.total(), 0_s);
}

TEST_F(StageCostTest, PackedDocumentsAttendToThemselvesOnly) {
  // Four documents of 256: a quarter of the operations, at 50 TFLOP/s / (1 + 1,024 / 256).
  strategy.packed_length = 256;
  EXPECT_NEAR(cost().layer().forward[Cause::compute].count(),
              linears + 0.5 * kGi / (kRate / 5.0) + streaming, 1e-12);
}

TEST_F(StageCostTest, WhereAdaptersAreTrainedFrozenProductsHaveNoWeightGradient) {
  // Adapters of rank 16 beside QKV (1,024 x 3,072) are bound by memory, 2 bytes an element, in
  // each pass: A moves 1,024 x (1,024 + 16 + 16), B 1,024 x (3,072 + 16) + 16 x 3,072. Their sum
  // moves three times 1,024 x 3,072 forward, 1,024 x 1,024 backward.
  strategy.task = Task::lora;
  strategy.lora_rank = 16;
  const double narrow = 2.0 * (4.0 * kMi + 32.0 * 1024.0 + 64.0 * 1024.0) / kMemory;
  const StageCost stage = cost();
  EXPECT_NEAR(stage.layer().forward[Cause::compute].count(),
              linears + attention + streaming + narrow + 18.0 * kMi / kMemory, 1e-12);
  EXPECT_NEAR(
      stage.layer().backward[Cause::compute].count(),
      linears + 2.5 / 0.8 * attention + 2.0 * streaming + 2.0 * narrow + 6.0 * kMi / kMemory,
      1e-12);
  EXPECT_NEAR(stage.head_backward.total().count(), 64.0 * kGi / kRate + 12.0 * 32.0 * kMi / kMemory,
              1e-12);
  EXPECT_EQ(stage.embedding_backward.total(), 0_s);
}

TEST_F(StageCostTest, AnUnknownKernelFamilyIsABug) {
  strategy.kernel_family = "none";
  EXPECT_THROW(static_cast<void>(cost()), InternalError);
}

}  // namespace
}  // namespace headway
