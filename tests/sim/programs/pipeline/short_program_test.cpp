#include "sim/programs/pipeline/short_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/index.h"
#include "sim/programs/closed_form.h"
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
  EXPECT_EQ(forward.message, 0);
  EXPECT_EQ(first.ways[0].peer, 1);
  EXPECT_EQ(first.ways[0].path, kPathToNext);
  const PassStep& backward = first.steps[2];
  EXPECT_EQ(backward.received, 2);
  EXPECT_EQ(backward.sent, -1);
  const PassOrder last = pass_order(strategy, 1);  // one forward, one backward
  EXPECT_EQ(last.steps[1].sent, 2);
  EXPECT_EQ(last.steps[1].message, 1);
  EXPECT_EQ(last.ways[1].peer, -1);
  EXPECT_EQ(last.ways[1].path, kPathToPrevious);
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

/// The job with those programs, and with a communicator of its own for what each rank group
/// exchanges inside layers.
Workload with_programs(const SmallJob& job, const std::vector<Program>& programs) {
  SmallJob alone = job;
  alone.cost.layers[0].forward_flows = {};
  Workload workload = alone.workload();
  for (RankGroup& group : workload.groups) {
    const Program& plain = at(workload.programs, group.program);
    std::map<std::string, std::int32_t> named;
    for (std::size_t i = 0; i < group.communicators.size(); ++i) {
      named[plain.communicators[i]] = group.communicators[i];
    }
    const std::string exchange(communicator_of(ExchangeKind::tensor));
    named[exchange] = static_cast<std::int32_t>(workload.communicators.size());
    workload.communicators.push_back({.name = exchange,
                                      .members = 1,
                                      .plan = static_cast<std::int32_t>(workload.plans.size()),
                                      .cause = cause_of(ExchangeKind::tensor)});
    workload.plans.push_back({.latency = 0.25_s, .rate_cap = BytesPerSecond(1.0)});
    group.communicators.clear();
    for (const std::string& name : at(programs, group.program).communicators) {
      group.communicators.push_back(named.at(name));
    }
  }
  for (std::size_t stage = 0; stage < programs.size(); ++stage) {
    const std::int32_t slots = workload.programs[stage].message_slots;
    workload.programs[stage] = programs[stage];
    workload.programs[stage].message_slots = slots;
  }
  return workload;
}

Workload in_short(const SmallJob& job) {
  const JobShape shape = job.shape();
  ChunkWorks works(shape);
  std::vector<Program> programs;
  for (int stage = 0; stage < job.strategy.pipeline_parallel; ++stage) {
    programs.push_back(short_pipeline_program(
        shape, works, std::make_shared<const PassOrder>(pass_order(job.strategy, stage)), stage));
  }
  return with_programs(job, programs);
}

Workload written_out(const SmallJob& job) {
  std::vector<Program> programs;
  for (int stage = 0; stage < job.strategy.pipeline_parallel; ++stage) {
    programs.push_back(pipeline_program(job.shape(), stage));
  }
  return with_programs(job, programs);
}

void expect_the_same(const SmallJob& job) {
  const Workload whole = written_out(job);
  const Workload brief = in_short(job);
  const double seconds = closed_form_time(whole, Topology()).count();
  EXPECT_NEAR(closed_form_time(brief, Topology()).count(), seconds, 1e-12 * seconds);
  for (std::size_t stage = 0; stage < whole.programs.size(); ++stage) {
    const Program& program = whole.programs[stage];
    EXPECT_EQ(brief.programs[stage].communicators, program.communicators);
    EXPECT_LT(brief.programs[stage].operations.size(), program.operations.size());
    const auto group = static_cast<std::int32_t>(stage);
    EXPECT_NEAR(nominal_waiting(brief, Topology(), group).count(),
                nominal_waiting(whole, Topology(), group).count(), 1e-12 * seconds);
  }
}

/// Layers that send 2 B while they compute, and 3 B behind it.
void exchange_in_layers(SmallJob& job) {
  job.cost.layers[0].forward_flows.of[ExchangeKind::tensor] = {
      .hidden = 2_B, .hidden_time = 2_s, .seen = 3_B, .seen_time = 3_s};
}

/// Two stages of one layer each and two micro-batches. A forward pass computes for 1 s while 2 B
/// take 0.25 + 2 s, and waits 0.25 + 3 s for 3 B: 5.5 s. A backward pass takes 2 s. The second
/// stage begins after one forward pass; both have two, and the last gradient goes back through the
/// first stage: 3 x 5.5 + 3 x 2 s.
TEST(ShortPrograms, CountWhatRanksExchangeInLayers) {
  SmallJob job(2, 3);
  job.strategy.pipeline_parallel = 2;
  job.set_micro_batches(2);
  exchange_in_layers(job);
  EXPECT_NEAR(closed_form_time(in_short(job), Topology()).count(), 3.0 * 5.5 + 3.0 * 2.0, 1e-9);
  expect_the_same(job);
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
        if (overlaps) exchange_in_layers(job);
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
