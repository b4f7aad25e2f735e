#include "tests/sim/programs/stage_costs/stage_cost_fixture.h"

namespace headway {
namespace {

/// What the ranks of a layer exchange inside it.
class LayerExchange : public StageCostTest {};

TEST_F(LayerExchange, TensorParallelismSplitsTheWorkAndExchangesTheLayersInput) {
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

TEST_F(LayerExchange, CollectivesOfTheBackwardPassRunBesideProductsThatDoNotWaitForThem) {
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

TEST_F(LayerExchange, GathersMayCarryWhatWasQuantised) {
  // Two ranks gather 1 MiB each in 16 bits and reduce as much: (2 MiB + 2 MiB) / 400 GB/s a pass.
  // In 8 bits half of the first.
  strategy.tensor_parallel = 2;
  strategy.sequence_parallel = true;
  strategy.precision = Precision::fp8;
  for (const Scaling scaling : {Scaling::rowwise, Scaling::mxfp8}) {
    profile.device.recipe_cast_bytes[scaling] = estimate(6.0);
  }
  const auto exchanged = [&] {
    const LayerCost layer = cost().layer();
    EXPECT_EQ(layer.forward[Cause::tensor_parallel], layer.backward[Cause::tensor_parallel]);
    return layer.forward[Cause::tensor_parallel].count();
  };
  EXPECT_NEAR(exchanged(), 4.0 * kMi / 400e9, 1e-15);
  strategy.quantised_tensor_gathers = true;
  EXPECT_NEAR(exchanged(), 3.0 * kMi / 400e9, 1e-15);

  // MXFP8 has a byte of scale for 32 elements.
  strategy.scaling = Scaling::mxfp8;
  EXPECT_NEAR(exchanged(), (2.0 + 1.0 + 1.0 / 32.0) * kMi / 400e9, 1e-15);

  // A scale a row is applied behind the gather, and adapters read 16 bits.
  strategy.scaling = Scaling::rowwise;
  EXPECT_NEAR(exchanged(), 4.0 * kMi / 400e9, 1e-15);
  strategy.scaling = Scaling::delayed;
  strategy.task = Task::lora;
  strategy.lora_rank = 8;
  strategy.lora_targets = {AdapterTarget::projection};
  EXPECT_NEAR(exchanged(), 4.0 * kMi / 400e9, 1e-15);
  strategy.task = Task::pretrain;

  // So in a backward pass that overlaps, whose gathers are all that it does not hide.
  strategy.overlap_tensor_parallel_backward = true;
  EXPECT_NEAR(cost().layer().backward[Cause::tensor_parallel].count(), 1.0 * kMi / 400e9, 1e-15);
}

TEST_F(LayerExchange, AWholeLossIsTakenOfGatheredLogits) {
  // Two ranks gather half of 1,024 tokens x 32,768 logits of 2 bytes each, 32 MiB at 400 GB/s, and
  // either takes the loss of all of them: 18 bytes a logit, where a half each would do.
  strategy.tensor_parallel = 2;
  const StageCost parts = cost();
  strategy.vocabulary_parallel_loss = false;
  const StageCost whole = cost();
  EXPECT_EQ(parts.head_forward[Cause::tensor_parallel], Seconds(0.0));
  EXPECT_NEAR(whole.head_forward[Cause::tensor_parallel].count(), 32.0 * kMi / 400e9, 1e-15);
  const auto more = [](const TimeByCause& a, const TimeByCause& b) {
    return (a[Cause::compute] - b[Cause::compute]).count();
  };
  EXPECT_NEAR(more(whole.head_forward, parts.head_forward), 3.0 * 32.0 * kMi / kMemory, 1e-12);
  EXPECT_NEAR(more(whole.head_backward, parts.head_backward), 6.0 * 32.0 * kMi / kMemory, 1e-12);
}

TEST_F(LayerExchange, AMeasuredCollectiveIsTakenAsItWasMeasured) {
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

TEST_F(LayerExchange, BeyondADomainEveryNicOfItWorks) {
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

TEST_F(LayerExchange, RingAttentionShowsWhatAttentionDoesNotCover) {
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

TEST_F(LayerExchange, RingAttentionHasOneNicOfARank) {
  // Nodes of one accelerator and two NICs, of 10 GB/s each: what goes round leaves by one.
  strategy.context_parallel = 2;
  profile.overlap.context_parallel_floor = estimate(0.25);
  cluster = {.nodes = 2, .accelerators = 1, .nics = 2, .nic_bandwidth = "10 GB/s"};
  EXPECT_NEAR(cost().layer().forward[Cause::context_parallel].count(),
              2.0 * kMi / 10e9 - 1.1 * attention / 2.0, 1e-12);
}

TEST_F(LayerExchange, SwappingTokensForHeadsTakesFourAllToAlls) {
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

TEST_F(LayerExchange, RanksThatShareANicShareItInRingAttentionToo) {
  // 2 accelerators a node on one NIC of 50 GB/s, four ranks around them: 3 blocks of 1 MiB at 25
  // GB/s, which their attention does not cover once it is a hundred times faster.
  strategy.context_parallel = 4;
  cluster = {.nodes = 2, .accelerators = 2, .nics = 1};
  profile.device.peak_flops[Precision::bf16] = estimate(1e19);
  profile.device.memory_bandwidth = estimate(1e19);
  const double expected = 3.0 * kMi / 25e9;
  EXPECT_NEAR(cost().layer().forward[Cause::context_parallel].count(), expected, 1e-5 * expected);
}

}  // namespace
}  // namespace headway
