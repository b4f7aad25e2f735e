#include "sim/programs/stage_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "sim/programs/pieces/optimizer_step.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

using testing::ElementsAre;

std::vector<int> layers_of(const std::vector<Piece>& pieces) {
  std::vector<int> layers;
  for (const Piece& piece : pieces) layers.push_back(piece.layers);
  return layers;
}

std::vector<double> parameters_of(const std::vector<Piece>& pieces) {
  std::vector<double> parameters;
  for (const Piece& piece : pieces) parameters.push_back(piece.parameters);
  return parameters;
}

int count(const Program& program, OperationKind kind) {
  return static_cast<int>(std::ranges::count(program.operations, kind, &Operation::kind));
}

double seconds_of(const Program& program) {
  double seconds = 0.0;
  for (const Operation& operation : program.operations) {
    if (operation.kind != OperationKind::compute) continue;
    seconds += program.blocks[static_cast<std::size_t>(operation.block)].time.total().count();
  }
  return seconds;
}

TEST(StagePieces, WithoutABucketEveryLayerIsAPiece) {
  // 5 layers of 1,000 parameters; the embedding (3 x 10) stands before the first, the head behind
  // the last.
  const SmallJob job(5, 3);
  const auto pieces = chunk_pieces(job.shape(), 0);
  EXPECT_THAT(layers_of(pieces), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(parameters_of(pieces), ElementsAre(1030, 1000, 1000, 1000, 1030));
  EXPECT_TRUE(pieces.front().embedding);
  EXPECT_TRUE(pieces.back().head);
}

TEST(StagePieces, BucketsFillFromTheBack) {
  // 8,000 bytes are 2,000 parameters: the head and two layers, two layers, the rest.
  SmallJob job(5, 3);
  job.strategy.gradient_bucket = Bytes(8000.0);
  EXPECT_THAT(layers_of(chunk_pieces(job.shape(), 0)), ElementsAre(1, 2, 2));
  // In 2 bytes a gradient, they are 4,000.
  job.strategy.gradient_precision = Precision::bf16;
  EXPECT_THAT(layers_of(chunk_pieces(job.shape(), 0)), ElementsAre(1, 4));
  job.strategy.gradient_bucket = 1_GB;
  EXPECT_THAT(layers_of(chunk_pieces(job.shape(), 0)), ElementsAre(5));
}

TEST(StagePieces, EndsStandOnTheFirstAndTheLastChunk) {
  SmallJob job(8, 3);
  job.strategy.pipeline_parallel = 2;
  job.strategy.virtual_stages = 2;
  EXPECT_THAT(parameters_of(chunk_pieces(job.shape(), 0)), ElementsAre(1030, 1000));
  EXPECT_THAT(parameters_of(chunk_pieces(job.shape(), 1)), ElementsAre(1000, 1000));
  EXPECT_THAT(parameters_of(chunk_pieces(job.shape(), 3)), ElementsAre(1000, 1030));
}

TEST(StagePieces, ATiedHeadIsACopyOnAnotherStageOnly) {
  SmallJob job(4, 3);
  job.model.tied = true;
  EXPECT_THAT(parameters_of(chunk_pieces(job.shape(), 0)), ElementsAre(1030, 1000, 1000, 1000));
  job.strategy.pipeline_parallel = 2;
  EXPECT_THAT(parameters_of(chunk_pieces(job.shape(), 0)), ElementsAre(1030, 1000));
  EXPECT_THAT(parameters_of(chunk_pieces(job.shape(), 1)), ElementsAre(1000, 1030));
}

TEST(StagePieces, TensorParallelRanksHoldTheirShare) {
  SmallJob job(4, 3);
  job.strategy.tensor_parallel = 2;
  EXPECT_THAT(parameters_of(chunk_pieces(job.shape(), 0)), ElementsAre(515, 500, 500, 515));
}

TEST(StagePieces, AChunkMayHaveNoLayer) {
  // Two layers and two ends over four chunks: the ends stand alone.
  SmallJob job(2, 3);
  job.strategy.pipeline_parallel = 4;
  job.strategy.layer_placement = LayerPlacement::embedding_and_loss_as_layers;
  EXPECT_THAT(parameters_of(chunk_pieces(job.shape(), 0)), ElementsAre(30));
  EXPECT_THAT(parameters_of(chunk_pieces(job.shape(), 3)), ElementsAre(30));
}

TEST(StagePieces, TheStepUpdatesWhatTheRankKeeps) {
  SmallJob job(4);
  job.strategy.data_parallel = 4;
  job.cost.step_overhead = 5_s;
  JobShape shape = job.shape();
  shape.optimizer_seconds_per_parameter = 1.0;
  shape.norm_seconds_per_parameter = 0.1;
  // 4,000 parameters on 4 ranks: all are updated, or a quarter; with FSDP a quarter is there.
  EXPECT_DOUBLE_EQ(step_time(shape, {.trained = 4000.0})[Cause::optimizer].count(), 4400.0);
  EXPECT_EQ(step_time(shape, {.trained = 4000.0})[Cause::other], 5_s);
  job.strategy.sharding = Sharding::optimizer;
  EXPECT_DOUBLE_EQ(step_time(shape, {.trained = 4000.0})[Cause::optimizer].count(), 1400.0);
  job.strategy.sharding = Sharding::full;
  EXPECT_DOUBLE_EQ(step_time(shape, {.trained = 4000.0})[Cause::optimizer].count(), 1100.0);
}

TEST(PipelineProgram, AStageLosesALittleWithEveryMicroBatch) {
  // Two stages of two chunks, a layer each: 4 micro-batches of 2 x 3 s, and 0.5 s with each.
  SmallJob job(4);
  job.strategy.pipeline_parallel = 2;
  job.strategy.virtual_stages = 2;
  job.set_micro_batches(4);
  job.cost.micro_batch_overhead = Seconds(0.5);
  for (const int stage : {0, 1}) {
    EXPECT_DOUBLE_EQ(seconds_of(pipeline_program(job.shape(), stage)), 4 * (6.0 + 0.5));
  }
}

/// Every receive of every stage has one send elsewhere that names its slot, and the other way
/// round.
void expect_messages_match(const SmallJob& job) {
  const Workload workload = job.workload();
  std::map<std::pair<std::int32_t, std::int32_t>, int> sent;
  std::map<std::pair<std::int32_t, std::int32_t>, int> received;
  for (std::int32_t id = 0; id < std::ssize(workload.groups); ++id) {
    const RankGroup& group = workload.groups[static_cast<std::size_t>(id)];
    const Program& program = workload.programs[static_cast<std::size_t>(group.program)];
    for (const Operation& operation : program.operations) {
      if (operation.kind == OperationKind::send) {
        const std::int32_t receiver = id + operation.peer;
        ASSERT_EQ(workload.groups[static_cast<std::size_t>(receiver)].replica, group.replica);
        ++sent[{receiver, operation.slot}];
      }
      if (operation.kind == OperationKind::receive) ++received[{id, operation.slot}];
    }
  }
  for (const auto& [message, times] : sent) ASSERT_EQ(times, 1);
  ASSERT_EQ(sent, received);
  // Activations and gradients between all neighbouring chunks, for every micro-batch.
  const Strategy& strategy = job.strategy;
  ASSERT_EQ(sent.size(),
            static_cast<std::size_t>(2 * (strategy.chunks() - 1) * strategy.micro_batches() *
                                     strategy.data_parallel));
}

TEST(PipelineProgram, EveryMessageIsSentOnceAndReceivedOnce) {
  for (const int stages : {1, 2, 3, 5}) {
    for (const int virtual_stages : {1, 2, 3}) {
      if (stages == 1 && virtual_stages > 1) continue;
      for (const Schedule* schedule : {schedule_named("gpipe"), schedule_named("1f1b")}) {
        if (schedule == schedule_named("gpipe") && virtual_stages > 1) continue;
        SmallJob job(stages * virtual_stages);
        job.strategy.pipeline_parallel = stages;
        job.strategy.virtual_stages = virtual_stages;
        job.strategy.schedule = schedule;
        job.strategy.data_parallel = 2;
        job.set_micro_batches(2 * stages);
        SCOPED_TRACE(testing::Message() << stages << " stages, " << virtual_stages << " virtual");
        expect_messages_match(job);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(PipelineProgram, SplitSchedulesSendAndReceiveEveryMessageOnce) {
  for (const int stages : {2, 4, 6}) {
    for (const Schedule* schedule : {schedule_named("zb_h1"), schedule_named("dualpipe")}) {
      SmallJob job(stages);
      job.strategy.pipeline_parallel = stages;
      job.strategy.schedule = schedule;
      job.strategy.data_parallel = 2;
      job.set_micro_batches(2 * stages);
      expect_messages_match(job);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(PipelineProgram, NothingTravelsWhereThePipelineTurns) {
  // Four stages of two chunks: seven steps from chunk to chunk, one of them on the last stage.
  SmallJob job(8, 3);
  job.strategy.pipeline_parallel = 4;
  job.strategy.virtual_stages = 2;
  job.strategy.schedule = schedule_named("zb_v");
  job.set_micro_batches(8);
  int sent = 0;
  for (int stage = 0; stage < 4; ++stage) {
    sent += count(pipeline_program(job.shape(), stage), OperationKind::send);
  }
  EXPECT_EQ(sent, 2 * 6 * 8);
  // The embedding and the head stand on the first stage.
  job.cost.embedding_forward[Cause::compute] = 0.25_s;
  job.cost.head_backward[Cause::compute] = 0.5_s;
  EXPECT_DOUBLE_EQ(seconds_of(pipeline_program(job.shape(), 0)), 8.0 * (6.0 + 0.75));
  EXPECT_DOUBLE_EQ(seconds_of(pipeline_program(job.shape(), 3)), 8.0 * 6.0);
}

TEST(PipelineProgram, GradientsLeaveWithTheGradientsOfWeights) {
  // Two layers a stage of 4 bytes a parameter, which a ring of two moves once; the last gradient of
  // weights is cut into its pieces.
  SmallJob job(4);
  job.strategy.pipeline_parallel = 2;
  job.strategy.schedule = schedule_named("zb_h1");
  job.strategy.data_parallel = 2;
  job.cost.layers[0].weight[Cause::compute] = 0.5_s;
  job.set_micro_batches(3);
  const Program program = pipeline_program(job.shape(), 1);
  EXPECT_DOUBLE_EQ(seconds_of(program), 3.0 * 2.0 * 3.0);
  EXPECT_EQ(count(program, OperationKind::join), 2);
  EXPECT_DOUBLE_EQ(joined_bytes(program, kGradientReduce), 4.0 * 2010.0);
}

TEST(PipelineProgram, AMessageIsARanksPartOfTheActivations) {
  // 2 sequences of 100 tokens x 10 channels x 2 bytes, over 2 context- and 4 tensor-parallel ranks.
  SmallJob job(2);
  job.strategy.pipeline_parallel = 2;
  job.strategy.tensor_parallel = 4;
  job.strategy.context_parallel = 2;
  job.strategy.micro_batch = 2;
  job.strategy.sequence_length = 100;
  job.strategy.global_batch = 2;
  const Program program = pipeline_program(job.shape(), 0);
  const auto send = std::ranges::find(program.operations, OperationKind::send, &Operation::kind);
  ASSERT_NE(send, program.operations.end());
  EXPECT_EQ(send->amount.count(), 2.0 * 100.0 * 10.0 * 2.0 / 8.0);
}

TEST(StagePieces, TheFirstLayersOfAChunkRecompute) {
  SmallJob job(5);
  job.cost.layers[0].recompute[Cause::recompute] = 1_s;
  job.strategy.recompute = Recompute::full;
  job.strategy.recompute_layers = 2;
  const auto pieces = chunk_pieces(job.shape(), 0);
  ASSERT_EQ(pieces.size(), 5U);
  EXPECT_EQ(backward_time(job.shape(), pieces[1]).total(), 3_s);
  EXPECT_EQ(backward_time(job.shape(), pieces[2]).total(), 2_s);
  job.strategy.gradient_bucket = 1_GB;
  EXPECT_EQ(backward_time(job.shape(), chunk_pieces(job.shape(), 0).front()).total(), 12_s);
  job.strategy.recompute_layers = 0;  // all
  EXPECT_EQ(backward_time(job.shape(), chunk_pieces(job.shape(), 0).front()).total(), 15_s);
}

TEST(StagePieces, TheFirstLayersOfAChunkAreOffloaded) {
  SmallJob job(5);
  job.cost.layers[0].offload_forward[Cause::other] = 0.5_s;
  job.cost.layers[0].offload_backward[Cause::other] = 0.25_s;
  job.strategy.offload_layers = 2;
  const auto pieces = chunk_pieces(job.shape(), 0);
  EXPECT_EQ(forward_time(job.shape(), pieces[1]).total(), 1.5_s);
  EXPECT_EQ(backward_time(job.shape(), pieces[1]).total(), 2.25_s);
  EXPECT_EQ(forward_time(job.shape(), pieces[2]).total(), 1_s);
}

TEST(PipelineProgram, EachStageComputesItsLayersForEveryMicroBatch) {
  SmallJob job(8);
  job.strategy.pipeline_parallel = 2;
  job.strategy.virtual_stages = 2;
  job.set_micro_batches(6);
  job.cost.embedding_forward[Cause::compute] = 0.25_s;
  job.cost.head_backward[Cause::compute] = 0.5_s;
  // 4 layers of 3 s, 6 times; the embedding on stage 0, the head on stage 1.
  EXPECT_DOUBLE_EQ(seconds_of(pipeline_program(job.shape(), 0)), 6.0 * (12.0 + 0.25));
  EXPECT_DOUBLE_EQ(seconds_of(pipeline_program(job.shape(), 1)), 6.0 * (12.0 + 0.5));
}

TEST(PipelineProgram, AllGradientsAreReducedHoweverTheyAreCut) {
  // 4,020 parameters of 4 bytes: a ring of 4 moves 2 x 3/4 of them, a reduce-scatter 3/4.
  SmallJob job(4);
  job.strategy.data_parallel = 4;
  job.set_micro_batches(3);
  for (const double never_hidden : {0.0, 0.3}) {
    for (const bool overlap : {false, true}) {
      for (const double bucket : {0.0, 8000.0, 1e9}) {
        job.never_hidden = never_hidden;
        job.strategy.overlap_gradient_reduce = overlap;
        job.strategy.gradient_bucket = Bytes(bucket);
        job.strategy.sharding = Sharding::none;
        EXPECT_NEAR(joined_bytes(pipeline_program(job.shape(), 0), kGradientReduce),
                    1.5 * 4.0 * 4020.0, 1e-9);
        job.strategy.sharding = Sharding::optimizer;
        const Program sharded = pipeline_program(job.shape(), 0);
        EXPECT_NEAR(joined_bytes(sharded, kGradientReduce), 0.75 * 4.0 * 4020.0, 1e-9);
        EXPECT_NEAR(joined_bytes(sharded, kParameterGather), 0.75 * 2.0 * 4020.0, 1e-9);
      }
    }
  }
}

TEST(PipelineProgram, ShardedStagesGatherOnceAStepAndReduceWithTheLastMicroBatch) {
  // 2 layers and the embedding or head of 10; a ring of 4 moves 3/4 of 2 and of 4 bytes of each.
  SmallJob job(4);
  job.strategy.pipeline_parallel = 2;
  job.strategy.data_parallel = 4;
  job.strategy.sharding = Sharding::full;
  job.strategy.reshard_after_forward = false;
  job.set_micro_batches(3);
  for (const bool overlap : {false, true}) {
    job.strategy.overlap_parameter_gather = overlap;
    const Program program = pipeline_program(job.shape(), 0);
    EXPECT_NEAR(joined_bytes(program, kParameterGather), 0.75 * 2.0 * 2010.0, 1e-9);
    EXPECT_NEAR(joined_bytes(program, kGradientReduce), 0.75 * 4.0 * 2010.0, 1e-9);
  }
  // Adapters are reduced, what is frozen is gathered all the same: 80 parameters more a layer.
  job.strategy.task = Task::lora;
  job.strategy.lora_rank = 2;
  const Program adapters = pipeline_program(job.shape(), 0);
  EXPECT_NEAR(joined_bytes(adapters, kParameterGather), 0.75 * 2.0 * (2010.0 + 160.0), 1e-9);
  EXPECT_NEAR(joined_bytes(adapters, kGradientReduce), 0.75 * 4.0 * 160.0, 1e-9);
}

TEST(PipelineProgram, ContextParallelRanksReduceGradientsToo) {
  SmallJob job(4);
  job.strategy.context_parallel = 2;
  EXPECT_EQ(job.strategy.replicas(), 2);
  EXPECT_NEAR(joined_bytes(pipeline_program(job.shape(), 0), kGradientReduce), 4.0 * 4020.0, 1e-9);
}

TEST(PipelineProgram, ALoneReplicaReducesNothing) {
  SmallJob job(4);
  job.strategy.sharding = Sharding::optimizer;
  EXPECT_EQ(count(pipeline_program(job.shape(), 0), OperationKind::join), 0);
}

TEST(PipelineProgram, OnlyTheEndsAddUpATiedEmbedding) {
  SmallJob job(4, 100);
  job.model.tied = true;
  job.strategy.pipeline_parallel = 4;
  job.set_micro_batches(4);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(joined_bytes(pipeline_program(job.shape(), stage), kTiedEmbedding),
              stage % 3 == 0 ? 4000.0 : 0.0)
        << stage;
  }
  // Each of two ranks has half of its rows.
  job.strategy.tensor_parallel = 2;
  EXPECT_EQ(joined_bytes(pipeline_program(job.shape(), 0), kTiedEmbedding), 2000.0);
}

TEST(PipelineProgram, OnlyAdaptersAreReducedWhereTheyAreTrained) {
  // Rank 2 beside QKV (10 x 30): 80 parameters a layer, 4 bytes each, a ring of 2 moves them once.
  // Nothing travels for the embedding, which is frozen.
  SmallJob job(4, 100);
  job.model.tied = true;
  job.strategy.task = Task::lora;
  job.strategy.lora_rank = 2;
  job.strategy.data_parallel = 2;
  job.strategy.pipeline_parallel = 2;
  job.set_micro_batches(4);
  const Program program = pipeline_program(job.shape(), 0);
  EXPECT_DOUBLE_EQ(joined_bytes(program, kGradientReduce), 2.0 * 80.0 * 4.0);
  EXPECT_EQ(joined_bytes(program, kTiedEmbedding), 0.0);
  // A stage that has the embedding only has nothing to train.
  job.strategy.pipeline_parallel = 6;
  job.strategy.layer_placement = LayerPlacement::embedding_and_loss_as_layers;
  EXPECT_EQ(count(pipeline_program(job.shape(), 0), OperationKind::join), 0);
}

TEST(ShardedProgram, GathersWhatIsFrozenAndReducesTheAdapters) {
  SmallJob job(4);
  job.strategy.task = Task::lora;
  job.strategy.lora_rank = 2;
  job.strategy.data_parallel = 2;
  job.strategy.sharding = Sharding::full;
  job.set_micro_batches(1);
  const Program program = sharded_program(job.shape());
  EXPECT_DOUBLE_EQ(joined_bytes(program, kParameterGather), 4020.0 + 3010.0 + 7.0 * 80.0);
  EXPECT_DOUBLE_EQ(joined_bytes(program, kGradientReduce), 2.0 * 4.0 * 80.0);
}

TEST(ShardedProgram, GathersEveryLayerTwiceAndReducesItOnceAMicroBatch) {
  // Of 4 pieces the last one is still there when the backward pass begins. Two micro-batches, 2
  // ranks: gathers of 2 bytes x 1/2, reductions of 4 x 1/2.
  SmallJob job(4);
  job.strategy.data_parallel = 2;
  job.strategy.sharding = Sharding::full;
  job.set_micro_batches(2);
  const Program program = sharded_program(job.shape());
  EXPECT_DOUBLE_EQ(joined_bytes(program, kParameterGather), 2.0 * (4020.0 + 3010.0));
  EXPECT_DOUBLE_EQ(joined_bytes(program, kGradientReduce), 2.0 * 2.0 * 4020.0);
  EXPECT_DOUBLE_EQ(seconds_of(program), 24.0);
}

TEST(ShardedProgram, ALoneRankSendsNothing) {
  SmallJob job(4);
  job.strategy.sharding = Sharding::full;
  const Program program = sharded_program(job.shape());
  EXPECT_EQ(count(program, OperationKind::join), 0);
  EXPECT_DOUBLE_EQ(seconds_of(program), 12.0);
}

}  // namespace
}  // namespace headway
