#include "sim/programs/pipeline/short_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sim/base/signed_index.h"
#include "sim/programs/closed_form.h"
#include "sim/programs/pipeline/written_out.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

using testing::ElementsAre;

Strategy pipeline_of(int stages, int micro_batches) {
  Strategy strategy;
  strategy.pipeline_parallel = stages;
  strategy.global_batch = micro_batches;
  return strategy;
}

std::vector<int> numbers(const std::vector<PassBody>& bodies) {
  std::vector<int> numbers;
  for (const PassBody& body : bodies) numbers.push_back(body.number());
  return numbers;
}

/// Forward passes of the first stage: of micro-batch 0, then 1; then backward ones. Activations of
/// the only chunk arrive in slots 0 and 1, gradients in 2 and 3.
TEST(PassOrder, TellsWhatComesFromWhomAndGoesWhere) {
  const Strategy strategy = pipeline_of(2, 2);
  const PassOrder first = pass_order(strategy, 0);
  ASSERT_EQ(first.steps.size(), 4U);
  const PassStep& forward = first.steps[0];
  EXPECT_EQ(forward.received, -1);
  EXPECT_EQ(forward.sent, 0);
  EXPECT_EQ(forward.peer, 1);
  EXPECT_EQ(forward.path, kPathToNext);
  EXPECT_EQ(forward.message, 0);
  const PassStep& backward = first.steps[2];
  EXPECT_EQ(backward.received, 2);
  EXPECT_EQ(backward.sent, -1);
  const PassOrder last = pass_order(strategy, 1);  // one forward, one backward
  EXPECT_EQ(last.steps[1].sent, 2);
  EXPECT_EQ(last.steps[1].peer, -1);
  EXPECT_EQ(last.steps[1].path, kPathToPrevious);
  EXPECT_EQ(last.steps[1].message, 1);
  EXPECT_EQ(last.steps[2].received, 1);
}

/// A first forward pass (1) and others (0), backward passes (2) and a last one (3).
TEST(PassOrder, KnowsTheFirstAndTheLastPassOfAChunk) {
  EXPECT_THAT(numbers(pass_order(pipeline_of(2, 2), 0).bodies), ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(numbers(pass_order(pipeline_of(2, 3), 1).bodies), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(numbers(pass_order(pipeline_of(2, 1), 0).bodies), ElementsAre(1, 3));
}

/// Eight layers in four chunks: the embedding's, the head's, and two that are alike.
TEST(ChunkWorks, AreWorkedOutOnceForChunksThatAreAlike) {
  SmallJob job(8, 3);
  job.strategy.pipeline_parallel = 4;
  const JobShape shape = job.shape();
  ChunkWorks works(shape);
  EXPECT_EQ(&works.of(shape, 1), &works.of(shape, 2));
  EXPECT_NE(&works.of(shape, 0), &works.of(shape, 1));
  EXPECT_NE(&works.of(shape, 3), &works.of(shape, 2));
  EXPECT_EQ(works.of(shape, 1).pieces.size(), 2U);
  EXPECT_EQ(works.of(shape, 1).cost.forward.total(), 2_s);
}

/// The workload of a job with its programs in short.
Workload in_short(const SmallJob& job) {
  Workload workload = job.workload();
  const JobShape shape = job.shape();
  ChunkWorks works(shape);
  for (int stage = 0; stage < job.strategy.pipeline_parallel; ++stage) {
    Program& program = at(workload.programs, stage);
    const std::int32_t slots = program.message_slots;
    program = short_pipeline_program(
        shape, works, std::make_shared<const PassOrder>(pass_order(job.strategy, stage)), stage);
    program.message_slots = slots;
  }
  return workload;
}

void expect_the_same(const SmallJob& job) {
  const Workload whole = job.workload();
  const Workload brief = in_short(job);
  EXPECT_EQ(closed_form_time(brief, Topology()), closed_form_time(whole, Topology()));
  for (std::size_t stage = 0; stage < whole.programs.size(); ++stage) {
    const Program& program = whole.programs[stage];
    EXPECT_EQ(brief.programs[stage].communicators, program.communicators);
    EXPECT_LT(brief.programs[stage].operations.size(), program.operations.size());
    EXPECT_EQ(nominal_waiting(brief, Topology(), static_cast<std::int32_t>(stage)),
              nominal_waiting(whole, Topology(), static_cast<std::int32_t>(stage)));
  }
}

/// Under every schedule, however states are shared out and whatever overlaps.
TEST(ShortPrograms, TakeAsLongAsThoseThatAreWrittenOut) {
  for (const Schedule& schedule : schedules()) {
    SmallJob job(16, 3);
    job.strategy.schedule = &schedule;
    job.strategy.pipeline_parallel = 4;
    job.strategy.virtual_stages = schedule.interleaves() ? 2 : schedule.chunks;
    job.strategy.data_parallel = 2;
    job.set_micro_batches(8);
    job.cost.layers[0].weight[Cause::compute] = 1_s;
    for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::gradients}) {
      job.strategy.sharding = sharding;
      for (const bool overlaps : {false, true}) {
        job.strategy.overlap_gradient_reduce = overlaps;
        job.strategy.overlap_parameter_gather = overlaps;
        job.strategy.overlap_pipeline_transfers = overlaps;
        job.never_hidden = overlaps ? 0.25 : 0.0;
        SCOPED_TRACE(testing::Message() << schedule.name << ", ZeRO-" << static_cast<int>(sharding)
                                        << (overlaps ? ", overlapped" : ""));
        expect_the_same(job);
      }
    }
  }
}

/// Two stages of two chunks that are all alike but for their ends: what the last passes of a stage
/// join is waited for where the last of them joined it.
TEST(ShortPrograms, WaitForWhatWasJoinedLast) {
  SmallJob job(8, 3);
  job.strategy.pipeline_parallel = 2;
  job.strategy.virtual_stages = 4;
  job.strategy.data_parallel = 2;
  job.set_micro_batches(2);
  job.reduce.latency = 3_s;
  expect_the_same(job);
}

}  // namespace
}  // namespace headway
