// What degrees, kernels and what is trained leave of a layer on one rank.
#include <gtest/gtest.h>

#include "sim/layers/exchanges.h"
#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

TEST(RankShapeTokens, AreThoseOfAContextParallelRank) {
  RankShape shape{
      .micro_batch = 3, .sequence_length = 8, .tensor_parallel = 2, .context_parallel = 4};
  EXPECT_EQ(shape.tokens(), 6);
  EXPECT_EQ(shape.residual_tokens(), 6);
  shape.sequence_parallel = true;
  EXPECT_EQ(shape.residual_tokens(), 3);
  EXPECT_EQ(shape.attention_length(), 8);
  shape.packed_length = 4;
  EXPECT_EQ(shape.attention_length(), 4);
}

TEST(RankShapeKernels, HoldWhatTheirChoiceSays) {
  const RankShape fused;
  RankShape plain;
  plain.fused_attention = plain.fused_normalization = plain.fused_activation = false;
  plain.fused_softmax = false;
  RankShape copying;
  copying.copied_attention = true;
  EXPECT_TRUE(copying.holds(KernelChoice::copied_attention));
  EXPECT_FALSE(fused.holds(KernelChoice::copied_attention));
  for (const KernelChoice when : {KernelChoice::fused_attention, KernelChoice::fused_normalization,
                                  KernelChoice::fused_activation}) {
    EXPECT_TRUE(fused.holds(when) && !plain.holds(when));
  }
  for (const KernelChoice when :
       {KernelChoice::unfused_attention, KernelChoice::unfused_normalization,
        KernelChoice::unfused_activation, KernelChoice::unfused_softmax}) {
    EXPECT_TRUE(!fused.holds(when) && plain.holds(when));
  }
  EXPECT_TRUE(fused.holds(KernelChoice::always) && plain.holds(KernelChoice::always));
  // Where everything is fp32 its result stands beside no copy.
  plain.element_bytes = 4.0;
  EXPECT_FALSE(plain.holds(KernelChoice::unfused_softmax));
  EXPECT_TRUE(plain.holds(KernelChoice::unfused_attention));
}

TEST(RankShapeBytes, AreThoseOfTheWayToStore) {
  RankShape shape;
  EXPECT_EQ(shape.bytes(Stored::quantised_copy), 0);  // in 16 bits the original will do
  shape.product_bytes = 1;
  EXPECT_EQ(shape.bytes(Stored::working), 2);
  EXPECT_EQ(shape.bytes(Stored::quantised), 1);
  EXPECT_EQ(shape.bytes(Stored::activation_input), 2);
  shape.activation_input_bytes = 1;
  EXPECT_EQ(shape.bytes(Stored::activation_input), 1);
  EXPECT_EQ(shape.bytes(Stored::quantised_copy), 1);
  EXPECT_EQ(shape.bytes(Stored::single), 4);
  EXPECT_EQ(shape.bytes(Stored::mask), 1);
}

TEST(ExpertLoad, IsThatOfTheRankWithTheBusiestExpert) {
  // 8 experts, 2 a rank. One gets twice the mean, the other seven share out the other 6 means:
  // (2 + 6/7) / 2 of what an even routing gives the rank.
  RankShape shape{.expert_parallel = 4, .expert_imbalance = 2};
  EXPECT_DOUBLE_EQ(expert_load(8, shape), (2.0 + 6.0 / 7.0) / 2.0);
  shape.expert_capacity = 1.5;  // cuts the busiest
  EXPECT_DOUBLE_EQ(expert_load(8, shape), (1.5 + 6.0 / 7.0) / 2.0);
  shape.expert_capacity = 0.5;  // and all the others
  EXPECT_DOUBLE_EQ(expert_load(8, shape), 0.5);
  EXPECT_DOUBLE_EQ(expert_load(8, {}), 1.0);
  EXPECT_DOUBLE_EQ(expert_load(1, {.expert_imbalance = 1.0}), 1.0);
}

/// 2 of 4 experts for each token, on one rank.
Layer routed_layer() {
  Layer layer;
  layer.routing = ExpertRouting{.experts = 4.0, .experts_per_token = 2.0, .width = 3.0};
  return layer;
}

TEST(LayerExchangesOfExperts, FollowTheBusiestRank) {
  // 5 tokens to 2 experts each, 3 numbers of 2 bytes: 60 bytes, and 4 experts a rank even out what
  // one of them gets more.
  const Layer layer = routed_layer();
  RankShape shape{.sequence_length = 5, .expert_imbalance = 2};
  EXPECT_DOUBLE_EQ(routed_message(layer, shape).count(), 60.0);
  shape.expert_parallel = 4;
  EXPECT_DOUBLE_EQ(routed_message(layer, shape).count(), 120.0);
}

Layer attending_layer(bool causal, double window) {
  Layer layer;
  layer.attention = AttentionCore{.heads = 8.0,
                                  .key_heads = 4.0,
                                  .head_size = 3.0,
                                  .value_head_size = 2.0,
                                  .causal = causal,
                                  .window = window};
  return layer;
}

TEST(AttentionOfARank, IsOverDocumentsByThemselves) {
  const Layer layer = attending_layer(true, 0.0);
  RankShape shape{.micro_batch = 2,
                  .sequence_length = 16,
                  .packed_length = 4,
                  .tensor_parallel = 2,
                  .context_parallel = 2};
  const AttentionShape ring = work(layer, shape).attention->shape;
  EXPECT_EQ(ring.sequences, 8);  // four documents in each of two sequences
  EXPECT_EQ(ring.query_length, 2);
  EXPECT_EQ(ring.key_length, 4);
  EXPECT_EQ(ring.query_heads, 4);
  EXPECT_EQ(ring.key_heads, 2);
  EXPECT_EQ(ring.value_head_size, 0);  // as wide as keys, as measured shapes have them
  shape.scattered_heads = true;
  const AttentionShape swapped = work(layer, shape).attention->shape;
  EXPECT_EQ(swapped.query_length, 4);
  EXPECT_EQ(swapped.query_heads, 2);
  EXPECT_EQ(swapped.key_heads, 1);
}

TEST(AttentionOfARank, SaysHowWideValuesAreWhereMeasuredShapesDoNotHold) {
  Layer layer = attending_layer(true, 0.0);
  layer.attention->values_differ = true;
  EXPECT_EQ(work(layer, {.sequence_length = 16}).attention->shape.value_head_size, 2);
}

TEST(AttentionOfARank, IsOverBlocksOfItsRows) {
  // A quarter of 2 x 16 positions attends, in blocks of 4: two of them, whole on every rank.
  Layer layer = attending_layer(false, 0.0);
  layer.attention->queries = layer.attention->keys = 0.25;
  layer.attention->block = 4.0;
  const RankShape shape{.micro_batch = 2, .sequence_length = 16, .tensor_parallel = 2};
  const AttentionShape blocks = work(layer, shape).attention->shape;
  EXPECT_EQ(blocks.sequences, 2);
  EXPECT_EQ(blocks.query_length, 4);
  EXPECT_EQ(blocks.key_length, 4);
  EXPECT_EQ(blocks.query_heads, 4);
  EXPECT_EQ(blocks.key_heads, 2);
}

TEST(AttentionFlops, LeaveOutWhatAWindowAndAMaskHide) {
  // 2 x 8 heads x (3 + 2) for each of 16 positions; a window of 4 leaves 4 (2 - 4/16) = 7 of them.
  EXPECT_DOUBLE_EQ(forward_flops(attending_layer(true, 0.0), 16).attention_square, 80.0 * 16);
  EXPECT_DOUBLE_EQ(forward_flops(attending_layer(true, 4.0), 16).attention_square, 80.0 * 7);
  EXPECT_DOUBLE_EQ(forward_flops(attending_layer(true, 4.0), 16).attention, 40.0 * 7);
  EXPECT_DOUBLE_EQ(forward_flops(attending_layer(false, 0.0), 16).attention, 80.0 * 16);
  EXPECT_DOUBLE_EQ(forward_flops(attending_layer(true, 99.0), 16).attention_square, 80.0 * 16);
}

TEST(ProductFlops, CountEveryPositionOfASample) {
  Layer layer;
  layer.products = {{.rows_each = 9.0, .outputs = 4.0, .inputs = 5.0}};
  EXPECT_DOUBLE_EQ(forward_flops(layer, 1).products, 2.0 * 9 * 4 * 5);
  EXPECT_EQ(work(layer, {.micro_batch = 2}).linears[0].forward, (GemmShape{18, 4, 5}));
}

/// Outputs cut, then inputs, each with an adapter.
Layer two_matrices() {
  Layer layer;
  layer.products = {
      {.outputs = 8.0, .inputs = 6.0, .split = Split::outputs, .target = AdapterTarget::fc1},
      {.outputs = 6.0, .inputs = 8.0, .split = Split::inputs, .target = AdapterTarget::fc2}};
  return layer;
}

TEST(Adapters, AreCutAsTheirMatrixIs) {
  // 5 rows over 2 ranks. Beside outputs A gives 4 / 2 numbers and B as many outputs as the matrix,
  // 8 / 2; beside inputs A gives all 4 of its 8 / 2 inputs, and B 6 / 2 outputs.
  const RankShape shape{.sequence_length = 5,
                        .tensor_parallel = 2,
                        .frozen = true,
                        .adapters = {AdapterTarget::fc1, AdapterTarget::fc2}};
  const Layer layer = two_matrices();
  const Work with = work(layer, shape, 4.0);
  ASSERT_EQ(with.linears.size(), 6U);
  EXPECT_EQ(with.linears[2].forward, (GemmShape{5, 2, 6}));
  EXPECT_EQ(with.linears[3].forward, (GemmShape{5, 4, 4}));
  EXPECT_EQ(with.linears[4].forward, (GemmShape{5, 4, 4}));
  EXPECT_EQ(with.linears[5].forward, (GemmShape{5, 3, 4}));
  EXPECT_TRUE(with.linears[2].wide && with.linears[3].wide);
  EXPECT_TRUE(!with.linears[2].frozen && !with.linears[3].frozen);
  // Sums of outputs forward, of the gradients of inputs backward: two read and one written, 2
  // bytes, whatever else software merges.
  ASSERT_EQ(with.passes.size(), 2U);
  EXPECT_EQ(with.passes[0].forward, Bytes(3.0 * 5 * 4 * 2));
  EXPECT_EQ(with.passes[0].backward, Bytes(3.0 * 5 * 6 * 2));
  EXPECT_EQ(with.passes[1].forward, Bytes(3.0 * 5 * 6 * 2));
  EXPECT_EQ(with.passes[1].backward, Bytes(3.0 * 5 * 4 * 2));
  EXPECT_TRUE(!with.passes[0].merged && !with.passes[1].merged);
  EXPECT_EQ(adapter_parameters_on_rank(layer, shape, 4.0), 4.0 * (14 + 14) / 2.0);
}

TEST(Adapters, InFp32TakeTheirInputsThereAndBack) {
  // 5 rows of 6 / 2 and of 8 / 2 inputs: 6 bytes there, 6 back, in either pass.
  const RankShape shape{.sequence_length = 5,
                        .tensor_parallel = 2,
                        .frozen = true,
                        .adapters = {AdapterTarget::fc1, AdapterTarget::fc2},
                        .wide_adapters = true};
  const Work with = work(two_matrices(), shape, 4.0);
  ASSERT_EQ(with.passes.size(), 4U);
  EXPECT_EQ(with.passes[1].name, "adapter_casts");
  EXPECT_EQ(with.passes[1].forward, Bytes(12.0 * 5 * 6));
  EXPECT_EQ(with.passes[1].backward, Bytes(12.0 * 5 * 6));
  EXPECT_EQ(with.passes[3].forward, Bytes(12.0 * 5 * 4));
  EXPECT_FALSE(with.passes[3].merged);
}

TEST(KeptForWeights, IsLeftOutWhereTheyAreFrozenWithoutAnAdapter) {
  Layer layer;
  layer.kept = {{.elements = 10.0, .for_weights = true, .target = AdapterTarget::fc1},
                {.elements = 1.0}};
  RankShape shape;
  EXPECT_EQ(kept_bytes(layer, shape), 22_B);
  shape.frozen = true;
  EXPECT_EQ(kept_bytes(layer, shape), 2_B);
  shape.adapters = {AdapterTarget::fc2};
  EXPECT_EQ(kept_bytes(layer, shape), 2_B);
  shape.adapters = {AdapterTarget::fc1};
  EXPECT_EQ(kept_bytes(layer, shape), 22_B);
}

TEST(KeptInputs, AreARanksOwnUnlessTheyStayGathered) {
  // 4 tokens of 10 channels in 2 bytes; half of them a rank's own.
  Layer layer;
  layer.kept = {{.rows = Rows::own, .elements = 10.0, .gathered = true}};
  RankShape shape{.sequence_length = 4, .tensor_parallel = 2, .sequence_parallel = true};
  EXPECT_EQ(kept_bytes(layer, shape), 40_B);
  shape.gathered_inputs = true;
  EXPECT_EQ(kept_bytes(layer, shape), 80_B);
  layer.kept.front().gathered = false;
  EXPECT_EQ(kept_bytes(layer, shape), 40_B);
}

TEST(GradientsAtWork, AreOfTheResidualStreamAndTheLargestProduct) {
  // 4 tokens: 6 channels come in, 2 bytes each; a product from 6 to 10 channels, split by 2 ranks.
  Layer layer{.input = 6.0};
  layer.products = {{.outputs = 10.0, .inputs = 6.0, .split = Split::outputs},
                    {.outputs = 2.0, .inputs = 1.0}};
  RankShape shape{.sequence_length = 4, .tensor_parallel = 2};
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(4 * 2.0 * 6 + 4 * 2.0 * (6 + 5)));
  shape.sequence_parallel = true;  // half of the residual stream
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(2 * 2.0 * 6 + 4 * 2.0 * (6 + 5)));
  // 8 heads over 2 ranks have 4 x 4 scores each: 4 bytes in one kernel, 10 in several.
  layer.attention = AttentionCore{.heads = 8.0};
  shape.fused_attention = false;
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(24.0 + 4 * 16 * 4));
  shape.fused_softmax = false;
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(24.0 + 10 * 16 * 4));
  // Of four bytes, each of 12 beside the result that is freed; the residual stream's as wide.
  shape.element_bytes = 4.0;
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(48.0 + 12 * 16 * 4));
  shape.element_bytes = 2.0;
  // Half as many queries of twice as many keys, three times as many keys.
  layer.attention->queries = 0.5;
  layer.attention->keys = 6.0;
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(24.0 + 3.0 * 10 * 16 * 4));
  // A fused kernel writes none, nor does a layer without attention.
  shape.fused_attention = true;
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(24.0 + 4 * 2.0 * (6 + 5)));
  shape.fused_attention = false;
  layer.attention.reset();
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(24.0 + 4 * 2.0 * (6 + 5)));
}

TEST(GradientsAtWork, OfAConvolutionAreOfAllItsPositionsOnce) {
  // Two samples of 8 x 8 positions and 3 channels, 3 x 3 of them at every second position: 4 x 4
  // results of 5 channels. Each element is under 9/4 of the windows, its gradient is one number.
  Layer layer{.input = 8 * 8 * 3.0};
  layer.products = {{.rows_each = 4 * 4, .outputs = 5.0, .inputs = 3.0 * 9, .reuse = 9 / 4.0},
                    {.outputs = 10.0, .inputs = 5.0}};
  const RankShape shape{.micro_batch = 2.0};
  const double stream = 8 * 8 * 3;
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(2 * 2.0 * (stream + 8 * 8 * 3 + 4 * 4 * 5)));
  // Where nothing in front of it is trained, its input has none.
  layer.products.front().input_gradient = false;
  EXPECT_EQ(gradients_at_work(layer, shape), Bytes(2 * 2.0 * (stream + 4 * 4 * 5)));
}

TEST(ParameterTensors, AreCountedWithBiases) {
  // Two matrices, of which one has a bias, and a norm of two; experts are reduced by themselves.
  Layer layer = two_matrices();
  layer.products.front().bias = true;
  layer.products.push_back({.part = Part::experts, .bias = true, .copies = 8.0});
  layer.weights = {{.part = Part::normalization, .count = 12.0, .tensors = 2.0}};
  EXPECT_DOUBLE_EQ(parameter_tensors(layer), 2 + 1 + 2);
}

TEST(MemoryPasses, AreThoseOfTheKernelsThatRun) {
  Layer layer;
  layer.passes = {{.forward = 3.0, .when = KernelChoice::unfused_activation},
                  {.forward = 5.0, .cut = Cut::tensor, .merged = false}};
  RankShape shape{.sequence_length = 4, .tensor_parallel = 2};
  ASSERT_EQ(work(layer, shape).passes.size(), 1U);
  EXPECT_EQ(work(layer, shape).passes[0].forward, 10_B);
  EXPECT_FALSE(work(layer, shape).passes[0].merged);
  shape.fused_activation = false;
  ASSERT_EQ(work(layer, shape).passes.size(), 2U);
  EXPECT_EQ(work(layer, shape).passes[0].forward, 12_B);
  EXPECT_TRUE(work(layer, shape).passes[0].merged);
}

TEST(MemoryPasses, MoveWhatTheySayOfAWideStream) {
  Layer layer;
  layer.passes = {{.forward = 3.0, .backward = 5.0, .wide = MovedBytes{7.0, 11.0}},
                  {.forward = 3.0}};
  RankShape shape{.sequence_length = 4};
  EXPECT_EQ(work(layer, shape).passes[0].forward, 12_B);
  shape.wide_residuals = true;
  EXPECT_EQ(work(layer, shape).passes[0].forward, 28_B);
  EXPECT_EQ(work(layer, shape).passes[0].backward, 44_B);
  EXPECT_EQ(work(layer, shape).passes[1].forward, 12_B);
  // Where all is in fp32, nothing is wider than the rest.
  shape.element_bytes = shape.product_bytes = 4.0;
  EXPECT_EQ(work(layer, shape).passes[0].forward, 24_B);
  EXPECT_EQ(work(layer, shape).passes[1].forward, 24_B);
}

TEST(Experts, InFp32HaveRowsTwiceAsWideAndProductsOfTheirOwn) {
  // 3 tokens go to 2 of 3 experts each: 6 rows of 6 elements.
  Layer layer;
  layer.products = {
      {.part = Part::experts, .rows = Rows::routed, .outputs = 4.0, .inputs = 6.0, .copies = 3.0}};
  layer.routing = ExpertRouting{.experts = 3.0, .experts_per_token = 2.0, .width = 6.0};
  layer.passes = {{.rows = Rows::routed, .forward = 8.0}, {.forward = 5.0}};
  RankShape shape{.sequence_length = 3, .wide_residuals = true};
  EXPECT_FALSE(work(layer, shape).grouped[0].alone.has_value());
  EXPECT_EQ(work(layer, shape).permuted_elements, 6 * 6);
  EXPECT_EQ(work(layer, shape).passes[0].forward, 48_B);
  shape.expert_precision = Precision::tf32;
  const Work single = work(layer, shape);
  EXPECT_EQ(single.grouped[0].alone, Precision::tf32);
  EXPECT_EQ(single.permuted_elements, 2 * 6 * 6);
  EXPECT_EQ(single.passes[0].forward, 96_B);
  EXPECT_EQ(single.passes[1].forward, 15_B);
}

TEST(MemoryPasses, AreThoseOfSoftwareThatMergesOrOfSuchThatDoesNot) {
  Layer layer;
  layer.passes = {{.name = "any"},
                  {.name = "merged", .operators = Operators::merged},
                  {.name = "separate", .operators = Operators::separate}};
  RankShape shape;
  const auto names = [&] {
    std::string all;
    for (const PassWork& pass : work(layer, shape).passes) all += std::string(pass.name) + " ";
    return all;
  };
  EXPECT_EQ(names(), "any merged ");
  shape.fused_operators = false;
  EXPECT_EQ(names(), "any separate ");
}

/// Two kinds of 20 and 30 weights; a join of 7, ahead of two layers of the second kind.
Model looking_ahead() {
  Model model;
  Layer small;
  small.products = {{.outputs = 4.0, .inputs = 5.0}};
  Layer large;
  large.products = {{.outputs = 6.0, .inputs = 5.0}};
  append_layers(model, small, 3);
  append_layers(model, large, 2);
  model.last.products = {{.part = Part::head, .outputs = 11.0, .inputs = 1.0}};
  model.ahead = {.layers = 2, .kind = 1, .join = {}};
  model.ahead.join.products = {{.outputs = 7.0, .inputs = 1.0}};
  return model;
}

TEST(ModelSums, CountLayersByTheirKind) {
  const Model model = looking_ahead();
  EXPECT_EQ(model.layer_count(), 5);
  EXPECT_EQ(model.kind_of(2), 0);
  EXPECT_EQ(model.kind_of(3), 1);
  EXPECT_EQ(parameters(model).total(), 3 * 20 + 2 * 30 + 11);
  // Each layer ahead passes its join, its layer and the head again.
  EXPECT_EQ(forward_flops(model, 1).products, 2.0 * (3 * 20 + 2 * 30 + 11 + 2 * (30 + 7 + 11)));
}

TEST(TensorLimits, DivideOrMayBeShared) {
  Model model;
  model.tensor_limits = {{"heads", "the heads", 12}, {"kv_heads", "the heads of keys", 4, true}};
  EXPECT_EQ(first_indivisible(model, 4), nullptr);
  EXPECT_EQ(first_indivisible(model, 12), nullptr);  // three ranks share a head of keys
  EXPECT_EQ(first_indivisible(model, 8)->field, "heads");
  model.tensor_limits[0].size = 6;
  EXPECT_EQ(first_indivisible(model, 6)->field, "kv_heads");
}

}  // namespace
}  // namespace headway
