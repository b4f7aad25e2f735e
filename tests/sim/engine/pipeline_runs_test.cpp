#include <gtest/gtest.h>

#include "hand_workload.h"
#include "sim/programs/closed_form.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

double seconds(const SmallJob& job, const Perturbation& perturbation = {}) {
  return simulate_workload(job.workload(), Topology(), perturbation).finish;
}

/// One layer a chunk, so that a stage has 3 s of work for each micro-batch and chunk.
SmallJob pipeline(int stages, int virtual_stages, int micro_batches) {
  SmallJob job(stages * virtual_stages);
  job.strategy.pipeline_parallel = stages;
  job.strategy.virtual_stages = virtual_stages;
  job.set_micro_batches(micro_batches);
  return job;
}

TEST(PipelineRuns, OneStageIsAllWork) { EXPECT_DOUBLE_EQ(seconds(pipeline(1, 1, 5)), 15.0); }

TEST(PipelineRuns, TheBubbleOfEqualStagesIsTheClosedForm) {
  // (p - 1) / (v m) of the work (Narayanan et al. 2021, section 2.2).
  for (const int stages : {2, 3, 4, 8}) {
    for (const int virtual_stages : {1, 2, 3, 4}) {
      for (const int groups : {1, 2, 5}) {
        const int micro_batches = groups * stages;
        const double work = 3.0 * virtual_stages * micro_batches;
        EXPECT_NEAR(seconds(pipeline(stages, virtual_stages, micro_batches)),
                    work * (1.0 + (stages - 1.0) / (virtual_stages * micro_batches)), 1e-9 * work)
            << stages << " stages, " << virtual_stages << " virtual, " << micro_batches;
      }
    }
  }
}

TEST(PipelineRuns, TheBubbleIsWhatEveryStageWaits) {
  // (p - 1) (f + b) of one chunk, whichever stage is asked.
  const SmallJob job = pipeline(4, 2, 8);
  const Workload workload = job.workload();
  for (std::int32_t stage = 0; stage < 4; ++stage) {
    EXPECT_NEAR(nominal_waiting(workload, Topology(), stage).count(), 3.0 * 3.0, 1e-9);
  }
}

TEST(PipelineRuns, FewerMicroBatchesThanStagesStillFollowIt) {
  EXPECT_DOUBLE_EQ(seconds(pipeline(8, 1, 1)), 3.0 * (1 + 7));
  EXPECT_DOUBLE_EQ(seconds(pipeline(8, 1, 3)), 3.0 * (3 + 7));
}

TEST(PipelineRuns, OneSlowStageSetsThePace) {
  // The last stage, s times slower, works without a gap from the moment the first activations are
  // there: (p - 1) f + m s (f + b) + (p - 1) b. A stage before it makes no difference to what the
  // slow one does once the pipeline is full.
  for (const int stages : {2, 4, 8}) {
    for (const int micro_batches : {1, 8, 32}) {
      for (const double factor : {1.0, 1.25, 3.0}) {
        const SmallJob job = pipeline(stages, 1, micro_batches);
        const Perturbation slow{.slow_accelerators = {{stages - 1, factor}}};
        EXPECT_NEAR(seconds(job, slow), 3.0 * (stages - 1) + 3.0 * factor * micro_batches, 1e-9)
            << stages << " stages, " << micro_batches << " micro-batches, factor " << factor;
      }
    }
  }
}

TEST(PipelineRuns, GPipeHasTheBubbleOfPlainOneForwardOneBackward) {
  for (const int stages : {2, 4, 7}) {
    for (const int micro_batches : {1, 3, 16}) {
      SmallJob job = pipeline(stages, 1, micro_batches);
      job.strategy.schedule = schedule_named("gpipe");
      EXPECT_DOUBLE_EQ(seconds(job), 3.0 * (micro_batches + stages - 1));
    }
  }
}

/// Of the 2 s of a layer's backward pass one is for gradients of the weights.
SmallJob split_pipeline(const Schedule* schedule, int stages, int micro_batches) {
  const bool there_and_back = schedule == schedule_named("zb_v");
  SmallJob job = pipeline(stages, there_and_back ? 2 : 1, micro_batches);
  job.strategy.schedule = schedule;
  job.cost.layers[0].weight[Cause::compute] = 1_s;
  return job;
}

TEST(PipelineRuns, SplitBackwardPassesHaveTheBubblesOfTheirPapers) {
  for (const int stages : {2, 4, 8}) {
    for (const int micro_batches : {2 * stages, 6 * stages}) {
      const auto run = [&](const Schedule* schedule) {
        return seconds(split_pipeline(schedule, stages, micro_batches));
      };
      const double work = 3.0 * micro_batches;
      // (p-1) (1 + 1 - 1); a forward pass for every stage before the last; (p/2-1) (3 + 2 - 3).
      EXPECT_NEAR(run(schedule_named("zb_h1")), work + stages - 1.0, 1e-9);
      EXPECT_NEAR(run(schedule_named("zb_v")), 2.0 * work + stages - 1.0, 1e-9);
      EXPECT_NEAR(run(schedule_named("dualpipe")), work + stages - 2.0, 1e-9);
    }
  }
}

TEST(PipelineRuns, BothCopiesOfADoubledPipelineReduceTogether) {
  // Two stages, a layer each, no bubble: 12 s. Each of them holds both layers; a layer's gradients
  // are summed up over two replicas and both copies: a ring of four moves 2 x 3/4 of 4,000 bytes (1
  // parameter in 100 more with the embedding or the head), 1.515 s at 4,000 bytes/s.
  SmallJob job = split_pipeline(schedule_named("dualpipe"), 2, 4);
  job.strategy.data_parallel = 2;
  job.set_micro_batches(4);
  job.reduce.rate_cap = BytesPerSecond(4000.0);
  job.strategy.overlap_gradient_reduce = false;
  EXPECT_NEAR(seconds(job), 12.0 + 1.515, 1e-9);
}

TEST(PipelineRuns, BothCopiesOfADoubledPipelineGatherTogether) {
  // As above, with a sharded optimizer: a reduce-scatter moves half as much, a gather a quarter of
  // it all, 3/4 of 2,020 bytes for each layer; neither hides. The stages join them crosswise.
  SmallJob job = split_pipeline(schedule_named("dualpipe"), 2, 4);
  job.strategy.data_parallel = 2;
  job.set_micro_batches(4);
  job.reduce.rate_cap = job.gather.rate_cap = BytesPerSecond(4000.0);
  job.strategy.overlap_gradient_reduce = false;
  job.strategy.sharding = Sharding::optimizer;
  job.never_hidden = 1.0;
  EXPECT_NEAR(seconds(job), 12.0 + 0.7575 + 0.37875, 1e-9);
  job.strategy.overlap_parameter_gather = false;
  EXPECT_NEAR(seconds(job), 12.0 + 0.7575 + 0.37875, 1e-9);
}

/// The accelerator of stage k in the only replica is number k.
Perturbation slow(int accelerator, double factor) {
  return {.slow_accelerators = {{accelerator, factor}}};
}

TEST(PipelineRuns, ASlowLastStageIsWaitedForEveryMicroBatch) {
  // It starts after p - 1 forward passes and is never without work from then on; behind it the last
  // gradient goes back through p - 1 stages: (p - 1) 3 s + m 1.5 x 3 s.
  for (const int stages : {2, 4, 8}) {
    for (const int micro_batches : {8, 32}) {
      EXPECT_DOUBLE_EQ(seconds(pipeline(stages, 1, micro_batches), slow(stages - 1, 1.5)),
                       3.0 * (stages - 1) + 4.5 * micro_batches);
    }
  }
}

TEST(PipelineRuns, AVerySlowStageHidesEverythingBehindIt) {
  // Three times slower, stage k takes 3 s forward and 6 s backward, no less than the 3 s that a
  // stage behind it takes for both: what stands behind is always done in time. k forward passes
  // come before its first and k backward passes after its last: k 3 s + m 9 s.
  for (const int stages : {2, 4, 6}) {
    for (int k = 0; k < stages; ++k) {
      EXPECT_DOUBLE_EQ(seconds(pipeline(stages, 1, 12), slow(k, 3.0)), 3.0 * k + 9.0 * 12)
          << "stage " << k << " of " << stages;
    }
  }
}

TEST(PipelineRuns, ABlockingTransferIsPaidByBothSides) {
  // 2 stages, 1 micro-batch, 0.5 s a transfer: 1 + 0.5 + 1 + 2 + 0.5 + 2.
  SmallJob job = pipeline(2, 1, 1);
  job.transfer.latency = 0.5_s;
  EXPECT_DOUBLE_EQ(seconds(job), 7.0);
  // With two micro-batches a sender that waits for the arrival starts its second pass 0.5 s later:
  // stage 0: F0 0-1, F1 1-2 | 1.5-2.5. Stage 1: F0 1.5-2.5, B0 2.5-4.5, F1 and B1 follow: 7.5 if
  // sends do not block; blocking, B0's gradient holds it up until 5: F1 5-6, B1 6-8. Stage 0 then
  // ends 0.5 + 2 s later.
  job.set_micro_batches(2);
  EXPECT_DOUBLE_EQ(seconds(job), 10.0);
  job.strategy.overlap_pipeline_transfers = false;
  EXPECT_DOUBLE_EQ(seconds(job), 10.5);
}

TEST(PipelineRuns, TheEmbeddingsOfTheTwoEndsAreAddedUp) {
  // p = 2, m = 2: stage 0 is through at 9 s, stage 1 at 7 s. 100 x 10 parameters of 4 bytes at 4
  // kB/s take 1 s, after the later of them.
  SmallJob job(2, 100);
  job.model.tied = true;
  job.strategy.pipeline_parallel = 2;
  job.set_micro_batches(2);
  job.embedding.rate_cap = BytesPerSecond(4000.0);
  EXPECT_DOUBLE_EQ(seconds(job), 10.0);
}

}  // namespace
}  // namespace headway
