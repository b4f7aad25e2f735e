#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/jobs/memory.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/work.h"
#include "tests/sim/jobs/sample_models.h"
#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using testing::kLlama3;
using testing::llama;
using testing::read_strategy_text;

const Model kTunedLlama = llama(32, 4096, 32, 8, 14'336);

double adapters_of_a_layer(const Model& model, const Strategy& strategy) {
  return adapter_parameters_on_rank(model.layer(0), rank_shape_of(strategy),
                                    adapter_rank(strategy));
}

Strategy lora(int rank, std::vector<AdapterTarget> targets) {
  return {.task = Task::lora,
          .lora_rank = rank,
          .lora_targets = std::move(targets),
          .global_batch = 8,
          .sequence_length = 8192};
}

Strategy strategy_of(const std::string& fields) {
  const auto reading = read_strategy_text(kLlama3, fields);
  EXPECT_EQ(reading.problems, "");
  return reading.read ? reading.read->strategy : Strategy{};
}

TEST(FineTuning, PacksShortDocumentsWherePretrainingHasWholeSequences) {
  EXPECT_EQ(strategy_of(R"("global_batch": 8)").packed_length, 8192);
  EXPECT_EQ(strategy_of(R"("task": "sft", "global_batch": 8)").packed_length, 3277);  // 0.4
  EXPECT_EQ(strategy_of(R"("task": "lora", "packed_length": 500, "global_batch": 8)").packed_length,
            500);
  // Unfused attention would gain nothing.
  EXPECT_EQ(
      strategy_of(R"("task": "sft", "attention": "unfused", "global_batch": 8)").packed_length,
      8192);
}

TEST(FineTuning, ReadsWhatHasAdapters) {
  const Strategy whole = strategy_of(R"("task": "lora", "global_batch": 8)");
  EXPECT_EQ(whole.lora_rank, 8);
  EXPECT_THAT(whole.lora_targets, ElementsAre(AdapterTarget::qkv));
  const Strategy chosen = strategy_of(
      R"("task": "lora", "lora_rank": 16, "lora_targets": ["fc2", "projection"], "global_batch": 8)");
  EXPECT_EQ(chosen.lora_rank, 16);
  EXPECT_THAT(chosen.lora_targets, ElementsAre(AdapterTarget::fc2, AdapterTarget::projection));
}

TEST(FineTuning, ResolvesAdaptersOnlyWhereTheyAreTrained) {
  EXPECT_FALSE(
      read_strategy_text(kLlama3, R"("global_batch": 8)").read->resolved->contains("lora_targets"));
  const auto resolved =
      read_strategy_text(kLlama3, R"("task": "lora", "global_batch": 8)").read->resolved;
  EXPECT_EQ(resolved->at("lora_rank"), 8);
  EXPECT_EQ(resolved->at("lora_targets"), nlohmann::json({"qkv"}));
}

TEST(FineTuning, AdaptersWithoutTheirTaskAreAProblem) {
  EXPECT_EQ(read_strategy_text(kLlama3, R"(    "lora_rank": 4,
    "global_batch": 8)")
                .problems,
            R"(error: lora_rank needs task "lora"
  --> scenario.json:9:18   /strategy/lora_rank
   |
 9 |     "lora_rank": 4,
   |                  ^ no adapters are trained
  help: set task to "lora", or leave lora_rank out
)");
}

TEST(FineTuning, ProblemsOfTargetsAreToldOneByOne) {
  EXPECT_EQ(read_strategy_text(kLlama3, R"(    "task": "lora",
    "lora_targets": ["qkv", "gate", "qkv"],
    "global_batch": 8)")
                .problems,
            R"(error: lora_targets has none like this
  --> scenario.json:10:29   /strategy/lora_targets/1
   |
10 |     "lora_targets": ["qkv", "gate", "qkv"],
   |                             ^^^^^^ not one of them
  help: use some of qkv, projection, fc1, fc2

error: lora_targets names one twice
  --> scenario.json:10:37   /strategy/lora_targets/2
   |
10 |     "lora_targets": ["qkv", "gate", "qkv"],
   |                                     ^^^^^ named before
  help: leave one of the two out
)");
  EXPECT_EQ(read_strategy_text(kLlama3, R"(    "task": "lora",
    "lora_targets": [],
    "global_batch": 8)")
                .problems,
            R"(error: lora_targets has to name at least one
  --> scenario.json:10:21   /strategy/lora_targets
   |
10 |     "lora_targets": [],
   |                     ^ empty
  help: use some of qkv, projection, fc1, fc2
)");
}

TEST(FineTuning, DocumentsArePackedIntoSequencesAndIntoFusedAttention) {
  EXPECT_EQ(read_strategy_text(kLlama3, R"(    "packed_length": 9000,
    "global_batch": 8)")
                .problems,
            R"(error: packed_length is longer than the sequence
  --> scenario.json:9:22   /strategy/packed_length
   |
 9 |     "packed_length": 9000,
   |                      ^^^^ 9000 of 8192 tokens
   |
  ::: scenario.json:6:55   /model/sequence_length is 8192
  help: use at most 8192
)");
  EXPECT_EQ(read_strategy_text(kLlama3, R"(    "packed_length": 1000,
    "attention": "unfused",
    "global_batch": 8)")
                .problems,
            R"(error: packed_length needs attention "flash"
  --> scenario.json:9:22   /strategy/packed_length
   |
 9 |     "packed_length": 1000,
   |                      ^^^^ unfused attention works over the whole square and masks the rest
   |
  ::: scenario.json:10:18   /strategy/attention is "unfused"
  help: set attention to "flash", or leave packed_length out
)");
}

TEST(Adapters, AreTwoNarrowMatricesBesideEachTarget) {
  // QKV is 4096 x (32 + 2 x 8) x 128 = 4096 x 6144: 8 x 10,240. FC2 is 14,336 x 4096: 8 x 18,432.
  EXPECT_DOUBLE_EQ(adapters_of_a_layer(kTunedLlama, lora(8, {AdapterTarget::qkv})), 81'920.0);
  Strategy both = lora(8, {AdapterTarget::qkv, AdapterTarget::fc2});
  EXPECT_DOUBLE_EQ(adapters_of_a_layer(kTunedLlama, both), 81'920.0 + 147'456.0);
  both.tensor_parallel = 4;
  EXPECT_DOUBLE_EQ(adapters_of_a_layer(kTunedLlama, both), (81'920.0 + 147'456.0) / 4.0);
  both.task = Task::sft;
  EXPECT_DOUBLE_EQ(adapters_of_a_layer(kTunedLlama, both), 0.0);
}

TEST(Adapters, AreCutWhereTheMatrixBesideThemIs) {
  // 4 ranks: of QKV [4096 x 6144] and FC2 [14,336 x 4096] with rank 8, 16 tokens. QKV's outputs are
  // cut, so are A's and B's; FC2's inputs are, so A sees a quarter of them and B gives a quarter.
  Strategy strategy = lora(8, {AdapterTarget::qkv, AdapterTarget::fc2});
  strategy.tensor_parallel = 4;
  strategy.sequence_length = 16;
  const Work layer = work(kTunedLlama.layer(0), rank_shape_of(strategy), adapter_rank(strategy));
  ASSERT_EQ(layer.linears.size(), 8U);  // the four matrices, then A and B of each target
  EXPECT_EQ(layer.linears[4].forward, (GemmShape{.m = 16, .n = 2, .k = 4096}));
  EXPECT_EQ(layer.linears[5].forward, (GemmShape{.m = 16, .n = 1536, .k = 8}));
  EXPECT_EQ(layer.linears[6].forward, (GemmShape{.m = 16, .n = 8, .k = 3584}));
  EXPECT_EQ(layer.linears[7].forward, (GemmShape{.m = 16, .n = 1024, .k = 8}));
  EXPECT_TRUE(layer.linears[0].frozen);
  EXPECT_FALSE(layer.linears[4].frozen);
}

TEST(Adapters, AloneHaveGradientsAndOptimizerStates) {
  // 2 bytes of every parameter; of the adapters 4 of gradients and 12 of the optimizer.
  Strategy strategy = lora(8, {AdapterTarget::qkv});
  const double frozen = parameters(kTunedLlama).total();
  const double trained = 32.0 * 81'920.0;
  const StageMemory memory = stage_memory(kTunedLlama, strategy).front();
  EXPECT_DOUBLE_EQ(memory.parameters.count(), 2.0 * (frozen + trained));
  EXPECT_DOUBLE_EQ(memory.gradients.count(), 4.0 * trained);
  EXPECT_DOUBLE_EQ(memory.optimizer.count(), 12.0 * trained);
  strategy.sharding = Sharding::full;
  strategy.data_parallel = 8;
  EXPECT_DOUBLE_EQ(stage_memory(kTunedLlama, strategy).front().parameters.count(),
                   2.0 * (frozen + trained) / 8.0);
}

TEST(Adapters, AFrozenMatrixKeepsNoInput) {
  // Without adapters a layer keeps the inputs of its four matrices. Those of FC1 (a residual) and
  // FC2 (8192 x 14,336 x 2 bytes) serve weight gradients only; that of the projection is the output
  // that fused attention needs; QKV has an adapter.
  Strategy strategy = lora(8, {AdapterTarget::qkv});
  Strategy whole = strategy;
  whole.task = Task::sft;
  const Bytes residual(8192.0 * 4096.0 * 2.0);
  EXPECT_DOUBLE_EQ((testing::layer_activations(kTunedLlama, whole) -
                    testing::layer_activations(kTunedLlama, strategy))
                       .count(),
                   (residual + Bytes(8192.0 * 14'336.0 * 2.0)).count());
  strategy.lora_targets = {AdapterTarget::fc2};
  EXPECT_DOUBLE_EQ((testing::layer_activations(kTunedLlama, whole) -
                    testing::layer_activations(kTunedLlama, strategy))
                       .count(),
                   2.0 * residual.count());
}

}  // namespace
}  // namespace headway
