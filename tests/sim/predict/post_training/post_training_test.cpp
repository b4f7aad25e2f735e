#include "sim/predict/post_training/post_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/predict/post_training/generation.h"
#include "sim/predict/simulate.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Eight nodes of two, of which the first `job_nodes` train.
json learning(int job_nodes, const json& generation) {
  json text = small_scenario(8);
  text["cluster"]["job_nodes"] = job_nodes;
  text["strategy"] = {{"tensor_parallel", 2}, {"micro_batch", 1}, {"global_batch", 64}};
  text["post_training"] = {{"rollouts", 256},
                           {"prompt_tokens", 24},
                           {"mean_response", 1000},
                           {"longest_response", 4000},
                           {"generation", generation}};
  return text;
}

Prediction answer(const json& text) {
  return simulate(scenario_of(text), {.scaling = false}).prediction;
}

// 256 rollouts of 1,024 tokens are four iterations of 64 sequences of 1,024.
TEST(PostTraining, TakesTurnsOnTheSameAccelerators) {
  const Prediction prediction = answer(learning(8, {{"engine_accelerators", 2}}));
  const PostTraining& of = *prediction.post_training;
  EXPECT_EQ(of.accelerators, 16);
  EXPECT_EQ(of.generating, 16);
  EXPECT_DOUBLE_EQ(of.iterations, 4.0);
  EXPECT_DOUBLE_EQ(of.training.count(), 4.0 * prediction.iteration_time.count());
  EXPECT_GT(of.transfer, Seconds(0.0));
  EXPECT_DOUBLE_EQ(of.step.count(),
                   (of.generation + of.log_probabilities + of.training + of.transfer).count());
  EXPECT_DOUBLE_EQ(of.tokens_per_second, 256 * 1024 / of.step.count());
  // Two forward passes beside training, which has one and what the backward pass takes.
  EXPECT_GT(of.log_probabilities / of.training, 0.45);
  EXPECT_LT(of.log_probabilities / of.training, 1.0);
}

// 8 engines of two accelerators have 32 rollouts each.
TEST(PostTraining, GeneratesOnEnginesAlike) {
  const Scenario scenario = scenario_of(learning(8, {{"engine_accelerators", 2}}));
  const GenerationEngine engine(scenario.model, *scenario.strategy, *scenario.profile,
                                *scenario.cluster, scenario.post_training->generation);
  const PostTraining of = *simulate(scenario, {.scaling = false}).prediction.post_training;
  EXPECT_DOUBLE_EQ(of.generation.count(),
                   generation_time(engine, 32, 24, ResponseLengths(1000, 4000)).count());
  EXPECT_DOUBLE_EQ(of.token.count(), engine.token_time(32, 24).count());
}

TEST(PostTraining, GoesOnSideBySideWhereOthersGenerate) {
  json text = learning(4, {{"engine_accelerators", 2}, {"accelerators", 8}});
  const PostTraining in_turns = *answer(text).post_training;
  EXPECT_EQ(in_turns.accelerators, 16);
  EXPECT_EQ(in_turns.generating, 8);
  text["post_training"]["steps_off_policy"] = 1;
  const PostTraining beside = *answer(text).post_training;
  EXPECT_EQ(beside.generation, in_turns.generation);
  EXPECT_DOUBLE_EQ(
      beside.step.count(),
      (max(beside.generation, beside.training + beside.log_probabilities) + beside.transfer)
          .count());
  // The longest responses of eight steps run out once.
  text["post_training"]["steps_off_policy"] = 8;
  const PostTraining late = *answer(text).post_training;
  EXPECT_LT(late.generation, beside.generation);
  EXPECT_GT(late.generation, 0.125 * beside.generation);
}

TEST(PostTraining, WithoutForwardPassesHasNoLogProbabilities) {
  json text = learning(8, {{"engine_accelerators", 2}});
  text["post_training"]["forward_passes"] = 0;
  EXPECT_EQ(answer(text).post_training->log_probabilities, Seconds(0.0));
}

struct RefusedPostTraining {
  const char* field;
  json value;
  const char* told;
};

TEST(PostTraining, IsRefusedWhereItMakesNoSense) {
  const std::vector<RefusedPostTraining> all = {
      {"/post_training/rollouts", 0, "rollouts must be between 1"},
      {"/post_training/rollouts", 2, "do not fill an iteration"},
      {"/post_training/mean_response", 5000, "longer on average than the longest"},
      {"/post_training/longest_response", "x", "longest_response"},
      {"/post_training/steps_off_policy", 1, "older where others generate"},
      {"/post_training/generation/engine_accelerators", 3,
       "does not divide the attention heads (16)"},
      {"/post_training/generation/accelerators", 8, "they need nodes behind those of all jobs"},
      {"/post_training/generation/memory_share", 0.001, "leave no room"},
      {"/post_training/generation", 3, "object"},
      {"/post_training/generation/engine_acelerators", 2, "did you mean"},
      {"/statistics", {{"steps", 1}, {"batch", 1}, {"noise_scale", 1}}, "count training alone"},
      {"/strategy/synchronisation",
       {{"scheme", "local_steps"}, {"islands", 2}, {"every", 4}},
       "in every step"},
  };
  for (const RefusedPostTraining& refused : all) {
    json text = learning(8, {{"engine_accelerators", 2}});
    text[json::json_pointer(refused.field)] = refused.value;
    const std::string told = problems_in([&] { static_cast<void>(scenario_of(text)); });
    EXPECT_THAT(told, HasSubstr(refused.told)) << refused.field;
  }
}

}  // namespace
}  // namespace headway
