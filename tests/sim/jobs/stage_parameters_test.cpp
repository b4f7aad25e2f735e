#include "sim/jobs/stage_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/jobs/sample_models.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using testing::gpt;
using testing::llama;

std::vector<int> counts(const std::vector<LayerRange>& ranges) {
  std::vector<int> list;
  for (const LayerRange& range : ranges) list.push_back(range.count);
  return list;
}

TEST(LayerParametersPerRank, AreTheWholeLayerWithoutTensorParallel) {
  const Model small_gpt = gpt(12, 768, 12);
  const Model small_llama = llama(16, 2048, 32, 8, 8192);
  EXPECT_DOUBLE_EQ(testing::layer_parameters(small_gpt).total(),
                   parameters(small_gpt.kinds.front()).total());
  EXPECT_DOUBLE_EQ(testing::layer_parameters(small_llama).total(),
                   parameters(small_llama.kinds.front()).total());
}

// GPT, h = 768, t = 4. Cut: QKV 3 x 192 x (768 + 1) = 442,944; projection 192 x 768 = 147,456;
// MLP 2 x 768 x 768 = 1,179,648 and the bias of FC1, 768. On every rank: two biases after the
// reductions 2 x 768 = 1536, two norms 4 x 768 = 3072.
TEST(LayerParametersPerRank, KeepNormsAndReducedBiasesOnEveryRank) {
  EXPECT_DOUBLE_EQ(
      testing::layer_parameters(gpt(12, 768, 12), Strategy{.tensor_parallel = 4}).total(),
      442'944.0 + 147'456.0 + 1'179'648.0 + 768.0 + 1536.0 + 3072.0);
}

// Llama, h = 2048, 32 heads of 64, 2 key-value heads, t = 8: 4 query heads, but a whole key and a
// whole value head on each rank: (4 + 2) x 64 x 2048 = 786,432; projection 256 x 2048 = 524,288;
// MLP 3 x 2048 x 1024 = 6,291,456; norms 2 x 2048.
TEST(LayerParametersPerRank, RepeatKeyValueHeadsThatAreFewerThanRanks) {
  EXPECT_DOUBLE_EQ(
      testing::layer_parameters(llama(16, 2048, 32, 2, 8192), Strategy{.tensor_parallel = 8})
          .total(),
      786'432.0 + 524'288.0 + 6'291'456.0 + 4096.0);
}

TEST(StageParameters, AreTheWholeModelOnOneRank) {
  const Model tied = gpt(12, 768, 12);
  const Model untied = llama(16, 2048, 32, 8, 8192);
  EXPECT_DOUBLE_EQ(stage_parameters(tied, Strategy{}, 0).total(), parameters(tied).total());
  EXPECT_DOUBLE_EQ(stage_parameters(untied, Strategy{}, 0).total(), parameters(untied).total());
}

TEST(ChunkLayers, LeadingOnesStandOnTheFirstChunkBesidesItsShare) {
  Model model = gpt(12, 768, 12);
  model.leading_layers = 4;
  EXPECT_THAT(counts(chunk_layers(model, {.pipeline_parallel = 2})), ElementsAre(8, 4));
  EXPECT_THAT(counts(chunk_layers(model, {.pipeline_parallel = 2, .virtual_stages = 2})),
              ElementsAre(6, 2, 2, 2));
  // Where all are named, they are among them.
  EXPECT_THAT(counts(chunk_layers(model, {.pipeline_parallel = 2, .layers_per_stage = {4, 8}})),
              ElementsAre(4, 8));
}

TEST(StageParameters, ATiedHeadIsACopyOnTheLastStage) {
  const Model model = gpt(12, 768, 12);
  const Strategy strategy{.tensor_parallel = 2, .pipeline_parallel = 3};
  // 51,200 x 768 / 2 = 19,660,800 of the vocabulary; 2048 x 768 positions on every rank
  EXPECT_DOUBLE_EQ(stage_parameters(model, strategy, 0).embedding, 19'660'800.0 + 1'572'864.0);
  EXPECT_DOUBLE_EQ(stage_parameters(model, strategy, 0).head, 0.0);
  EXPECT_DOUBLE_EQ(stage_parameters(model, strategy, 1).embedding, 0.0);
  EXPECT_DOUBLE_EQ(stage_parameters(model, strategy, 1).head, 0.0);
  EXPECT_DOUBLE_EQ(stage_parameters(model, strategy, 2).head, 19'660'800.0 + 2 * 768.0);
  EXPECT_DOUBLE_EQ(stage_parameters(model, strategy, 1).layers,
                   4 * testing::layer_parameters(model, Strategy{.tensor_parallel = 2}).total());
}

TEST(StageLayers, AreEveryStagesThChunk) {
  const Model model = llama(126, 16'384, 128, 8, 53'248);
  const Strategy strategy{.pipeline_parallel = 16,
                          .virtual_stages = 8,
                          .layer_placement = LayerPlacement::embedding_and_loss_as_layers};
  EXPECT_THAT(counts(stage_layers(model, strategy, 0)), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(counts(stage_layers(model, strategy, 7)), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_EQ(stage_layers(model, strategy, 1)[1], (LayerRange{16, 1}));
  EXPECT_THAT(counts(stage_layers(model, strategy, 15)), ElementsAre(1, 1, 1, 1, 1, 1, 1, 0));
}

TEST(RankShape, GathersWhatIsQuantisedWithItsScales) {
  // A byte, and one for 32 of them.
  Strategy strategy{.tensor_parallel = 2, .sequence_parallel = true, .precision = Precision::fp8};
  strategy.scaling = Scaling::mxfp8;
  strategy.quantised_tensor_gathers = strategy.quantised_parameter_gathers = true;
  EXPECT_EQ(rank_shape_of(strategy).gathered_bytes, 1.0 + 1.0 / 32.0);
  EXPECT_EQ(gathered_parameter_bytes(strategy), 2.0);  // nothing is sharded
  strategy.sharding = Sharding::optimizer;
  EXPECT_EQ(gathered_parameter_bytes(strategy), 1.0 + 1.0 / 32.0);
  strategy.sequence_parallel = false;
  EXPECT_EQ(rank_shape_of(strategy).gathered_bytes, 2.0);
}

TEST(RankShape, AdaptersInFp32AreCastBesideNarrowerModels) {
  Strategy strategy{.task = Task::lora};
  EXPECT_FALSE(rank_shape_of(strategy).wide_adapters);
  strategy.lora_precision = Precision::fp32;
  EXPECT_TRUE(rank_shape_of(strategy).wide_adapters);
  strategy.precision = Precision::fp32;
  EXPECT_FALSE(rank_shape_of(strategy).wide_adapters);
}

TEST(RankShape, IsWhatTheStrategySays) {
  const RankShape plain = rank_shape_of(Strategy{});
  EXPECT_TRUE(plain.fused_attention && plain.fused_normalization && plain.fused_activation &&
              plain.fused_operators && plain.fused_softmax);
  EXPECT_FALSE(plain.framework_images || plain.scattered_heads || plain.sequence_parallel ||
               plain.copied_attention || plain.gathered_inputs || plain.frozen);
  EXPECT_EQ(plain.product_bytes, 2.0);
  Strategy strategy{.tensor_parallel = 2,
                    .context_parallel = 3,
                    .context_parallel_method = ContextParallelMethod::all_to_all,
                    .data_parallel = 5,
                    .expert_parallel = 7,
                    .expert_tensor_parallel = 11,
                    .micro_batch = 13,
                    .sequence_length = 17,
                    .packed_length = 4,
                    .sequence_parallel = true,
                    .fused_attention = false,
                    .fused_normalization = false,
                    .fused_activation = false,
                    .fused_operators = false,
                    .precision = Precision::fp8};
  strategy.memory.fused_softmax = false;
  strategy.memory.copied_attention_output = true;
  strategy.memory.gathered_inputs = true;
  strategy.image_kernels = ImageKernels::framework;
  RankShape shape = rank_shape_of(strategy);
  EXPECT_EQ(shape.tensor_parallel * shape.context_parallel * shape.table_ranks, 2 * 3 * 5);
  EXPECT_EQ(shape.expert_parallel * shape.expert_tensor_parallel, 7 * 11);
  EXPECT_EQ(shape.micro_batch * shape.sequence_length * shape.packed_length, 13 * 17 * 4);
  EXPECT_TRUE(shape.scattered_heads && shape.sequence_parallel && shape.copied_attention &&
              shape.gathered_inputs && shape.framework_images);
  EXPECT_FALSE(shape.fused_attention || shape.fused_normalization || shape.fused_activation ||
               shape.fused_operators || shape.fused_softmax);
  // Experts have a precision of their own beside others of 16 bits only.
  strategy.expert_precision = Precision::tf32;
  EXPECT_FALSE(rank_shape_of(strategy).expert_precision.has_value());
  strategy.precision = Precision::bf16;
  EXPECT_EQ(rank_shape_of(strategy).expert_precision, Precision::tf32);
  strategy.precision = Precision::fp8;
  // Activations stay in 16 bits, inputs of products are in 8.
  EXPECT_EQ(shape.element_bytes, 2.0);
  EXPECT_EQ(shape.product_bytes, 1.0);
  EXPECT_EQ(shape.activation_input_bytes, 2.0);
  strategy.memory.quantised_activation_input = true;
  strategy.task = Task::lora;
  shape = rank_shape_of(strategy);
  EXPECT_EQ(shape.activation_input_bytes, 1.0);
  EXPECT_TRUE(shape.frozen);
  EXPECT_EQ(shape.adapters, strategy.lora_targets);
  strategy.precision = Precision::fp32;
  EXPECT_EQ(rank_shape_of(strategy).element_bytes, 4.0);
  EXPECT_EQ(rank_shape_of(strategy).product_bytes, 4.0);
}

TEST(RankShape, AdaptersHaveARankWhereTheyAreTrained) {
  Strategy strategy{.lora_rank = 16};
  EXPECT_EQ(adapter_rank(strategy), 0.0);
  strategy.task = Task::lora;
  EXPECT_EQ(adapter_rank(strategy), 16.0);
}

TEST(StageParameters, APredictionAheadNeedsTheTableOfWordsOnItsStage) {
  TransformerModel fields{.layers = 4,
                          .hidden = 64,
                          .attention_heads = 4,
                          .kv_heads = 4,
                          .head_size = 16,
                          .ffn_hidden = 256,
                          .multi_token_prediction_layers = 1,
                          .vocabulary = 1000,
                          .position_encoding = PositionEncoding::rotary};
  const auto head = [&](int stages) {
    const Model model = layers_of(fields);
    return stage_parameters(model, Strategy{.pipeline_parallel = stages}, stages - 1).head;
  };
  // A copy, but where the embedding stands there, or the head is it.
  EXPECT_EQ(head(2) - head(1), 1000.0 * 64);
  fields.tied_embeddings = true;
  EXPECT_EQ(head(2) - head(1), 1000.0 * 64);  // the head's own copy
}

}  // namespace
}  // namespace headway
