// Strategies of models with experts: what they refuse, who holds what, and the memory of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/jobs/memory.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/schedules/layer_placement.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/parameters.h"
#include "sim/models/transformer/transformer_layers.h"
#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using testing::kLlama3;
using testing::problems;
using testing::read_strategy_text;

/// 8 experts of which 2 are met, on lines 2 to 5 of a scenario; strategies begin on line 7.
constexpr const char* kExperts = R"("model": {
    "layers": 4, "hidden": 64, "attention_heads": 8, "ffn_hidden": 256, "mlp": "gated",
    "mixture_of_experts": {"experts": 8, "experts_per_token": 2, "expert_hidden": 96},
    "vocabulary": 1000, "sequence_length": 128})";

TEST(ExpertStrategy, ReadsEveryField) {
  const auto reading = read_strategy_text(kExperts, R"("global_batch": 16, "data_parallel": 8,
    "expert_parallel": 4, "expert_tensor_parallel": 2, "expert_dispatch": "deduplicated",
    "overlap_expert_exchange": true, "expert_capacity_factor": 1.25, "expert_imbalance": 1.5,
    "cuda_graph": "layer")",
                                          8);
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  const Strategy& strategy = reading.read->strategy;
  EXPECT_EQ(strategy.expert_group(), 8);
  EXPECT_EQ(strategy.expert_replicas(), 1);
  EXPECT_EQ(strategy.expert_dispatch, ExpertDispatch::deduplicated);
  EXPECT_TRUE(strategy.overlap_expert_exchange);
  EXPECT_EQ(strategy.expert_capacity_factor, 1.25);
  EXPECT_EQ(strategy.expert_imbalance, 1.5);
  EXPECT_EQ(strategy.cuda_graph, CudaGraph::layer);
}

TEST(ExpertStrategy, MasksAreTheSoftwaresWhereExpertsHaveACapacity) {
  const auto masks = [](const std::string& fields) {
    const auto reading = read_strategy_text(kExperts, R"("global_batch": 16, )" + fields, 1);
    EXPECT_EQ(reading.problems, "");
    return reading.read ? reading.read->strategy.expert_masks : ExpertMasks::none;
  };
  EXPECT_EQ(masks(R"("preset": "maxtext")"), ExpertMasks::none);
  EXPECT_EQ(masks(R"("preset": "maxtext", "expert_capacity_factor": 1.25)"),
            ExpertMasks::of_sequences);
  EXPECT_EQ(masks(R"("preset": "deepspeed-zero-2", "expert_capacity_factor": 1)"),
            ExpertMasks::of_micro_batches);
  EXPECT_EQ(masks(R"("preset": "megatron", "expert_capacity_factor": 1)"), ExpertMasks::none);
  EXPECT_EQ(masks(R"("preset": "maxtext", "expert_capacity_factor": 1.25, "expert_masks": "none")"),
            ExpertMasks::none);
}

TEST(ExpertStrategy, MasksNeedPlaces) {
  EXPECT_EQ(problems(kExperts, R"(    "global_batch": 16, "expert_masks": "of_sequences")"),
            R"(error: expert_masks needs expert_capacity_factor
  --> scenario.json:7:41   /strategy/expert_masks
   |
 7 |     "global_batch": 16, "expert_masks": "of_sequences"
   |                                         ^^^^^^^^^^^^^^ without a limit experts have no places that masks could tell
  help: set expert_capacity_factor, to 1.25 for instance, or leave expert_masks out
)");
}

TEST(ExpertStrategy, ExpertFieldsNeedExperts) {
  EXPECT_EQ(problems(kLlama3, R"(    "global_batch": 64, "expert_parallel": 2)"),
            R"(error: expert_parallel needs experts
  --> scenario.json:9:44   /strategy/expert_parallel
   |
 9 |     "global_batch": 64, "expert_parallel": 2
   |                                            ^ the model is dense
   |
  ::: scenario.json:4:15   /model/layers is 32
  help: leave it out
)");
}

TEST(ExpertStrategy, ExpertParallelDividesTheExperts) {
  EXPECT_EQ(
      problems(kExperts, R"(    "global_batch": 12, "expert_parallel": 3, "data_parallel": 3)", 3),
      R"(error: expert_parallel must divide the experts
  --> scenario.json:7:44   /strategy/expert_parallel
   |
 7 |     "global_batch": 12, "expert_parallel": 3, "data_parallel": 3
   |                                            ^ 3 does not divide 8
   |
  ::: scenario.json:4:27   /model/mixture_of_experts is 8
  help: use 2 or 4
)");
}

TEST(ExpertStrategy, AnExpertGroupFitsTheRanksOfAStage) {
  EXPECT_EQ(
      problems(kExperts, R"(    "global_batch": 12, "expert_parallel": 8, "data_parallel": 12)",
               12),
      R"(error: expert_parallel x expert_tensor_parallel must divide the ranks of a pipeline stage
  --> scenario.json:7:44   /strategy/expert_parallel
   |
 7 |     "global_batch": 12, "expert_parallel": 8, "data_parallel": 12
   |                                            ^ 8 x 1 = 8 does not divide tensor 1 x context 1 x data 12 = 12
  help: use 4
)");
}

TEST(ExpertStrategy, TensorParallelNeedsSequenceParallel) {
  EXPECT_EQ(problems(kExperts, R"(    "global_batch": 12, "tensor_parallel": 2)"),
            R"(error: experts with tensor_parallel need sequence_parallel
  --> scenario.json:7:44   /strategy/tensor_parallel
   |
 7 |     "global_batch": 12, "tensor_parallel": 2
   |                                            ^ each rank routes the tokens of its part of the sequence
  help: set sequence_parallel to true, or tensor_parallel to 1
)");
}

TEST(ExpertStrategy, NoExpertGetsMoreThanEveryToken) {
  EXPECT_EQ(problems(kExperts, R"(    "global_batch": 12, "expert_imbalance": 5)"),
            R"(error: the busiest expert cannot get more than every token
  --> scenario.json:7:45   /strategy/expert_imbalance
   |
 7 |     "global_batch": 12, "expert_imbalance": 5
   |                                             ^ 5 times the mean
  help: use at most 4: 8 experts, 2 a token
)");
}

TEST(ExpertStrategy, AdaptersStandBesideDenseLayers) {
  EXPECT_EQ(problems(kExperts, R"(    "global_batch": 12, "task": "lora")"),
            R"(error: adapters are modelled on dense layers with grouped-query attention only
  --> scenario.json:7:33   /strategy/task
   |
 7 |     "global_batch": 12, "task": "lora"
   |                                 ^^^^^^ the model has experts, latent attention, multi-token prediction or other layers
  help: set task to "sft" or "pretrain"
)");
}

TransformerModel model_of(const std::string& text) {
  Diagnostics diagnostics;
  const JsonCursor scenario(JsonDocument::parse("scenario.json", "{" + text + "}", diagnostics));
  InputFiles files({}, {}, diagnostics);
  return *read_model(*scenario.member("model"), files)->transformer;
}

/// With attention of 24 and 16 latent numbers, heads of 8 + 4 and values of 6.
TransformerModel latent_experts() {
  TransformerModel model = model_of(kExperts);
  model.latent_attention = LatentAttention{.query_rank = 24,
                                           .key_value_rank = 16,
                                           .head_size_without_rotary = 8,
                                           .rotary_head_size = 4,
                                           .value_head_size = 6};
  model.head_size = 12;
  return model;
}

const LayerVariant kMixed{.experts = true};

TEST(ExpertParameters, AreCutByTheExpertGroupAndNothingElse) {
  const Layer layer = transformer_layer(model_of(kExperts), kMixed);
  const Parameters whole = parameters(layer);
  const Strategy strategy{.data_parallel = 8, .expert_parallel = 4};
  const Parameters rank = parameters_on_rank(layer, rank_shape_of(strategy));
  EXPECT_DOUBLE_EQ(rank.experts(), whole.experts() / 4.0);
  EXPECT_DOUBLE_EQ(rank.shared(), whole.shared());
}

TEST(ExpertParameters, OfLatentAttentionAreTheWholeModelOnOneRank) {
  TransformerModel fields = latent_experts();
  fields.multi_token_prediction_layers = 1;
  const Model model = layers_of(fields);
  EXPECT_DOUBLE_EQ(stage_parameters(model, Strategy{}, 0).total(),
                   parameters(model).total() + parameters(model.kind(model.ahead.kind)).total() +
                       parameters(model.ahead.join).total());
}

TEST(ExpertMemory, OptimizerStatesOfExpertsAreSplitOverTheirReplicas) {
  const Model model = layers_of(model_of(kExperts));
  const Strategy strategy{.data_parallel = 8,
                          .expert_parallel = 4,
                          .global_batch = 8,
                          .sequence_length = 128,
                          .sharding = Sharding::optimizer};
  const StageParameters parameters = stage_parameters(model, strategy, 0);
  const StageMemory memory = stage_memory(model, strategy)[0];
  // 12 bytes of states: all but experts over 8 ranks, experts over 2.
  EXPECT_DOUBLE_EQ(memory.optimizer.count(),
                   12.0 * (parameters.shared() / 8.0 + parameters.experts / 2.0));
  EXPECT_DOUBLE_EQ(memory.parameters.count(), 2.0 * parameters.total());
}

TEST(ExpertMemory, BothCopiesOfADoubledPipelineShareOutTheStatesOfExperts) {
  const Model model = layers_of(model_of(kExperts));
  Strategy strategy{.pipeline_parallel = 2,
                    .data_parallel = 8,
                    .expert_parallel = 4,
                    .global_batch = 64,
                    .sequence_length = 128,
                    .sharding = Sharding::optimizer};
  const StageParameters first = stage_parameters(model, strategy, 0);
  const StageParameters last = stage_parameters(model, strategy, 1);
  strategy.schedule = schedule_named("dualpipe");
  const StageMemory memory = stage_memory(model, strategy)[0];
  EXPECT_DOUBLE_EQ(memory.optimizer.count(), 12.0 * ((first.shared() + last.shared()) / 16.0 +
                                                     (first.experts + last.experts) / 4.0));
  EXPECT_DOUBLE_EQ(memory.parameters.count(), 2.0 * (first.total() + last.total()));
}

TEST(ExpertMemory, ALayerKeepsTheRowsOfItsExperts) {
  const TransformerModel model = model_of(kExperts);
  const Strategy strategy{.global_batch = 1, .sequence_length = 128};
  const double dense = layer_activation_bytes(transformer_layer(model), strategy).count();
  const double mixed = layer_activation_bytes(transformer_layer(model, kMixed), strategy).count();
  // 128 tokens: FC1 input 64, activation 2 x 256 and 256 less; router input 64, and for 2 experts
  // 64, 2 x 96 and 96 more, 2 bytes each.
  EXPECT_DOUBLE_EQ(mixed - dense, 128 * 2.0 * (64 + 2 * (64 + 3 * 96) - 64 - 3 * 256));
}

/// What a layer with experts does not keep of 128 tokens if it makes `module` again.
double dropped_by(const TransformerModel& model, RecomputePart module) {
  Strategy strategy{.global_batch = 1, .sequence_length = 128};
  const Bytes whole = layer_activation_bytes(transformer_layer(model, kMixed), strategy);
  strategy.recompute = Recompute::modules;
  strategy.recompute_modules = {module};
  return (whole - layer_activation_bytes(transformer_layer(model, kMixed), strategy)).count();
}

TEST(ExpertMemory, ModulesDropWhatTheyMakeAgain) {
  const TransformerModel model = latent_experts();
  // Of 128 tokens: FC2's inputs of 2 experts, 96 numbers of 2 bytes each; queries and keys of 12
  // and values of 6 for each head.
  EXPECT_DOUBLE_EQ(dropped_by(model, RecomputePart::moe_act), 128 * 2 * 96 * 2.0);
  const auto heads = static_cast<double>(model.attention_heads);
  const auto kv_heads = static_cast<double>(model.kv_heads);
  EXPECT_DOUBLE_EQ(dropped_by(model, RecomputePart::mla_up_proj),
                   128 * 2.0 * (heads * 12 + kv_heads * (12 + 6)));
}

TEST(ExpertMemory, ARecomputedMixtureKeepsTheInputOfItsRouter) {
  TransformerModel model = latent_experts();
  model.mixture_of_experts->shared_expert_hidden = 48;
  // The shared expert's gate and input of 48 each, their product; for 2 experts 64, 2 x 96 and 96.
  EXPECT_DOUBLE_EQ(dropped_by(model, RecomputePart::shared_experts), 128 * 2.0 * 3 * 48);
  EXPECT_DOUBLE_EQ(dropped_by(model, RecomputePart::moe), 128 * 2.0 * (3 * 48 + 2 * (64 + 3 * 96)));
}

TEST(LayersPerChunk, PredictionLayersTakePlacesToo) {
  // 61 layers, the embedding, the loss and one prediction layer over 32 chunks of two.
  const std::vector<int> layers =
      layers_per_chunk(LayerPlacement::embedding_and_loss_as_layers, 61, 32, 1);
  EXPECT_EQ(layers.front(), 1);
  EXPECT_EQ(layers[1], 2);
  EXPECT_EQ(layers.back(), 0);
}

TEST(LayersPerChunk, TheLastMayBeShort) {
  // DeepSeek-V3 in Megatron-Bridge: 61 layers as 3 x 16 + 13 and 15 x 4 + 1.
  EXPECT_THAT(layers_per_chunk(LayerPlacement::short_last_chunk, 61, 4),
              ElementsAre(16, 16, 16, 13));
  const std::vector<int> sixteen = layers_per_chunk(LayerPlacement::short_last_chunk, 61, 16);
  EXPECT_EQ(sixteen.front(), 4);
  EXPECT_EQ(sixteen.back(), 1);
  // 31 chunks of 2 would be more than all.
  EXPECT_FALSE(can_place(LayerPlacement::short_last_chunk, 61, 32, 1));
}

TEST(ExpertMemory, QuantisedMatricesOfExpertsAreSplitOverTheirReplicas) {
  // A byte a number less: of layers over 8 ranks, of experts, whose parts are 4, over 2.
  const Model model = layers_of(model_of(kExperts));
  Strategy strategy{.data_parallel = 8,
                    .expert_parallel = 4,
                    .global_batch = 8,
                    .sequence_length = 128,
                    .sharding = Sharding::full,
                    .precision = Precision::fp8};
  const StageParameters parameters = stage_parameters(model, strategy, 0);
  const Bytes plain = stage_memory(model, strategy)[0].parameters;
  strategy.memory.quantised_weights = true;
  EXPECT_NEAR((plain - stage_memory(model, strategy)[0].parameters).count(),
              parameters.layers / 8.0 + parameters.experts / 2.0, 1e-6);
  // Where nothing is sharded, a byte of all that a rank has.
  strategy.sharding = Sharding::none;
  const Bytes quantised = stage_memory(model, strategy)[0].parameters;
  strategy.memory.quantised_weights = false;
  EXPECT_NEAR((stage_memory(model, strategy)[0].parameters - quantised).count(),
              parameters.layers + parameters.experts, 1e-6);
}

}  // namespace
}  // namespace headway
