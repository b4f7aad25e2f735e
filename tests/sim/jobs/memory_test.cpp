#include "sim/jobs/memory.h"

#include <gtest/gtest.h>

#include "sim/jobs/stage_parameters.h"
#include "tests/sim/jobs/sample_models.h"

namespace headway {
namespace {

using testing::gpt;
using testing::llama;

constexpr double kReserve = 0.15;  // of what comes and goes in a step

const Model kLlama = llama(32, 4096, 32, 8, 14'336);

Strategy llama_strategy() { return {.global_batch = 64, .sequence_length = 8192}; }

StageMemory only_stage(const Model& model, const Strategy& strategy) {
  const std::vector<StageMemory> stages = stage_memory(model, strategy);
  EXPECT_EQ(stages.size(), 1U);
  return stages.front();
}

double parameters_of(const Model& model) { return parameters(model).total(); }

// Rajbhandari et al. 2020, section 3.1: 2 + 2 bytes and 12 of the optimizer.
TEST(ModelStates, AreSixteenBytesAParameterIn16BitGradients) {
  Strategy strategy = llama_strategy();
  strategy.gradient_precision = Precision::bf16;
  const StageMemory memory = only_stage(kLlama, strategy);
  EXPECT_DOUBLE_EQ(memory.parameters.count(), 2.0 * parameters_of(kLlama));
  EXPECT_DOUBLE_EQ(memory.gradients.count(), 2.0 * parameters_of(kLlama));
  EXPECT_DOUBLE_EQ(memory.optimizer.count(), 12.0 * parameters_of(kLlama));
}

// Megatron-LM, docs of the distributed optimizer: fp32 gradients take 6 + 12/d.
TEST(ModelStates, ShardedOptimizerLeavesSixAndTwelveOverD) {
  Strategy strategy = llama_strategy();
  strategy.sharding = Sharding::optimizer;
  strategy.data_parallel = 8;
  const StageMemory memory = only_stage(kLlama, strategy);
  const Bytes states = memory.parameters + memory.gradients + memory.optimizer;
  EXPECT_DOUBLE_EQ(states.count(), (6.0 + 12.0 / 8.0) * parameters_of(kLlama));
}

TEST(ModelStates, FullShardingDividesAllOfThem) {
  Strategy strategy = llama_strategy();
  strategy.sharding = Sharding::full;
  strategy.data_parallel = 16;
  const StageMemory memory = only_stage(kLlama, strategy);
  const Bytes states = memory.parameters + memory.gradients + memory.optimizer;
  EXPECT_DOUBLE_EQ(states.count(), 18.0 / 16.0 * parameters_of(kLlama));
}

TEST(ModelStates, ShardedGradientsLeaveWholeParametersOnly) {
  Strategy strategy = llama_strategy();
  strategy.sharding = Sharding::gradients;
  strategy.data_parallel = 8;
  const StageMemory memory = only_stage(kLlama, strategy);
  const Bytes states = memory.parameters + memory.gradients + memory.optimizer;
  EXPECT_DOUBLE_EQ(states.count(), (2.0 + (4.0 + 12.0) / 8.0) * parameters_of(kLlama));
}

TEST(ModelStates, OfTheOptimizerAloneAreDividedInsideAShardGroup) {
  Strategy strategy = llama_strategy();
  strategy.sharding = Sharding::optimizer;
  strategy.data_parallel = 16;
  strategy.shard_group = 4;
  const StageMemory memory = only_stage(kLlama, strategy);
  const Bytes states = memory.parameters + memory.gradients + memory.optimizer;
  EXPECT_DOUBLE_EQ(states.count(), (2.0 + 4.0 + 12.0 / 4.0) * parameters_of(kLlama));
}

TEST(ModelStates, AreDividedInsideAShardGroup) {
  Strategy strategy = llama_strategy();
  strategy.sharding = Sharding::full;
  strategy.data_parallel = 16;
  strategy.shard_group = 4;
  const StageMemory memory = only_stage(kLlama, strategy);
  const Bytes states = memory.parameters + memory.gradients + memory.optimizer;
  EXPECT_DOUBLE_EQ(states.count(), 18.0 / 4.0 * parameters_of(kLlama));
}

TEST(ModelStates, ParametersThatStayForTheBackwardPassAreAllThere) {
  // Resharding holds the largest unit, the head (128,000 x 4096) with its norm, and one layer.
  Strategy strategy = llama_strategy();
  strategy.sharding = Sharding::full;
  strategy.data_parallel = 16;
  const Bytes resharded = only_stage(kLlama, strategy).buffers;
  strategy.reshard_after_forward = false;
  const double gathered = 128'000.0 * 4096.0 + 4096.0 + testing::layer_parameters(kLlama).total();
  EXPECT_DOUBLE_EQ((only_stage(kLlama, strategy).buffers - resharded).count(),
                   2.0 * (parameters_of(kLlama) - gathered));
}

TEST(ModelStates, ShardedStagesOfAPipelineHoldWholeParametersAndGradients) {
  // 12 bytes of states, and of what is sharded 2 of parameters and 4 of gradients, over 8 ranks;
  // beside them all parameters, gathered, and all gradients, until the last micro-batch.
  Strategy strategy = llama_strategy();
  strategy.pipeline_parallel = 2;
  strategy.data_parallel = 8;
  strategy.sharding = Sharding::optimizer;
  const StageMemory plain = stage_memory(kLlama, strategy)[0];
  strategy.sharding = Sharding::full;
  strategy.reshard_after_forward = false;
  const StageMemory sharded = stage_memory(kLlama, strategy)[0];
  EXPECT_EQ(sharded.optimizer, plain.optimizer);
  EXPECT_DOUBLE_EQ(sharded.parameters.count(), plain.parameters.count() / 8.0);
  EXPECT_DOUBLE_EQ(sharded.gradients.count(), plain.gradients.count() / 8.0);
  const double layer = testing::layer_parameters(kLlama).total();
  EXPECT_NEAR((sharded.buffers - plain.buffers).count(),
              (plain.parameters + plain.gradients).count() - 4.0 * layer, 1.0);
}

TEST(ModelStates, ContextParallelRanksShardThemToo) {
  Strategy strategy = llama_strategy();
  strategy.sharding = Sharding::optimizer;
  strategy.data_parallel = 8;
  strategy.context_parallel = 4;
  EXPECT_DOUBLE_EQ(only_stage(kLlama, strategy).optimizer.count(),
                   12.0 / 32.0 * parameters_of(kLlama));
}

TEST(ModelStates, NeedNoMasterCopyInFp32) {
  Strategy strategy = llama_strategy();
  strategy.precision = Precision::fp32;
  const StageMemory memory = only_stage(kLlama, strategy);
  EXPECT_DOUBLE_EQ(memory.parameters.count(), 4.0 * parameters_of(kLlama));
  EXPECT_DOUBLE_EQ(memory.optimizer.count(), 8.0 * parameters_of(kLlama));
}

TEST(ModelStates, OfFp8TrainingStayIn16Bit) {
  Strategy strategy = llama_strategy();
  strategy.precision = Precision::fp8;
  EXPECT_DOUBLE_EQ(only_stage(kLlama, strategy).parameters.count(), 2.0 * parameters_of(kLlama));
}

TEST(ModelStates, OfEachStageAreItsOwnParameters) {
  Strategy strategy = llama_strategy();
  strategy.pipeline_parallel = 4;
  const std::vector<StageMemory> stages = stage_memory(kLlama, strategy);
  ASSERT_EQ(stages.size(), 4U);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_DOUBLE_EQ(stages[static_cast<std::size_t>(stage)].parameters.count(),
                     2.0 * stage_parameters(kLlama, strategy, stage).total());
  }
  EXPECT_LT(stages[1].parameters, stages[0].parameters);  // no embedding
  EXPECT_LT(stages[2].parameters, stages[3].parameters);  // no head
}

// 1F1B holds stages - stage micro-batches of 8 layers each. The last stage adds the inputs of the
// final norm and of the head (2 x 2 x 8192 x 4096 bytes) and the fp32 softmax.
TEST(StageActivations, CountThePassesInFlight) {
  Strategy strategy = llama_strategy();
  strategy.pipeline_parallel = 4;
  const std::vector<StageMemory> stages = stage_memory(kLlama, strategy);
  const Bytes pass = 8 * testing::layer_activations(kLlama, strategy);
  EXPECT_DOUBLE_EQ(stages[0].activations / pass, 4.0);
  EXPECT_DOUBLE_EQ(stages[2].activations / pass, 2.0);
  const Bytes head(4.0 * 8192 * 4096 + 4.0 * 8192 * 128'000);
  EXPECT_DOUBLE_EQ(stages[3].activations.count(), (pass + head).count());
}

TEST(StageActivations, OfDoubledPipelinesAreOnePassMoreThanStages) {
  // Parameters twice: each stage has its own layers and those of the stage opposite.
  Strategy strategy = llama_strategy();
  strategy.pipeline_parallel = 4;
  const std::vector<StageMemory> single = stage_memory(kLlama, strategy);
  strategy.schedule = schedule_named("dualpipe");
  const std::vector<StageMemory> doubled = stage_memory(kLlama, strategy);
  EXPECT_DOUBLE_EQ(doubled[1].parameters.count(),
                   (single[1].parameters + single[2].parameters).count());
  EXPECT_DOUBLE_EQ(doubled[0].parameters.count(),
                   (single[0].parameters + single[3].parameters).count());
  const Bytes pass = 8 * testing::layer_activations(kLlama, strategy);
  EXPECT_DOUBLE_EQ(doubled[1].activations / pass, 5.0);
}

TEST(StageActivations, OfPipelinesThereAndBackAreThoseOfOneForwardOneBackward) {
  // The last stage holds as many as the first one; the first has the head.
  Strategy strategy = llama_strategy();
  strategy.pipeline_parallel = 4;
  strategy.virtual_stages = 2;
  strategy.schedule = schedule_named("zb_v");
  const std::vector<StageMemory> stages = stage_memory(kLlama, strategy);
  const Bytes pass = 8 * testing::layer_activations(kLlama, strategy);
  EXPECT_DOUBLE_EQ(stages[3].activations / pass, 4.0);
  EXPECT_GT(stages[0].parameters, stages[1].parameters + Bytes(2.0 * 2.0 * 128'000 * 4096));
}

TEST(StageActivations, OfLayersThatRecomputeAreTheirInputs) {
  // 8 of 32 layers keep 2 x 8192 x 4096 bytes each.
  Strategy strategy = llama_strategy();
  const StageMemory none = only_stage(kLlama, strategy);
  const Bytes layer = testing::layer_activations(kLlama, strategy);
  strategy.recompute = Recompute::full;
  strategy.recompute_layers = 8;
  EXPECT_DOUBLE_EQ((none.activations - only_stage(kLlama, strategy).activations).count(),
                   (8.0 * (layer - Bytes(2.0 * 8192 * 4096))).count());
}

TEST(StageActivations, OfOffloadedLayersAreInHostMemory) {
  // 24 of 32 layers are left; two more are on their way, in buffers, with the allocator's share.
  Strategy strategy = llama_strategy();
  const StageMemory none = only_stage(kLlama, strategy);
  const Bytes layer = testing::layer_activations(kLlama, strategy);
  strategy.offload_layers = 8;
  const StageMemory offloaded = only_stage(kLlama, strategy);
  EXPECT_DOUBLE_EQ((none.activations - offloaded.activations).count(), 8.0 * layer.count());
  EXPECT_DOUBLE_EQ(offloaded.host.count(), 8.0 * layer.count());
  EXPECT_EQ(none.host, 0_B);
  // On the last stage the loss outweighs them; on the first of two only they and the reserve on
  // what is left stand beside 16 - 8 layers.
  strategy.pipeline_parallel = 2;
  const auto first_buffers = [&](int layers) {
    strategy.offload_layers = layers;
    const StageMemory first = stage_memory(kLlama, strategy)[0];
    return (first.buffers - kReserve * first.activations).count();
  };
  const double without = first_buffers(0);
  EXPECT_NEAR(first_buffers(1) - without, (1.0 + kReserve) * layer.count(), 1.0);
  EXPECT_NEAR(first_buffers(8) - without, (1.0 + kReserve) * 2.0 * layer.count(), 1.0);
}

TEST(StageActivations, OfAPredictionAheadAreALayerItsJoinAndAHead) {
  // A dense layer more, four inputs of the join and the head's two (2 x 1024 x 64 bytes each), and
  // the softmax of 1000 words in 4 bytes.
  TransformerModel fields{.layers = 2,
                          .hidden = 64,
                          .attention_heads = 4,
                          .kv_heads = 4,
                          .head_size = 16,
                          .ffn_hidden = 256,
                          .vocabulary = 1000,
                          .position_encoding = PositionEncoding::rotary};
  const Strategy strategy{.sequence_length = 1024};
  const StageMemory none = only_stage(layers_of(fields), strategy);
  fields.multi_token_prediction_layers = 1;
  const Model model = layers_of(fields);
  const double inputs = (4.0 + 2.0) * 2.0 * 1024 * 64;
  EXPECT_DOUBLE_EQ(
      (only_stage(model, strategy).activations - none.activations).count(),
      testing::layer_activations(model, strategy).count() + inputs + 4.0 * 1024 * 1000);
}

TEST(StageActivations, OfGpipeHoldEveryMicroBatch) {
  Strategy strategy = llama_strategy();
  strategy.pipeline_parallel = 4;
  strategy.schedule = schedule_named("gpipe");
  const Bytes pass = 8 * testing::layer_activations(kLlama, strategy);
  EXPECT_DOUBLE_EQ(stage_memory(kLlama, strategy)[0].activations / pass, 64.0);
}

// 10 layers and two ends in four chunks: 2, 3, 3, 2; stage 0 has 2 and 3 of them. It warms up with
// 2 + 2 passes and holds five at most: micro-batches 0, 1 and 2 in chunk 0, 0 and 1 in chunk 1. At
// other times it holds four passes of chunk 0 and one of chunk 1, which is less.
TEST(StageActivations, OfInterleavedChunksWeighTheirLayers) {
  const Model model = llama(10, 4096, 32, 8, 14'336);
  Strategy strategy = llama_strategy();
  strategy.pipeline_parallel = 2;
  strategy.virtual_stages = 2;
  strategy.layer_placement = LayerPlacement::embedding_and_loss_as_layers;
  const Bytes layer = testing::layer_activations(model, strategy);
  EXPECT_DOUBLE_EQ(stage_memory(model, strategy)[0].activations / layer, 3.0 * 2 + 2.0 * 3);
}

TEST(StageActivations, IncludeTheEmbeddingsDropoutOfGpt) {
  const Model model = gpt(24, 1024, 16);
  const Strategy strategy{.pipeline_parallel = 2, .global_batch = 8, .sequence_length = 2048};
  // A mask of a byte for each of 2048 x 1024 numbers, for both passes in flight.
  EXPECT_DOUBLE_EQ(
      stage_memory(model, strategy)[0].activations.count(),
      2.0 * (12 * testing::layer_activations(model, strategy).count() + 2048.0 * 1024));
}

// 16-bit logits and an fp32 copy of them, of a rank's part of the vocabulary.
TEST(Buffers, HoldTheLossOnTheLastStage) {
  Strategy strategy = llama_strategy();
  strategy.tensor_parallel = 8;
  const StageMemory memory = only_stage(kLlama, strategy);
  const Bytes loss(6.0 * 8192 * 128'000 / 8);
  const Bytes expected = loss + 1_GiB + 256_MiB + kReserve * (memory.activations + loss);
  EXPECT_DOUBLE_EQ(memory.buffers.count(), expected.count());
}

// Gathered: 10 bytes for each logit of the whole vocabulary and 2 for each of a rank's own part.
TEST(Buffers, HoldAllLogitsIfTheLossIsNotSplit) {
  Strategy strategy = llama_strategy();
  strategy.tensor_parallel = 8;
  strategy.vocabulary_parallel_loss = false;
  const StageMemory memory = only_stage(kLlama, strategy);
  const double logits = 8192.0 * 128'000;
  const Bytes loss(10.0 * logits + 2.0 * logits / 8);
  const Bytes expected = loss + 1_GiB + 256_MiB + kReserve * (memory.activations + loss);
  EXPECT_DOUBLE_EQ(memory.buffers.count(), expected.count());
}

// Kept are 2 bytes a logit instead of the softmax's 4, and beside them 2 instead of 6 while it
// works.
TEST(Buffers, AFusedLossKeepsLogitsOnly) {
  Strategy strategy = llama_strategy();
  const StageMemory plain = only_stage(kLlama, strategy);
  strategy.fused_loss = true;
  const StageMemory fused = only_stage(kLlama, strategy);
  const double logits = 8192.0 * 128'000;
  EXPECT_NEAR((plain.activations - fused.activations).count(), 2.0 * logits, 1.0);
  const double less = 4.0 + kReserve * (2.0 + 4.0);
  EXPECT_NEAR((plain.buffers - fused.buffers).count(), less * logits, 1.0);
}

TEST(Buffers, HoldTheLayerThatIsRecomputed) {
  Strategy strategy = llama_strategy();
  strategy.pipeline_parallel = 2;
  strategy.recompute = Recompute::full;
  const StageMemory first = stage_memory(kLlama, strategy)[0];
  // With it, gradients: of its input, and of what goes into FC1 and comes out, 2 bytes each.
  const Bytes layer = testing::recomputed_activations(kLlama, strategy) +
                      Bytes(2.0 * 8192 * (4096 + 4096 + 2 * 14'336));
  EXPECT_GT(layer, 1_GiB);
  const Bytes expected = layer + 1_GiB + 256_MiB + kReserve * (first.activations + layer);
  EXPECT_DOUBLE_EQ(first.buffers.count(), expected.count());
}

// Two layers' parameters in 2 bytes, or one and the larger embedding, and its gradient in 4.
TEST(Buffers, HoldGatheredParametersOfFullSharding) {
  Strategy strategy = llama_strategy();
  strategy.data_parallel = 8;
  const Bytes replicated = only_stage(kLlama, strategy).buffers;
  const double layer = testing::layer_parameters(kLlama).total();
  const double vocabulary = 128'000.0 * 4096;
  strategy.sharding = Sharding::full;
  const Bytes sharded = only_stage(kLlama, strategy).buffers;
  const double head = vocabulary + 4096;
  const Bytes gathered(2.0 * (layer + head) + 4.0 * head);
  // Replicated data parallelism has a bucket of one layer's gradients there.
  EXPECT_NEAR((sharded - replicated).count(), (gathered - Bytes(4.0 * layer)).count(), 1.0);
}

TEST(Buffers, HoldOneBucketOfGradients) {
  Strategy strategy = llama_strategy();
  const Bytes alone = only_stage(kLlama, strategy).buffers;
  strategy.data_parallel = 2;
  strategy.gradient_bucket = 40_MB;
  const Bytes together = only_stage(kLlama, strategy).buffers;
  EXPECT_NEAR((together - alone).count(), (40_MB + 256_MiB).count(), 1.0);
}

TEST(StageMemoryTotal, AddsUpTheCauses) {
  const StageMemory memory{1_GiB, 2_GiB, 4_GiB, 8_GiB, 16_GiB};
  EXPECT_EQ(memory.total(), 31_GiB);
}

// Beside what works on it, 2 bytes a logit of the micro-batch before.
TEST(Buffers, MayHoldTheLogitsOfTheMicroBatchBefore) {
  for (const bool is_fused : {false, true}) {
    for (const bool is_split : {false, true}) {
      Strategy strategy = llama_strategy();
      strategy.tensor_parallel = 8;
      strategy.fused_loss = is_fused;
      strategy.vocabulary_parallel_loss = is_split;
      const StageMemory without = only_stage(kLlama, strategy);
      strategy.memory.previous_logits = true;
      const StageMemory with = only_stage(kLlama, strategy);
      const double logits = 8192.0 * 128'000 / (is_split ? 8 : 1);
      EXPECT_NEAR((with.buffers - without.buffers).count(), (1.0 + kReserve) * 2.0 * logits, 1.0)
          << is_fused << is_split;
      EXPECT_EQ(with.activations, without.activations);
    }
  }
}

TEST(Buffers, HoldWhatCommunicatorsTake) {
  // 256 MiB for each degree above 1.
  Strategy strategy = llama_strategy();
  strategy.context_parallel = 2;
  strategy.gradient_bucket = 1_MB;
  const Bytes both = only_stage(kLlama, strategy).buffers;
  strategy.data_parallel = 2;
  EXPECT_NEAR((only_stage(kLlama, strategy).buffers - both).count(), (256_MiB).count(), 1.0);
}

}  // namespace
}  // namespace headway
