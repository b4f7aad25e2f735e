// What tokens and rollouts take, by hand.
#include "sim/predict/post_training/generation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/layers/parameters.h"
#include "sim/programs/stage_costs/optimizer_cost.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

Scenario scenario_with(const nlohmann::json& model) {
  nlohmann::json text = small_scenario(2);
  text["model"] = model;
  text["strategy"] = {{"micro_batch", 1}, {"global_batch", 4}};
  return scenario_of(text);
}

GenerationEngine engine_of(const Scenario& scenario, const GenerationSettings& settings) {
  return {scenario.model, *scenario.strategy, *scenario.profile, *scenario.cluster, settings};
}

// 2 bytes of each of the parameters but the rows of the embedding, which are looked up:
// 8,030,261,248
// - 128,256 x 4,096. A position more is 32 layers of 8 heads with a key and a value of 128, 2
// bytes.
TEST(GenerationEngine, ATokenTakesReadingWeightsAndCaches) {
  const Scenario scenario = scenario_with("llama3_8b");
  const double bandwidth = streaming_rate(*scenario.profile).count();
  const GenerationEngine engine = engine_of(scenario, {});
  const double positions = (engine.token_time(4, 1000) - engine.token_time(4, 500)).count();
  EXPECT_NEAR(positions, 4.0 * 500.0 * 32 * 8 * 2 * 128 * 2.0 / bandwidth, 1e-12);
  const double weights = 2.0 * (8'030'261'248.0 - 128'256.0 * 4'096.0) / bandwidth;
  const double token = engine.token_time(1, 0).count();
  EXPECT_GT(token, weights);
  EXPECT_LT(token, 1.1 * weights);  // and the gaps between kernels
  EXPECT_NEAR(engine.token_time(2, 0).count(), token, 1e-12);
  const GenerationEngine slow = engine_of(scenario, {.token_overhead = Seconds(3e-3)});
  EXPECT_NEAR(slow.token_time(1, 0).count(), token + 3e-3, 1e-12);
}

TEST(GenerationEngine, ManyTokensTakeTheirProducts) {
  const Scenario scenario = scenario_with("llama3_8b");
  const GenerationEngine engine = engine_of(scenario, {});
  const Seconds more = engine.token_time(20'000, 0) - engine.token_time(10'000, 0);
  EXPECT_NEAR(more / (10'000.0 * engine.prompt_token_time()), 1.0, 1e-9);
  // No faster than 2 operations for each parameter of the layers allow.
  const double peak = scenario.profile->device.peak_flops.at(Precision::bf16).value;
  EXPECT_GT(engine.prompt_token_time().count(), 2.0 * 6.979e9 / peak);
}

// A share of each key-value head's cache where there are fewer heads than ranks, and two sums a
// layer.
TEST(GenerationEngine, RanksShareWeightsAndHeads) {
  const Scenario scenario = scenario_with("llama3_8b");
  const double bandwidth = streaming_rate(*scenario.profile).count();
  const GenerationEngine pair = engine_of(scenario, {.engine_accelerators = 2});
  const double positions = (pair.token_time(4, 1000) - pair.token_time(4, 500)).count();
  EXPECT_NEAR(positions, 4.0 * 500.0 * 32 * 4 * 2 * 128 * 2.0 / bandwidth, 1e-12);
  const PricedCollective sum(
      *scenario.cluster, {.library = CollectiveLibrary::nccl, .profile = scenario.profile.get()},
      CollectiveKind::all_reduce, {{0, 1}});
  const auto sums = [&](double tokens) {
    return 64.0 * sum.price(Bytes(2.0 * 4096 * tokens)).time;
  };
  const double more = (pair.token_time(8, 0) - pair.token_time(1, 0)).count();
  EXPECT_NEAR(more, (sums(8) - sums(1)).count(), 1e-12);
}

// DeepSeek-V2, 2024, section 2.1: 512 + 64 elements of a position, on every rank.
TEST(GenerationEngine, LatentAttentionCachesWhatKeysAreMadeOf) {
  const Scenario scenario = scenario_with("deepseek_v3");
  const double bandwidth = streaming_rate(*scenario.profile).count();
  for (const int parts : {1, 2}) {
    const GenerationEngine engine = engine_of(scenario, {.engine_accelerators = parts});
    const double positions = (engine.token_time(1, 1000) - engine.token_time(1, 0)).count();
    EXPECT_NEAR(positions, 1000.0 * 61 * 576 * 2.0 / bandwidth, 1e-12);
  }
}

// 8 of 128 experts of 3 matrices of 2,048 x 768 in 48 layers: one token reads 8, two tokens
// 128 (1 - (15/16)^2) = 15.5.
TEST(GenerationEngine, OnlyExpertsThatSomebodyGoesToAreRead) {
  const Scenario scenario = scenario_with("qwen3_30b_a3b");
  const double bandwidth = streaming_rate(*scenario.profile).count();
  const GenerationEngine engine = engine_of(scenario, {});
  const double more = (engine.token_time(2, 0) - engine.token_time(1, 0)).count();
  EXPECT_NEAR(more, 7.5 * 48 * 3 * 2048 * 768 * 2.0 / bandwidth, 1e-9);
}

// 0.9 x memory - weights, over 131,072 bytes a position.
TEST(GenerationEngine, CachesTakeWhatWeightsLeaveOfTheMemory) {
  const Scenario scenario = scenario_with("llama3_8b");
  const double memory = scenario.profile->device.memory_bytes.value;
  const double room = 0.9 * memory - 2.0 * 8'030'261'248.0;
  const GenerationEngine engine = engine_of(scenario, {.sequences = 1'000'000});
  EXPECT_DOUBLE_EQ(engine.most_sequences(1000), std::floor(room / (1000.0 * 131'072.0)));
  EXPECT_DOUBLE_EQ(engine.most_sequences(1e9), 1.0);
  EXPECT_DOUBLE_EQ(engine_of(scenario, {}).most_sequences(1000), 256.0);
}

TEST(ResponseLengths, HaveTheirMean) {
  for (const double mean : {1.0, 300.0, 700.0, 1500.0, 1536.0}) {
    const ResponseLengths lengths(mean, 1536.0);
    double tokens = 0.0;
    double squares = 0.0;
    constexpr int kSteps = 200'000;
    for (int i = 0; i < kSteps; ++i) {
      const double length = 1536.0 * (i + 0.5) / kSteps;
      tokens += lengths.longer_than(length) * 1536.0 / kSteps;
      squares += 2.0 * length * lengths.longer_than(length) * 1536.0 / kSteps;
    }
    EXPECT_NEAR(tokens / mean, 1.0, 2e-2) << mean;
    EXPECT_NEAR(lengths.mean_age() / (0.5 * squares / tokens), 1.0, 2e-2) << mean;
  }
}

// All of 100 tokens behind prompts of 50: each token a step, at contexts from 50 to 150, 100 on
// average; what a token takes is linear in them.
TEST(GenerationTime, OfEqualResponsesIsAStepForEachToken) {
  const Scenario scenario = scenario_with("llama3_8b");
  const GenerationEngine engine = engine_of(scenario, {.sequences = 8});
  const ResponseLengths equal(100.0, 100.0);
  const Seconds once = 8.0 * 50.0 * engine.prompt_token_time() + 100.0 * engine.token_time(8, 100);
  EXPECT_NEAR(generation_time(engine, 8, 50, equal) / once, 1.0, 1e-9);
  // Twice as many: those that wait take as long again, at the age that responses have on average.
  const Seconds twice = once + 8.0 * 50.0 * engine.prompt_token_time() +
                        100.0 * engine.token_time(8, 50 + equal.mean_age());
  EXPECT_NEAR(generation_time(engine, 16, 50, equal) / twice, 1.0, 1e-9);
}

// The longest decides, however short the others are.
TEST(GenerationTime, EndsWithTheLongest) {
  const Scenario scenario = scenario_with("llama3_8b");
  const GenerationEngine engine = engine_of(scenario, {});
  const Seconds alone = 1000.0 * engine.token_time(1, 500);
  EXPECT_GE(generation_time(engine, 64, 0, {100.0, 1000.0}) / alone, 1.0);
  EXPECT_LT(generation_time(engine, 64, 0, {100.0, 1000.0}) / alone, 1.1);
}

}  // namespace
}  // namespace headway
