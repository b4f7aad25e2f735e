// Buffers of stages, and memory of ranks that share out embedding tables.
#include <gtest/gtest.h>

#include "sim/jobs/memory_of_stage.h"
#include "sim/jobs/recompute/pass_memory.h"

namespace headway {
namespace {

/// Tables of rows of 4 numbers, 1000 looked up three times and 10 once.
Model tables_of_two_sizes() {
  Model model;
  Layer bags{.name = "bags"};
  bags.tables = {{1000.0, 4.0, 3.0}, {10.0, 4.0, 1.0}};
  append_layers(model, bags);
  model.has_tokens = false;
  return model;
}

// Of one token the layers keep 20, 200 and 2,000 bytes. What the first needs at work it needs when
// the others have let go of 2,200.
TEST(PassMemory, OfALayerAtWorkCountsWithoutWhatLayersBehindItHeld) {
  Model model;
  for (const double elements : {10.0, 100.0, 1000.0}) {
    append_layers(model, Layer{.kept = {{.elements = elements}}});
  }
  const Strategy strategy{.sequence_length = 1};
  PassMemory passes(model, strategy);
  EXPECT_EQ(passes.on_device({0, 3}), 2220_B);
  EXPECT_EQ(passes.at_work({0, 3}, {5000_B, 300_B, 250_B}), 2800_B);
  EXPECT_EQ(passes.at_work({0, 3}, {2300_B, 300_B, 250_B}), 250_B);
  EXPECT_EQ(passes.at_work({0, 1}, {5000_B, 300_B, 250_B}), 5000_B);
}

// Two ranks of 8 samples, the large table on one of them: 4 bytes a number, as many of its states,
// and on their way of 16 samples 4 pooled numbers in 2 bytes.
TEST(TableMemory, OfPlacedTablesIsThatOfTheFullestRank) {
  const Model model = tables_of_two_sizes();
  Strategy strategy{.data_parallel = 2, .micro_batch = 8, .global_batch = 16};
  strategy.tables = {.placement = TablePlacement::table,
                     .exchange_cost = 0.0,
                     .optimizer = TableOptimizer::adagrad};
  const StageMemory placed = states_of_stage(model, strategy, 0);
  EXPECT_DOUBLE_EQ(placed.table_weights.count(), 4.0 * 4000.0);
  EXPECT_DOUBLE_EQ(placed.table_states.count(), 4.0 * 4000.0);
  EXPECT_EQ(placed.parameters, placed.table_weights);
  EXPECT_EQ(placed.optimizer, placed.table_states);
  EXPECT_DOUBLE_EQ(placed.buffers.count(), 16.0 * 4.0 * 2.0);
  EXPECT_GT(memory_of_stage(model, strategy, 0).buffers, placed.buffers + 1_GiB);
  // Groups of two on four ranks: half of the rows each; what is pooled is added up in a group, and
  // half of it sent.
  strategy.data_parallel = 4;
  strategy.tables.group = 2;
  const StageMemory grouped = states_of_stage(model, strategy, 0);
  EXPECT_DOUBLE_EQ(grouped.table_weights.count(), 4.0 * 2000.0);
  EXPECT_DOUBLE_EQ(grouped.buffers.count(), 32.0 * 4.0 * 2.0 * (1.0 + 0.5));
}

// Of two layers of 10 x 100 one is gathered and one fetched ahead; nothing stands at their ends.
TEST(GatheredBuffers, AreAsWideAsWhatIsGathered) {
  Model model;
  for (int i = 0; i < 2; ++i) {
    Layer layer{.name = "layer"};
    layer.products = {{.outputs = 10.0, .inputs = 100.0}};
    append_layers(model, layer);
  }
  Strategy strategy{.data_parallel = 2,
                    .global_batch = 2,
                    .sharding = Sharding::full,
                    .precision = Precision::fp8};
  const Bytes wide = memory_of_stage(model, strategy, 0).buffers;
  strategy.quantised_parameter_gathers = true;
  EXPECT_NEAR((wide - memory_of_stage(model, strategy, 0).buffers).count(), 2.0 * 1000.0, 1e-6);
  strategy.reshard_after_forward = false;
  const Bytes all_narrow = memory_of_stage(model, strategy, 0).buffers;
  strategy.quantised_parameter_gathers = false;
  EXPECT_NEAR((memory_of_stage(model, strategy, 0).buffers - all_narrow).count(), 2.0 * 1000.0,
              1e-6);
}

// Of layers of 10 x 100 with adapters of 10 + 100 both are gathered, in 2 bytes, one layer in use
// and one ahead; in 4 bytes gradients of adapters alone are on their way, or of the whole layer.
TEST(GatheredBuffers, OfAdaptersReduceTheirGradientsAlone) {
  Model model;
  Layer layer{.name = "layer"};
  layer.products = {{.outputs = 10.0, .inputs = 100.0, .target = AdapterTarget::fc1}};
  append_layers(model, layer, 2);
  Strategy strategy{.data_parallel = 2, .global_batch = 2, .sharding = Sharding::full};
  const Bytes whole = memory_of_stage(model, strategy, 0).buffers;
  strategy.task = Task::lora;
  strategy.lora_rank = 1;
  strategy.lora_targets = {AdapterTarget::fc1};
  EXPECT_NEAR((whole - memory_of_stage(model, strategy, 0).buffers).count(),
              4 * (1000.0 - 110.0) - 2 * 2 * 110.0, 1e-6);
}

// A matrix of 10 x 100 beside tables: their gradients do not travel with its.
TEST(TableMemory, IsNotInTheBucketOfALayer) {
  Model model = tables_of_two_sizes();
  model.kinds.front().products = {{.outputs = 10.0, .inputs = 100.0}};
  Strategy strategy{.data_parallel = 2, .micro_batch = 8, .global_batch = 16};
  strategy.tables = {.placement = TablePlacement::table, .exchange_cost = 0.0};
  const Bytes whole = memory_of_stage(model, strategy, 0).buffers;
  strategy.gradient_bucket = Bytes(1.0);
  EXPECT_NEAR((whole - memory_of_stage(model, strategy, 0).buffers).count(), 4.0 * 1000.0 - 1.0,
              1e-6);
}

// A layer of 1,000 numbers of which one is its input: 2 x 999 bytes made again, 2 of a gradient.
// The softmax, 4 bytes of each of 50 or 100 classes, was kept with what the layers keep until then,
// and is gone: the reserve is of both.
TEST(StageBuffers, OfALayerThatIsRecomputedTakeThePlaceOfTheSoftmax) {
  Model model;
  append_layers(model, Layer{.input = 1.0, .kept = {{.elements = 1000.0}}});
  Strategy strategy{.sequence_length = 1};
  strategy.recompute = Recompute::full;
  strategy.memory.allocator_reserve = 0.0;
  const auto memory = [&](double classes) {
    model.last.loss_classes = classes;
    return memory_of_stage(model, strategy, 0);
  };
  const Bytes context = memory(100.0).buffers - Bytes(2000.0 - 400.0);
  EXPECT_EQ(memory(50.0).buffers - context, Bytes(2000.0 - 200.0));
  EXPECT_EQ(memory(50.0).activations, Bytes(2.0 + 200.0));
  // Of more classes the loss itself, 6 bytes of each, is what needs most.
  EXPECT_EQ(memory(300.0).buffers - context, Bytes(6 * 300.0));
}

// The first of two stages has nothing of the wide matrix on the second.
TEST(StageBuffers, AreOfTheLayersThatStandThere) {
  Model model;
  Layer narrow{.name = "narrow"};
  narrow.products = {{.outputs = 10.0, .inputs = 10.0}};
  append_layers(model, narrow);
  Layer wide{.name = "wide"};
  wide.products = {{.outputs = 10'000.0, .inputs = 10'000.0}};
  append_layers(model, wide);
  const Strategy strategy{.pipeline_parallel = 2, .data_parallel = 2, .global_batch = 4};
  const Bytes first = memory_of_stage(model, strategy, 0).buffers;
  const Bytes second = memory_of_stage(model, strategy, 1).buffers;
  // In 4 bytes the gradients of a layer on their way.
  EXPECT_NEAR((second - first).count(), 4.0 * (1e8 - 100.0), 1e6);
}

}  // namespace
}  // namespace headway
