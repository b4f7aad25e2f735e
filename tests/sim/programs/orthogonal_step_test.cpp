// What Muon adds to a step: matrices made orthogonal, and gathered where ranks hold slices of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/programs/pieces/optimizer_step.h"
#include "sim/programs/pieces/stage_pieces.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

/// Four layers of four matrices, a second for each, on ranks that share out the optimizer; an
/// update of a parameter of the layers takes 1 s, one of embedding and head 3 s.
SmallJob muon_on(int ranks, Sharding sharding) {
  SmallJob job(4);
  job.strategy.optimizer = &*std::ranges::find(optimizers(), "muon", &Optimizer::name);
  job.strategy.data_parallel = ranks;
  job.strategy.sharding = sharding;
  job.strategy.overlap_parameter_gather = sharding != Sharding::none;
  job.set_micro_batches(1);
  job.cost.layers[0].orthogonal.shared = 4_s;
  return job;
}

JobShape shape_of(const SmallJob& job) {
  JobShape shape = job.shape();
  shape.optimizer_seconds_per_parameter = 1.0;
  shape.end_seconds_per_parameter = 3.0;
  return shape;
}

StepWork work_of(const JobShape& shape) {
  StepWork work;
  for (const Piece& piece : chunk_pieces(shape, 0)) work += step_work(shape, piece);
  return work;
}

double step_seconds(const SmallJob& job) {
  const JobShape shape = shape_of(job);
  return step_time(shape, work_of(shape))[Cause::optimizer].count();
}

/// Transfers that are joined right before the optimizer's step.
int gathered_before_step(const SmallJob& job) {
  const JobShape shape = shape_of(job);
  const Program program =
      job.strategy.sharding == Sharding::full ? sharded_program(shape) : pipeline_program(shape, 0);
  const auto is_step = [&](const Operation& operation) {
    return operation.kind == OperationKind::compute &&
           program.blocks[static_cast<std::size_t>(operation.block)].name == "optimizer";
  };
  const auto step = std::ranges::find_if(program.operations, is_step);
  EXPECT_NE(step, program.operations.end());
  int joined = 0;
  for (auto before = step; before != program.operations.begin();) {
    --before;
    if (before->kind == OperationKind::compute) break;
    if (before->kind != OperationKind::join) continue;
    const std::string& name = program.communicators[static_cast<std::size_t>(before->path)];
    if (name == kParameterGather) ++joined;
  }
  return joined;
}

TEST(OrthogonalStep, KnowsWhatTheLayersHold) {
  const SmallJob job = muon_on(1, Sharding::none);
  const StepWork work = work_of(shape_of(job));
  EXPECT_DOUBLE_EQ(work.in_layers(), 4000.0);
  EXPECT_DOUBLE_EQ(work.ends, 20.0);
  EXPECT_DOUBLE_EQ(work.matrices, 16.0);
  EXPECT_EQ(work.orthogonal.shared, 16_s);
}

TEST(OrthogonalStep, IsWholeWhereNothingIsSharedOut) {
  EXPECT_DOUBLE_EQ(step_seconds(muon_on(4, Sharding::none)), 4000.0 + 3.0 * 20.0 + 16.0);
  EXPECT_EQ(gathered_before_step(muon_on(4, Sharding::none)), 0);
}

// A quarter of 16 matrices begins and ends within one: five are touched at most.
TEST(OrthogonalStep, OfSlicesTouchesOneMatrixMore) {
  EXPECT_DOUBLE_EQ(step_seconds(muon_on(4, Sharding::optimizer)), 1000.0 + 3.0 * 5.0 + 5.0);
  EXPECT_DOUBLE_EQ(step_seconds(muon_on(4, Sharding::full)), 1000.0 + 3.0 * 5.0 + 5.0);
  // 64 ranks: a quarter of a matrix each, which may lie in two.
  EXPECT_DOUBLE_EQ(step_seconds(muon_on(64, Sharding::optimizer)), 4060.0 / 64.0 + 1.25);
}

TEST(OrthogonalStep, OfWholeTensorsIsThatOfTheFullestRank) {
  SmallJob job = muon_on(3, Sharding::optimizer);
  job.strategy.optimizer_shards = OptimizerShards::tensors;
  EXPECT_DOUBLE_EQ(step_seconds(job), 4060.0 / 3.0 + 6.0);
  EXPECT_EQ(gathered_before_step(job), 0);
  job = muon_on(64, Sharding::optimizer);
  job.strategy.optimizer_shards = OptimizerShards::tensors;
  EXPECT_DOUBLE_EQ(step_seconds(job), 4060.0 / 64.0 + 1.0);
}

TEST(OrthogonalStep, GathersSlicesOfMatricesBefore) {
  EXPECT_EQ(gathered_before_step(muon_on(4, Sharding::optimizer)), 1);
  EXPECT_EQ(gathered_before_step(muon_on(4, Sharding::full)), 1);
  EXPECT_EQ(gathered_before_step(muon_on(1, Sharding::optimizer)), 0);
  SmallJob adam = muon_on(4, Sharding::optimizer);
  adam.strategy.optimizer = optimizers().data();
  EXPECT_EQ(gathered_before_step(adam), 0);
}

}  // namespace
}  // namespace headway
