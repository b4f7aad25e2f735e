// How frameworks cut gradients into messages.
#include "sim/programs/pieces/stage_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sim/layers/exchanges.h"
#include "sim/programs/pieces/chunk_neighbours.h"
#include "sim/programs/pieces/replica_messages.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

using ::testing::ElementsAre;

std::vector<int> layers_of_pieces(const SmallJob& job) {
  std::vector<int> layers;
  for (const Piece& piece : chunk_pieces(job.shape(), 0)) layers.push_back(piece.layers);
  return layers;
}

// DDP: what the backward pass fills first leaves early.
TEST(StagePieces, TheFirstBucketMayBeSmaller) {
  SmallJob job(5, 3);
  job.strategy.gradient_bucket = Bytes(8000.0);
  job.strategy.first_gradient_bucket = Bytes(1000.0);
  EXPECT_THAT(layers_of_pieces(job), ElementsAre(2, 2, 1));
}

// Horovod: 2 s of backward pass a layer; with a cycle of 3 s two layers leave together, however
// large the fusion buffer; with one of 2 s each by itself.
TEST(StagePieces, ACycleLeavesWithWhatIsReady) {
  SmallJob job(5, 3);
  job.strategy.gradient_bucket = 1_GB;
  job.strategy.gradient_cycle = 3_s;
  EXPECT_THAT(layers_of_pieces(job), ElementsAre(1, 2, 2));
  job.strategy.gradient_cycle = 2_s;
  EXPECT_THAT(layers_of_pieces(job), ElementsAre(1, 1, 1, 1, 1));
}

// FSDP gathers a layer of 1,000 parameters, or 4,000 bytes of gradients were they trained, for an
// adapter of 10 + 30 as it does without. Replicas that reduce adapters alone fill one bucket.
TEST(StagePieces, FrozenMatricesAreGatheredInNoLargerPiecesThanTrainedOnes) {
  SmallJob job(5);
  job.strategy.task = Task::lora;
  job.strategy.lora_rank = 1;
  job.strategy.gradient_bucket = Bytes(8000.0);
  EXPECT_THAT(layers_of_pieces(job), ElementsAre(5));
  job.strategy.sharding = Sharding::full;
  EXPECT_THAT(layers_of_pieces(job), ElementsAre(1, 2, 2));
}

// Rank 2 of a layer of 10: qkv 2 (10 + 30), projection 2 (10 + 10), MLP twice 2 (10 + 29), and two
// norms of 10, instead of 1,000. Of rank 20 all matrices are smaller than their factors.
TEST(StagePieces, LowRankFactorsStandForMatrices) {
  SmallJob job(1);
  job.strategy.compression.rank = 2;
  const Piece piece = chunk_pieces(job.shape(), 0).front();
  const double ends = piece.trained - 1000.0;  // embedding and head, as they are: 10 each
  EXPECT_DOUBLE_EQ(piece.factors, 80.0 + 40.0 + 2.0 * 78.0 + 20.0 + ends);
  job.strategy.compression.rank = 20;
  EXPECT_DOUBLE_EQ(chunk_pieces(job.shape(), 0).front().factors, 1000.0 + ends);
}

// Two predictions ahead stand behind the last layer: a layer of 1,000 each, and what joins it, 7 x
// 10.
TEST(StagePieces, PredictionsStandWithTheHead) {
  SmallJob job(1);
  const Piece without = chunk_pieces(job.shape(), 0).front();
  job.model.ahead = {.layers = 2, .kind = 0, .join = {}};
  job.model.ahead.join.products = {{.outputs = 7.0, .inputs = 10.0}};
  const Piece with = chunk_pieces(job.shape(), 0).front();
  EXPECT_DOUBLE_EQ(with.parameters - without.parameters, 2 * (1000.0 + 70.0));
  EXPECT_DOUBLE_EQ(with.trained - without.trained, 2 * (1000.0 + 70.0));
}

// InternEvo: whole tensors go to ranks. A layer has four matrices, and one more stands at either
// end of the model: two ranks broadcast half of the parameters each, 64 ranks a matrix or nothing.
TEST(StagePieces, NoMoreTensorsAreBroadcastThanThereAre) {
  SmallJob job(2);
  job.strategy.sharding = Sharding::optimizer;
  job.strategy.optimizer_shards = OptimizerShards::tensors;
  const JobShape shape = job.shape();
  std::vector<UpdatedPart> parts;
  UpdatedPart all;
  for (const Piece& piece : chunk_pieces(shape, 0)) {
    parts.push_back(gathered_of(shape, piece));
    all += parts.back();
  }
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_DOUBLE_EQ(all.matrices, 2.0 * 4.0 + 2.0);
  EXPECT_DOUBLE_EQ(gathers_of(job.strategy, parts[0], all, 2),
                   2.0 * parts[0].elements / all.elements);
  EXPECT_DOUBLE_EQ(gathers_of(job.strategy, parts[1], all, 64), 5.0);
  job.strategy.optimizer_shards = OptimizerShards::slices;
  EXPECT_DOUBLE_EQ(gathers_of(job.strategy, parts[1], all, 64), 1.0);
}

// Layers of 2, 4 and 8 numbers a token, one a stage: the last hands nothing on.
TEST(PassedOn, IsWhatTheLastLayerOfAStageGives) {
  SmallJob job(1);
  job.model.kinds.clear();
  job.model.layers.clear();
  for (const double outputs : {2.0, 4.0, 8.0}) append_layers(job.model, Layer{.output = outputs});
  job.strategy.pipeline_parallel = 3;
  job.strategy.sequence_length = 10;
  EXPECT_DOUBLE_EQ(passed_on(job.shape(), 0).count(), 10 * 2.0 * 2.0);
  EXPECT_DOUBLE_EQ(passed_on(job.shape(), 1).count(), 10 * 4.0 * 2.0);
  EXPECT_DOUBLE_EQ(largest_passed_on(job.shape()).count(), 10 * 4.0 * 2.0);
  // A chunk of no layers hands on what came in: the embedding's.
  job.strategy.layers_per_stage = {0, 2, 1};
  EXPECT_EQ(passed_on(job.shape(), 0), stage_message(job.model.first, {.sequence_length = 10}));
  EXPECT_DOUBLE_EQ(largest_passed_on(job.shape()).count(), 10 * 4.0 * 2.0);
}

}  // namespace
}  // namespace headway
