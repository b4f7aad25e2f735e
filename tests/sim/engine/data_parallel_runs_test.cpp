#include <gtest/gtest.h>

#include "hand_workload.h"
#include "sim/result/breakdown.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

/// Two replicas of 4 layers, 2 micro-batches: 24 s of work. Buckets in the order in which their
/// gradients are ready: head and layer 4 (1,010 parameters), layers 3 and 2 (1,000), layer 1 and
/// embedding (1,010). A ring of two moves each gradient once (2 x 1/2): 4,000 bytes a layer.
SmallJob replicas(double bytes_per_second) {
  SmallJob job(4);
  job.strategy.data_parallel = 2;
  job.set_micro_batches(2);
  job.reduce.rate_cap = BytesPerSecond(bytes_per_second);
  job.gather.rate_cap = BytesPerSecond(bytes_per_second);
  return job;
}
constexpr double kWork = 24.0;

struct Outcome {
  double seconds = 0.0;
  double exposed = 0.0;
  double lost = 0.0;
};

Outcome outcome(const SmallJob& job, const Perturbation& perturbation = {}) {
  const Workload workload = job.workload();
  const Timeline timeline = simulate_workload(workload, Topology(), perturbation);
  const TimeByCause time = group_breakdown(workload, timeline, critical_group(workload, timeline));
  EXPECT_NEAR(time.total().count(), timeline.finish, 1e-9 * timeline.finish);
  return {timeline.finish, time[Cause::data_parallel_exposed].count(),
          time[Cause::straggler_wait].count()};
}

TEST(DataParallelRuns, OnlyTheLastBucketIsSeenWhenReducingIsFast) {
  // 1 s a layer, under 2 s of backward pass: the last bucket's 1.01 s are left.
  const Outcome fast = outcome(replicas(4000.0));
  EXPECT_DOUBLE_EQ(fast.seconds, kWork + 1.01);
  EXPECT_NEAR(fast.exposed, 1.01, 1e-12);
}

TEST(DataParallelRuns, BucketsQueueUpWhenReducingIsSlow) {
  // 3 s a layer. Relative to the start of the last backward pass buckets are ready at 2, 4, 6 and
  // 8; they end at 2 + 3.03, 8.03, 11.03 and 14.06, which is 6.06 s after the backward pass.
  EXPECT_NEAR(outcome(replicas(4000.0 / 3.0)).seconds, kWork + 6.06, 1e-12);
}

TEST(DataParallelRuns, LargerBucketsHideLess) {
  // At least 8,000 bytes a bucket: head with layers 4 and 3 (2,010 parameters), then layers 2 and 1
  // with the embedding (2,010), of which 2.01 s are left.
  SmallJob job = replicas(4000.0);
  job.strategy.gradient_bucket = Bytes(8000.0);
  EXPECT_NEAR(outcome(job).seconds, kWork + 2.01, 1e-12);
  job.strategy.gradient_bucket = 1_GB;  // one bucket: all of it
  EXPECT_NEAR(outcome(job).seconds, kWork + 4.02, 1e-12);
}

TEST(DataParallelRuns, WithoutOverlapEverythingIsSeen) {
  SmallJob job = replicas(4000.0);
  job.strategy.overlap_gradient_reduce = false;
  const Outcome all = outcome(job);
  EXPECT_NEAR(all.seconds, kWork + 4.02, 1e-12);
  EXPECT_NEAR(all.exposed, 4.02, 1e-12);
}

TEST(DataParallelRuns, WhatNeverHidesComesOnTop) {
  // A quarter of all: 1.005 s, and three quarters of the last bucket: 0.7575 s.
  SmallJob job = replicas(4000.0);
  job.never_hidden = 0.25;
  EXPECT_NEAR(outcome(job).seconds, kWork + 0.7575 + 1.005, 1e-12);
}

TEST(DataParallelRuns, AShardedOptimizerGathersAheadOfTheFirstPass) {
  // Reduce-scatter and all-gather among two move half: 0.5 s a layer of gradients, of which the
  // last bucket's 0.505 s are seen; 0.25 s a layer of 2-byte parameters, of which the first piece's
  // 0.2525 s.
  SmallJob job = replicas(4000.0);
  job.strategy.sharding = Sharding::optimizer;
  EXPECT_NEAR(outcome(job).seconds, 0.2525 + kWork + 0.505, 1e-12);
  // A quarter never hides: of 1.005 s of gathering and 2.01 s of reducing.
  job.never_hidden = 0.25;
  EXPECT_NEAR(outcome(job).seconds,
              0.25 * 1.005 + 0.75 * 0.2525 + kWork + 0.75 * 0.505 + 0.25 * 2.01, 1e-12);
  job.never_hidden = 0.0;
  job.strategy.overlap_parameter_gather = false;
  EXPECT_NEAR(outcome(job).seconds, kWork + 0.505 + 1.005, 1e-12);
}

TEST(DataParallelRuns, AShardedOptimizerGathersAsTheLayersAreNeeded) {
  // At 500 B/s a gather takes 2 s a layer, more than its forward pass: parameters come at 2.02,
  // 4.02, 6.02 and 8.04 s, and the first pass ends 1 s later. A reduction takes 4 s: of buckets
  // ready at 2, 4, 6 and 8 s the last ends at 2 + 4.04 + 4 + 4 + 4.04 = 18.08.
  SmallJob job = replicas(500.0);
  job.strategy.sharding = Sharding::optimizer;
  const double first_forward = 8.04 + 1.0;
  EXPECT_NEAR(outcome(job).seconds, first_forward + (kWork - 4.0) + 10.08, 1e-12);
}

TEST(DataParallelRuns, WholeTensorsAreReducedEverywhereAndBroadcast) {
  // An all-reduce among two moves each gradient once: 1 s a layer, of the last bucket 1.01 s are
  // seen. A broadcast moves each parameter once: 0.5 s a layer, of the first piece 0.505 s.
  SmallJob job = replicas(4000.0);
  job.strategy.sharding = Sharding::optimizer;
  job.strategy.optimizer_shards = OptimizerShards::tensors;
  EXPECT_NEAR(outcome(job).seconds, 0.505 + kWork + 1.01, 1e-12);
  job.strategy.overlap_parameter_gather = false;
  EXPECT_NEAR(outcome(job).seconds, kWork + 1.01 + 2.01, 1e-12);
}

/// One micro-batch, 0.5 s forward and 1 s backward a layer, 6 s of work. A gather moves 2 bytes x
/// 1/2, so 1 s a layer at 1 kB/s; a reduction 4 x 1/2, so 2 s. Ends have 1 % more.
SmallJob fully_sharded() {
  SmallJob job = replicas(1000.0);
  job.set_micro_batches(1);
  job.strategy.sharding = Sharding::full;
  job.cost.layers[0].forward[Cause::compute] = 0.5_s;
  job.cost.layers[0].backward[Cause::compute] = 1_s;
  return job;
}

TEST(DataParallelRuns, FullShardingGathersOneLayerAhead) {
  // Forward: gathers follow each other and end at 1.01, 2.01, 3.01, 4.02; the last layer then takes
  // 0.5 s: 4.52. Backward: layer 4 is there, until 5.52, and layer 3 comes meanwhile, until 6.52.
  // From 5.52 on the queue holds the reduction of 4, until 7.54, and the gather of 2, until 8.54;
  // from 6.52 on that of 3, until 10.54, and the gather of 1, until 11.55. Layer 2 is through at
  // 9.54, its reduction at 13.55; layer 1 at 12.55, its own at 15.57.
  const Outcome sharded = outcome(fully_sharded());
  EXPECT_NEAR(sharded.seconds, 15.57, 1e-12);
  EXPECT_NEAR(sharded.exposed, 15.57 - 6.0, 1e-12);
}

TEST(DataParallelRuns, FullShardingMayIssueEveryRanksPartOfEveryMatrix) {
  // Of two ranks 10 ms a part: four matrices a layer, embedding and head, 18 x 2 x 0.01 s a
  // collective. Gathered forward, gathered and reduced backward; kept, gathered once.
  SmallJob job = fully_sharded();
  job.reduce.rate_cap = BytesPerSecond(1e18);
  job.gather.rate_cap = BytesPerSecond(1e18);
  job.cost.sharded_part = Seconds(0.01);
  const Outcome parts = outcome(job);
  EXPECT_NEAR(parts.seconds, 6.0 + 3 * 0.36, 1e-9);
  EXPECT_NEAR(parts.exposed, 3 * 0.36, 1e-9);
  job.strategy.reshard_after_forward = false;
  EXPECT_NEAR(outcome(job).seconds, 6.0 + 2 * 0.36, 1e-9);
}

TEST(DataParallelRuns, FullShardingWithoutBackwardPrefetchGathersBehindReductions) {
  // Forward as above, until 4.52. Backward: layer 4 until 5.52, then three times the reduction
  // before, gather and pass: 2.02 + 1 + 1, 2 + 1 + 1 and 2 + 1.01 + 1; the last reduction takes
  // 2.02.
  SmallJob job = fully_sharded();
  job.strategy.overlap_parameter_gather = false;
  EXPECT_NEAR(outcome(job).seconds, 5.52 + 4.02 + 4.0 + 4.01 + 2.02, 1e-12);
  // That leaves nothing for reductions to overlap.
  job.strategy.overlap_gradient_reduce = false;
  EXPECT_NEAR(outcome(job).seconds, 5.52 + 4.02 + 4.0 + 4.01 + 2.02, 1e-12);
}

/// The same with reductions of half a second a layer.
SmallJob quickly_reduced() {
  SmallJob job = fully_sharded();
  job.reduce.rate_cap = BytesPerSecond(4000.0);
  return job;
}

TEST(DataParallelRuns, ParametersThatStayAreGatheredOnce) {
  // Queued as above: the reduction of 4 until 6.025, the gather of 2 until 7.025, the reduction of
  // 3 until 7.525, the gather of 1 until 8.535; a pass and its reduction of 0.505 s follow.
  SmallJob job = quickly_reduced();
  EXPECT_NEAR(outcome(job).seconds, 8.535 + 1.0 + 0.505, 1e-12);
  // Forward until 4.52, then 4 s without a wait.
  job.strategy.reshard_after_forward = false;
  EXPECT_NEAR(outcome(job).seconds, 8.52 + 0.505, 1e-12);
}

TEST(DataParallelRuns, CopiesAddUpWhatTheirGroupsHaveReduced) {
  // Two groups of two. Forward until 4.52; backward passes end at 5.52, 6.52, 7.52 and 8.52. Sums
  // over both copies move 4 bytes x 1/2 of a layer, 1 s (1.01 at the ends), and start when the next
  // pass is through: that of layer 4 at 6.52, then one after the other until 7.53, 8.53 and 9.53;
  // layer 1, reduced by 9.025, until 10.54.
  SmallJob job = quickly_reduced();
  job.strategy.reshard_after_forward = false;
  job.strategy.data_parallel = 4;
  job.strategy.shard_group = 2;
  job.set_micro_batches(1);
  job.copies.rate_cap = BytesPerSecond(2000.0);
  EXPECT_NEAR(outcome(job).seconds, 10.54, 1e-12);
  // Without overlap: 4 s of backward pass, 2.01 s of reductions, 4.02 s of sums.
  job.strategy.overlap_gradient_reduce = false;
  EXPECT_NEAR(outcome(job).seconds, 4.52 + 4.0 + 2.01 + 4.02, 1e-12);
}

TEST(DataParallelRuns, CopiesOfWholeParametersOnlyAddUp) {
  // Groups of one gather nothing: 6 s of work. Sums move 4 bytes of a layer, 2 s (2.02 at the
  // ends): from 4, when layer 3 is through, 6.02, 8.02 and 10.02 until 12.04.
  SmallJob job = quickly_reduced();
  job.strategy.shard_group = 1;
  job.copies.rate_cap = BytesPerSecond(2000.0);
  EXPECT_NEAR(outcome(job).seconds, 12.04, 1e-12);
}

TEST(DataParallelRuns, ComputeAndTransfersSlowEachOtherDown) {
  // By half of the shorter: layers 1 to 3 take 0.75 s forward, beside gathers of a second or more,
  // and still end before the next gather does: 4.52. Backward, beside reductions of 0.505, 0.5 and
  // 0.5 s: 1, 1.2525, 1.25 and 1.25 s. The last reduction is left.
  SmallJob job = quickly_reduced();
  job.strategy.reshard_after_forward = false;
  job.interference = 0.5;
  EXPECT_NEAR(outcome(job).seconds, 4.52 + 4.7525 + 0.505, 1e-12);
  // With resharding, beside gathers of 1, 1 and 1.01 s too: 1.5 s each from layer 4, until 6.02, to
  // layer 2. Its parameters come behind the reduction of 4 at 7.525, those of layer 1 behind that
  // of 3 at 9.035; a pass of 1.25 s and its reduction follow.
  job.strategy.reshard_after_forward = true;
  EXPECT_NEAR(outcome(job).seconds, 9.035 + 1.25 + 0.505, 1e-12);
  // Nothing runs beside a backward pass where nothing overlaps: 4 + 3.01 + 2.01 s.
  job.strategy.overlap_parameter_gather = job.strategy.overlap_gradient_reduce = false;
  EXPECT_NEAR(outcome(job).seconds, 4.52 + 4.0 + 3.01 + 2.01, 1e-12);
}

TEST(DataParallelRuns, ShardedGradientsAreReducedEveryMicroBatch) {
  // A reduce-scatter of the last bucket, 0.505 s, is left after each of two; parameters, 1.005 s,
  // are gathered after the step.
  SmallJob job = replicas(4000.0);
  job.strategy.sharding = Sharding::gradients;
  job.strategy.overlap_parameter_gather = false;
  EXPECT_NEAR(outcome(job).seconds, kWork + 2.0 * 0.505 + 1.005, 1e-12);
  job.never_hidden = 0.25;  // of 2.01 s, twice
  EXPECT_NEAR(outcome(job).seconds, kWork + 2.0 * (0.75 * 0.505 + 0.25 * 2.01) + 1.005, 1e-12);
  job.strategy.overlap_gradient_reduce = false;
  EXPECT_NEAR(outcome(job).seconds, kWork + 2.0 * 2.01 + 1.005, 1e-12);
}

TEST(DataParallelRuns, OneSlowAcceleratorSlowsAllReplicas) {
  // 1.5 times slower it needs 36 s; the other replica waits for it in every bucket, and the last
  // one takes its 1.01 s. The slow rank itself waits for nobody.
  const Outcome slow = outcome(replicas(4000.0), {.slow_accelerators = {{1, 1.5}}});
  EXPECT_NEAR(slow.seconds, 36.0 + 1.01, 1e-12);
  EXPECT_NEAR(slow.lost, 12.0, 1e-12);
  EXPECT_NEAR(slow.exposed, 1.01, 1e-12);
}

TEST(DataParallelRuns, AnAcceleratorSlowsTheGroupItComputesWith) {
  SmallJob job = replicas(4000.0);
  Workload workload = job.workload();
  workload.groups[1].accelerators = {4, 5, 6, 7};
  const Timeline timeline =
      simulate_workload(workload, Topology(), {.slow_accelerators = {{6, 1.5}}});
  EXPECT_NEAR(timeline.finish, 36.0 + 1.01, 1e-12);
}

}  // namespace
}  // namespace headway
