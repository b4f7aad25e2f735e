#include "sim/workload/stage_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/base/diagnostic.h"
#include "tests/sim/cluster/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

constexpr double kMi = 1024.0 * 1024.0;
constexpr double kGi = 1024.0 * kMi;
constexpr double kRate = 50e12;     // bf16, half of the peak
constexpr double kMemory = 0.5e12;  // half of the bandwidth

/// One sequence of 1,024 tokens through a layer of 8 heads of 128, MLP of 4,096, on a device whose
/// products take 2 m n k / 50 TFLOP/s and nothing more.
class StageCostTest : public testing::Test {
 protected:
  StageCostTest() {
    model = {.layers = 4,
             .hidden = 1024,
             .attention_heads = 8,
             .kv_heads = 8,
             .head_size = 128,
             .ffn_hidden = 4096,
             .vocabulary = 32768};
    strategy.sequence_length = 1024;
    profile.device.gemm_quantisation = estimate(0.0);
    profile.device.gemm_inner_half = estimate(0.0);
    profile.device.gemm_overhead = estimate(0.0);
  }

  [[nodiscard]] StageCost cost() const {
    return stage_cost(model, strategy, profile, *cluster_of(cluster.text()));
  }

  TransformerModel model;
  Strategy strategy;
  Profile profile = round_profile();
  ClusterText cluster = {.nodes = 2, .accelerators = 8, .nics = 8};

  // Products, in Gi operations: 1,024 tokens x 1,024 x (3,072 + 1,024 + 4,096 + 4,096) x 2.
  const double linears = 24.0 * kGi / kRate;
  // 4 x 1,024^2 x 8 x 128 / 2 operations at 50 TFLOP/s / (1 + 1,024 / 1,024).
  const double attention = 2.0 * kGi / (kRate / 2.0);
  // Norms 20 x 1,024 and activation 4 x 4,096 bytes a token.
  const double streaming = (20.0 + 16.0) * kMi / kMemory;
};

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
  EXPECT_DOUBLE_EQ(with.layer().recompute[Cause::recompute].count(),
                   without.layer().forward.total().count());
  EXPECT_DOUBLE_EQ(with.layer().backward.total().count(), without.layer().backward.total().count());
}

TEST_F(StageCostTest, OtherRecomputationRunsThatPartAgain) {
  strategy.recompute = Recompute::activation;
  EXPECT_NEAR(cost().layer().recompute[Cause::recompute].count(), 16.0 * kMi / kMemory, 1e-15);
  // A fused kernel recomputes its scores by itself.
  strategy.recompute = Recompute::selective;
  EXPECT_EQ(cost().layer().recompute[Cause::recompute], 0_s);
  // Unfused: products over the whole square at a quarter of the peak, 10 bytes a score.
  strategy.fused_attention = false;
  EXPECT_NEAR(cost().layer().recompute[Cause::recompute].count(),
              4.0 * kGi / 25e12 + 8.0 * kMi * 10.0 / kMemory, 1e-12);
}

TEST_F(StageCostTest, ModulesAreRecomputedWithAllThatTheyCover) {
  // FC1 and FC2: 8 Gi operations each; the activation function between them.
  strategy.recompute = Recompute::modules;
  strategy.recompute_modules = {RecomputeModule::mlp};
  const double mlp = 16.0 * kGi / kRate + 16.0 * kMi / kMemory;
  EXPECT_NEAR(cost().layer().recompute.total().count(), mlp, 1e-12);
  // Two norms of 4 of the 20 bytes a channel.
  strategy.recompute_modules = {RecomputeModule::layernorm, RecomputeModule::mlp};
  EXPECT_NEAR(cost().layer().recompute.total().count(), mlp + 8.0 * kMi / kMemory, 1e-12);
  strategy.recompute_modules = {RecomputeModule::core_attn};
  EXPECT_NEAR(cost().layer().recompute.total().count(), attention, 1e-12);
  // The MLP has one of the two exchanges.
  strategy.recompute_modules = {RecomputeModule::mlp};
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

TEST_F(StageCostTest, TensorParallelismSplitsTheWorkAndExchangesTheLayersInput) {
  // Two ranks all-reduce 2 MiB twice a pass: 2 x (7 us + 2 steps x 3 us + 2 MiB / 400 GB/s).
  strategy.tensor_parallel = 2;
  profile.scale_up.latency = estimate(3e-6);
  profile.scale_up.overhead = estimate(7e-6);
  const double all_reduce = 7e-6 + 2 * 3e-6 + 2.0 * kMi / 400e9;
  StageCost split = cost();
  EXPECT_NEAR(split.layer().forward[Cause::tensor_parallel].count(), 2.0 * all_reduce, 1e-15);
  EXPECT_NEAR(split.layer().backward[Cause::tensor_parallel].count(), 2.0 * all_reduce, 1e-15);
  // Norms are not split.
  EXPECT_NEAR(split.layer().forward[Cause::compute].count(),
              linears / 2.0 + attention / 2.0 + (20.0 + 8.0) * kMi / kMemory, 1e-12);

  // With sequence parallelism norms are, and an all-gather and a reduce-scatter, launched one by
  // one, do the same.
  strategy.sequence_parallel = true;
  split = cost();
  EXPECT_NEAR(split.layer().forward[Cause::tensor_parallel].count(), 2.0 * (all_reduce + 7e-6),
              1e-15);
  EXPECT_NEAR(split.layer().forward[Cause::compute].count(),
              linears / 2.0 + attention / 2.0 + (10.0 + 8.0) * kMi / kMemory, 1e-12);

  strategy.tensor_parallel_overlap = true;
  profile.overlap.tensor_parallel_overlapped = estimate(0.4);
  EXPECT_NEAR(cost().layer().forward[Cause::tensor_parallel].count(),
              0.4 * 2.0 * (all_reduce + 7e-6), 1e-15);
}

TEST_F(StageCostTest, CollectivesOfTheBackwardPassRunBesideProductsThatDoNotWaitForThem) {
  strategy.tensor_parallel = 2;
  strategy.overlap_tensor_parallel_backward = true;
  profile.overlap.sharded_interference = estimate(0.25);
  profile.scale_up.overhead = estimate(10e-6);
  // QKV and FC1: 2 x 1,024 x 1,024 x (3,072 + 4,096) / 2 operations for either gradient.
  const double columns = 7.0 * kGi / kRate;
  const double all_reduces = 2.0 * (10e-6 + 2.0 * kMi / 400e9);
  EXPECT_NEAR(cost().layer().forward[Cause::tensor_parallel].count(), all_reduces, 1e-15);
  EXPECT_NEAR(cost().layer().backward[Cause::tensor_parallel].count(), 0.25 * all_reduces, 1e-15);

  // Gradients that come in are gathered in sight; inputs again, beside the gradients of the data.
  strategy.sequence_parallel = true;
  const double gathers = 2.0 * (10e-6 + kMi / 400e9);
  EXPECT_NEAR(cost().layer().backward[Cause::tensor_parallel].count(), 1.5 * gathers, 1e-15);

  // Ten times as long as the products: what they do not cover is seen.
  profile.scale_up.overhead = estimate(5.0 * columns);
  const double slow = 2.0 * (5.0 * columns + kMi / 400e9);
  EXPECT_NEAR(cost().layer().backward[Cause::tensor_parallel].count(),
              slow + 2.0 * (slow - columns + 0.25 * columns), 1e-12);

  // Frozen matrices have no gradient of weights to run beside.
  strategy.sequence_parallel = false;
  strategy.task = Task::lora;
  strategy.lora_rank = 8;
  strategy.lora_targets = {AdapterTarget::projection};
  EXPECT_EQ(cost().layer().backward[Cause::tensor_parallel],
            cost().layer().forward[Cause::tensor_parallel]);
}

TEST_F(StageCostTest, AMeasuredCollectiveIsTakenAsItWasMeasured) {
  strategy.tensor_parallel = 2;
  MeasuredCollective measured{.kind = CollectiveKind::all_reduce, .ranks = 2};
  measured.curve.points = {{1_MB, 50_us}, {2_MiB, 70_us}, {100_MB, 1_ms}};
  profile.scale_up.collectives = {measured};
  EXPECT_NEAR(cost().layer().forward[Cause::tensor_parallel].count(), 2.0 * 70e-6, 1e-15);
  // It says nothing of links that are not those it was measured on.
  profile.scale_up.measured_bandwidth = 400_GBps;
  EXPECT_NEAR(cost().layer().forward[Cause::tensor_parallel].count(), 2.0 * 70e-6, 1e-15);
  profile.scale_up.measured_bandwidth = 200_GBps;
  EXPECT_NEAR(cost().layer().forward[Cause::tensor_parallel].count(), 4.0 * kMi / 400e9, 1e-15);
}

TEST_F(StageCostTest, BeyondADomainEveryNicOfItWorks) {
  // 16 ranks over two nodes of 8 NICs of 10 GB/s at 90 %: 2 x 15/16 x 2 MiB at 72 GB/s, 30 steps.
  model.attention_heads = 16;
  model.kv_heads = 16;
  strategy.tensor_parallel = 16;
  cluster.nic_bandwidth = "10 GB/s";
  profile.scale_out.bandwidth_efficiency = estimate(0.9);
  profile.scale_out.latency = estimate(1e-6);
  EXPECT_NEAR(cost().layer().forward[Cause::tensor_parallel].count(),
              2.0 * (30e-6 + 30.0 / 16.0 * 2.0 * kMi / 72e9), 1e-12);
  // The scale-up fabric may be the narrower one.
  cluster.scale_up_bandwidth = "20 GB/s";
  EXPECT_NEAR(cost().layer().forward[Cause::tensor_parallel].count(),
              2.0 * (30e-6 + 30.0 / 16.0 * 2.0 * kMi / 20e9), 1e-12);
}

TEST_F(StageCostTest, RingAttentionShowsWhatAttentionDoesNotCover) {
  // Two ranks of 512 tokens: keys and values of the other, 2 x 1,024 x 512 x 2 bytes = 2 MiB. Own
  // attention: 512 x 1,024 of the square, at 1.1 of the time.
  strategy.context_parallel = 2;
  profile.overlap.context_parallel_floor = estimate(0.25);
  profile.scale_up.latency = estimate(3e-6);
  profile.scale_up.overhead = estimate(7e-6);
  const double own = 1.1 * attention / 2.0;
  const double fast = 2.0 * kMi / 400e9;
  StageCost ring = cost();
  EXPECT_NEAR(ring.layer().forward[Cause::compute].count(), linears / 2.0 + own + streaming / 2.0,
              1e-12);
  EXPECT_NEAR(ring.layer().forward[Cause::context_parallel].count(), 10e-6 + 0.25 * fast, 1e-15);
  EXPECT_NEAR(ring.layer().backward[Cause::context_parallel].count(), 20e-6 + 0.5 * fast, 1e-15);
  cluster.scale_up_bandwidth = "10 GB/s";
  EXPECT_NEAR(cost().layer().forward[Cause::context_parallel].count(),
              10e-6 + 2.0 * kMi / 10e9 - own, 1e-12);
}

TEST_F(StageCostTest, SwappingTokensForHeadsTakesFourAllToAlls) {
  // Two ranks: each has 4 of 8 heads over all 1,024 tokens, half of attention without a factor for
  // split sequences. Of four tensors of 512 x 1,024 x 2 bytes half goes to the other rank, each way
  // and each pass: 0.5 MiB at 400 GB/s, one step of 3 us and 7 us of overhead.
  strategy.context_parallel = 2;
  strategy.context_parallel_method = ContextParallelMethod::all_to_all;
  profile.scale_up.latency = estimate(3e-6);
  profile.scale_up.overhead = estimate(7e-6);
  const double swaps = 4.0 * (10e-6 + 0.5 * kMi / 400e9);
  const StageCost layer = cost();
  EXPECT_NEAR(layer.layer().forward[Cause::compute].count(),
              linears / 2.0 + attention / 2.0 + streaming / 2.0, 1e-12);
  EXPECT_NEAR(layer.layer().forward[Cause::context_parallel].count(), swaps, 1e-15);
  EXPECT_NEAR(layer.layer().backward[Cause::context_parallel].count(), swaps, 1e-15);
}

TEST_F(StageCostTest, RanksThatShareANicShareItInRingAttentionToo) {
  // 2 accelerators a node on one NIC of 50 GB/s, four ranks around them: 3 blocks of 1 MiB at 25
  // GB/s, which their attention does not cover once it is a hundred times faster.
  strategy.context_parallel = 4;
  cluster = {.nodes = 2, .accelerators = 2, .nics = 1};
  profile.device.peak_flops[Precision::bf16] = estimate(1e19);
  profile.device.memory_bandwidth = estimate(1e19);
  const double expected = 3.0 * kMi / 25e9;
  EXPECT_NEAR(cost().layer().forward[Cause::context_parallel].count(), expected, 1e-5 * expected);
}

TEST_F(StageCostTest, TheHostShowsWhereItIsSlowerThanTheDevice) {
  // A fourth-power mean: equal times give 2^(1/4) of either; a host ten times slower hides the
  // device to 1 / 40,000.
  const double device = cost().layer().forward.total().count();
  KernelFamily& family = profile.kernel_families["fused"];
  family.host_per_layer = estimate(device);
  EXPECT_NEAR(cost().layer().forward.total().count(), std::pow(2.0, 0.25) * device, 1e-12);
  family.host_per_layer = estimate(10.0 * device);
  EXPECT_NEAR(cost().layer().forward.total().count() / (10.0 * device), 1.0, 1.0 / 39000.0);
  EXPECT_GT(cost().layer().forward[Cause::other].count(), 8.9 * device);
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
  EXPECT_THROW(static_cast<void>(cost()), InternalError);
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

TEST_F(StageCostTest, SequenceParallelRanksQuantiseBeforeTheyGather) {
  strategy.precision = Precision::fp8;
  strategy.tensor_parallel = 2;
  const double products = linears / 4.0 + attention / 2.0;
  // Inputs of QKV and FC1 whole, of projection and FC2 a half: 1 + 0.5 + 1 + 2 Mi elements.
  EXPECT_NEAR(cost().layer().forward[Cause::compute].count(),
              products + (20.0 + 8.0) * kMi / kMemory + 4.5 * kMi * 5.0 / kMemory, 1e-12);
  strategy.sequence_parallel = true;  // all of them a half
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

TEST_F(StageCostTest, TheOptimizerIsMemoryTraffic) {
  // 34 bytes a parameter it updates, 4 a parameter whose gradient enters the norm.
  EXPECT_DOUBLE_EQ(optimizer_time(profile, 1e9, 1e8).count(), (3.4e9 + 4e9) / kMemory);
}

}  // namespace
}  // namespace headway
