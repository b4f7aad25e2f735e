// A layer small enough to add up on paper, and what is known of it.
#include <gtest/gtest.h>

#include "sim/layers/exchanges.h"
#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

/// 6 channels: attention of 4 heads, 2 of them for keys, of 3 channels; two of 8 experts of 5, each
/// a matrix up; a norm, and 12 numbers cut over tensor-parallel ranks.
Layer small_layer() {
  Layer layer{.name = "small", .input = 6.0, .output = 7.0};
  layer.products = {{.name = "qkv",
                     .part = Part::attention,
                     .outputs = 24.0,
                     .inputs = 6.0,
                     .grouped_outputs = 12.0,
                     .groups = 2.0,
                     .split = Split::outputs,
                     .bias = true,
                     .gathered = true,
                     .target = AdapterTarget::qkv,
                     .again = {{RecomputePart::alternate, 0.5}}},
                    {.name = "projection",
                     .part = Part::attention,
                     .outputs = 6.0,
                     .inputs = 12.0,
                     .split = Split::inputs,
                     .bias = true},
                    {.name = "up",
                     .part = Part::experts,
                     .rows = Rows::routed,
                     .outputs = 5.0,
                     .inputs = 6.0,
                     .split = Split::outputs,
                     .bias = true,
                     .copies = 8.0,
                     .again = {{RecomputePart::moe}}}};
  layer.attention = AttentionCore{.heads = 4.0,
                                  .key_heads = 2.0,
                                  .head_size = 3.0,
                                  .value_head_size = 3.0,
                                  .again = {{RecomputePart::core_attn}}};
  layer.passes = {{.name = "norm", .rows = Rows::own, .forward = 10.0, .backward = 20.0},
                  {.name = "activation",
                   .rows = Rows::routed,
                   .forward = 4.0,
                   .backward = 8.0,
                   .cut = Cut::expert_tensor}};
  layer.weights = {{Part::normalization, 6.0}, {Part::attention, 12.0, Cut::tensor}};
  layer.kept = {{.name = "keys", .elements = 6.0, .cut = Cut::tensor, .pieces = 2.0},
                {.name = "scores",
                 .elements = 4.0,
                 .cut = Cut::tensor,
                 .attended = true,
                 .when = KernelChoice::unfused_attention},
                {.name = "mask", .rows = Rows::own, .elements = 6.0, .stored = Stored::mask},
                {.name = "rows",
                 .rows = Rows::routed,
                 .elements = 5.0,
                 .stored = Stored::quantised,
                 .again = {{RecomputePart::moe}, {RecomputePart::alternate, 0.25}}}};
  layer.routing = ExpertRouting{.experts = 8.0,
                                .experts_per_token = 2.0,
                                .inner = 5.0,
                                .width = 6.0,
                                .again = {{RecomputePart::moe}}};
  layer.exchanges = {{.width = 6.0}, {.width = 2.0, .again = {{RecomputePart::moe}}}};
  return layer;
}

/// 8 tokens over 4 tensor-parallel ranks, 2 of them a rank's own.
const RankShape kCut{.micro_batch = 2,
                     .sequence_length = 8,
                     .tensor_parallel = 4,
                     .context_parallel = 2,
                     .sequence_parallel = true,
                     .expert_parallel = 4,
                     .expert_tensor_parallel = 5};

TEST(LayerParameters, AreMatricesBiasesAndTheRest) {
  const Parameters whole = parameters(small_layer());
  EXPECT_EQ(whole.of(Part::attention), (24 * 6 + 24) + (12 * 6 + 6) + 12);
  EXPECT_EQ(whole.of(Part::normalization), 6);
  EXPECT_EQ(whole.experts(), 8 * (30 + 5));
  EXPECT_EQ(whole.total(), whole.shared() + whole.experts());
}

TEST(LayerParameters, OfARankAreCutWhereTheLayerSaysSo) {
  // Outputs: 12 / 4 of queries, and one whole key and value head of 6; inputs 12 / 4, a bias that
  // is added behind the sum; 2 of the experts, a fifth of each.
  const Parameters rank = parameters_on_rank(small_layer(), kCut);
  EXPECT_DOUBLE_EQ(rank.of(Part::attention), 9 * (6 + 1) + (3 * 6 + 6) + 3);
  EXPECT_DOUBLE_EQ(rank.of(Part::normalization), 6);
  EXPECT_DOUBLE_EQ(rank.experts(), 2 * (6 + 1));
}

TEST(LayerParameters, OfAModelCountASharedMatrixOnce) {
  Model model;
  append_layers(model, small_layer(), 3);
  model.first.weights = {{Part::embedding, 100.0, Cut::tensor}, {Part::positions, 7.0}};
  model.last.products = {{.part = Part::head, .outputs = 20.0, .inputs = 5.0}};
  const double layers = 3.0 * parameters(model.kinds[0]).total();
  EXPECT_EQ(parameters(model).total(), layers + 107 + 100);
  model.tied = true;
  EXPECT_EQ(parameter_count(model), static_cast<std::int64_t>(layers) + 107);
  EXPECT_EQ(tied_parameters(model), 100);
}

TEST(LayerParameters, TwoExpertsAreSharedOutLikeEight) {
  Layer layer{.name = "pair"};
  layer.products = {
      {.name = "up", .part = Part::experts, .outputs = 5.0, .inputs = 6.0, .copies = 2.0}};
  EXPECT_EQ(parameters(layer).experts(), 2 * 5 * 6);
  EXPECT_EQ(parameters_on_rank(layer, {.expert_parallel = 2}).experts(), 5 * 6);
}

TEST(LayerParameters, TheLargestTensorIsTheLargestMatrixOfARank) {
  Model model;
  append_layers(model, small_layer());
  EXPECT_EQ(largest_tensor(model, {}), 24 * 6);
  EXPECT_EQ(largest_tensor(model, kCut), 9 * 6);  // a quarter of the queries, one key-value head
}

/// Three matrices, of eight experts one each; of other weights tables of embeddings count alone.
TEST(LayerParameters, MatricesAreCountedByThemselves) {
  Layer layer = small_layer();
  layer.weights.push_back({Part::embedding, 100.0});
  layer.weights.push_back({Part::normalization, 6.0});
  const MatrixCount count = parameter_matrices(layer);
  EXPECT_DOUBLE_EQ(count.shared, 2.0 + 1.0);
  EXPECT_DOUBLE_EQ(count.experts, 8.0);
}

TEST(LayerWork, IsWhatARankMultipliesAndMoves) {
  const Layer layer = small_layer();
  const Work cut = work(layer, kCut);
  ASSERT_EQ(cut.linears.size(), 2U);
  EXPECT_EQ(cut.linears[0].forward, (GemmShape{8, 6, 6}));
  EXPECT_EQ(cut.linears[0].input_elements, 8 * 6);
  EXPECT_EQ(cut.linears[0].data_gradient(), (GemmShape{8, 6, 6}));
  EXPECT_EQ(cut.linears[1].forward, (GemmShape{8, 6, 3}));
  EXPECT_EQ(cut.linears[1].data_gradient(), (GemmShape{8, 3, 6}));
  EXPECT_EQ(cut.linears[1].weight_gradient(), (GemmShape{6, 3, 8}));
  EXPECT_TRUE(cut.linears[0].column_parallel && !cut.linears[1].column_parallel);
  // 2 own tokens of each of 5 ranks, to 2 experts each: 20 rows over the 2 experts here.
  ASSERT_EQ(cut.grouped.size(), 1U);
  EXPECT_EQ(cut.grouped[0].experts, 2);
  EXPECT_EQ(cut.grouped[0].forward, (GemmShape{10, 1, 6}));
  EXPECT_EQ(cut.permuted_elements, 20 * 6);
  ASSERT_EQ(cut.passes.size(), 2U);
  EXPECT_EQ(cut.passes[0].forward, 20_B);   // 2 rows of 10
  EXPECT_EQ(cut.passes[1].backward, 32_B);  // 20 rows of 8, a fifth
  EXPECT_EQ(cut.attention->shape.query_heads, 1);
  EXPECT_EQ(cut.attention->shape.query_length, 4);
}

TEST(LayerWork, FrozenMatricesHaveAdaptersInstead) {
  RankShape shape = kCut;
  shape.frozen = true;
  shape.adapters = {AdapterTarget::qkv};
  const Layer layer = small_layer();
  const Work frozen = work(layer, shape, 8.0);
  ASSERT_EQ(frozen.linears.size(), 4U);
  EXPECT_TRUE(frozen.linears[0].frozen && !frozen.linears[2].frozen);
  EXPECT_EQ(frozen.linears[2].forward, (GemmShape{8, 2, 6}));  // A: 8 / 4 outputs
  EXPECT_EQ(frozen.linears[3].forward, (GemmShape{8, 6, 8}));
  EXPECT_DOUBLE_EQ(adapter_parameters_on_rank(layer, shape, 8.0), 8 * (24 + 6) / 4.0);
}

TEST(LayerKept, AreBytesOfEachTensorOnARank) {
  RankShape shape = kCut;
  const Layer layer = small_layer();
  // Keys: 8 rows of one head of 3; mask: 2 rows of 6 bytes; rows: 20 of 5; two bytes each.
  EXPECT_DOUBLE_EQ(kept_bytes(layer, shape).count(), 8 * 3 * 2 + 2 * 6 + 20 * 5 * 2);
  shape.fused_attention = false;  // 8 rows of 4 / 4 heads and 8 positions
  EXPECT_DOUBLE_EQ(kept_bytes(layer, shape).count(), 48 + 12 + 200 + 8 * 8 * 2);
  shape.product_bytes = 1;
  EXPECT_DOUBLE_EQ(kept_bytes(layer, shape).count(), 48 + 12 + 100 + 128);
  EXPECT_DOUBLE_EQ(input_bytes(layer, shape).count(), 2 * 6 * 2);
}

TEST(LayerKept, LeaveOutWhatIsMadeAgainOnce) {
  const Layer layer = small_layer();
  const double all = kept_bytes(layer, kCut).count();
  EXPECT_DOUBLE_EQ(kept_bytes(layer, kCut, {RecomputePart::moe}).count(), all - 200);
  EXPECT_DOUBLE_EQ(kept_bytes(layer, kCut, {RecomputePart::alternate}).count(), all - 50);
  EXPECT_DOUBLE_EQ(kept_bytes(layer, kCut, {RecomputePart::moe, RecomputePart::alternate}).count(),
                   all - 200);
}

TEST(LayerFlops, CountTheExpertsOfATokenAndHalfOfTheSquare) {
  // Products 2 (24 x 6 + 12 x 6 + 2 x 5 x 6); attention 2 x 4 x (3 + 3) for each of 8 positions.
  const ForwardFlops flops = forward_flops(small_layer(), 8);
  EXPECT_DOUBLE_EQ(flops.products, 2.0 * (144 + 72 + 60));
  EXPECT_DOUBLE_EQ(flops.attention_square, 48 * 8);
  EXPECT_DOUBLE_EQ(flops.attention, 48 * 4);
  EXPECT_DOUBLE_EQ(
      recomputed_flops(small_layer(), 8, {RecomputePart::moe, RecomputePart::core_attn}).count(),
      120 + 48 * 4);
  EXPECT_DOUBLE_EQ(recomputed_flops(small_layer(), 8, {RecomputePart::alternate}).count(), 144);
}

/// 4 heads of 3 terms and 5 outputs, and 2 that every rank has, of 7 terms over all positions, of
/// which 2 have a gradient.
Layer layer_with_activation_products() {
  Layer layer;
  layer.activation_products = {{.name = "chunk", .heads = 4.0, .inputs = 3.0, .outputs = 5.0},
                               {.name = "scores",
                                .heads = 2.0,
                                .inputs = 7.0,
                                .trained = 2.0,
                                .cut = Cut::none,
                                .again = {{RecomputePart::core_attn}}}};
  return layer;
}

TEST(LayerFlops, ProductsOfActivationsCountWithAttention) {
  const Layer layer = layer_with_activation_products();
  const ForwardFlops flops = forward_flops(layer, 8);
  EXPECT_DOUBLE_EQ(flops.attention, 2 * 4 * 3 * 5 + 2 * 2 * 7 * 4);
  EXPECT_DOUBLE_EQ(flops.attention_square, 2 * 4 * 3 * 5 + 2 * 2 * 7 * 8);
  EXPECT_DOUBLE_EQ(recomputed_flops(layer, 8, {RecomputePart::core_attn}).count(), 2 * 2 * 7 * 4);
  // 2 x (8 - 1) pairs over 8 rows.
  EXPECT_DOUBLE_EQ(forward_flops(layer.activation_products[1], 8.0, 2.0), 2 * 2 * 7 * 1.75);
}

TEST(LayerWork, ProductsOfActivationsAreCutByHeads) {
  // 8 tokens; 4 ranks share the heads of one and all have the other.
  const Work cut = work(layer_with_activation_products(), kCut);
  ASSERT_EQ(cut.activation_products.size(), 2U);
  EXPECT_DOUBLE_EQ(cut.activation_products[0].forward.count(), 8 * 120 / 4.0);
  EXPECT_DOUBLE_EQ(cut.activation_products[0].backward.count(), 2.5 * 8 * 120 / 4.0);
  EXPECT_DOUBLE_EQ(cut.activation_products[1].forward.count(), 8 * 112);
  EXPECT_DOUBLE_EQ(cut.activation_products[1].backward.count(), 2.5 * 8 * 49);
  EXPECT_EQ(cut.activation_products[1].inputs, 7);
}

TEST(LayerExchanges, AreMessagesOfARank) {
  const Layer layer = small_layer();
  EXPECT_EQ(tensor_message(layer.exchanges[1], kCut), 32_B);  // 8 tokens of 2 in 2 bytes
  EXPECT_DOUBLE_EQ(exchanged_again(layer, kCut, {RecomputePart::moe}), 2.0 / 8.0);
  EXPECT_EQ(context_messages(layer, kCut).queries, 48_B);  // 4 heads of 3 over 4 ranks
  EXPECT_EQ(context_messages(layer, kCut).keys, 24_B);
  EXPECT_EQ(context_messages(layer, kCut).keys_and_values(), 48_B);
  EXPECT_EQ(context_messages(layer, kCut).all(), 144_B);
  EXPECT_EQ(routed_message(layer, kCut), 48_B);  // 2 own tokens, 2 experts, 6 channels
  EXPECT_EQ(stage_message(layer, kCut), 28_B);   // 8 tokens of 7, a quarter
  RankShape wide = kCut;
  wide.element_bytes = 4;  // twice as wide
  EXPECT_EQ(tensor_message(layer.exchanges[1], wide), 64_B);
  EXPECT_EQ(context_messages(layer, wide).queries, 96_B);
  EXPECT_EQ(routed_message(layer, wide), 96_B);
  EXPECT_EQ(stage_message(layer, wide), 56_B);
  // What is gathered may have been quantised to a byte.
  EXPECT_EQ(gathered_message(layer.exchanges[1], kCut), 32_B);
  RankShape quantised = kCut;
  quantised.gathered_bytes = 1;
  EXPECT_EQ(gathered_message(layer.exchanges[1], quantised), 16_B);
}

TEST(LayerExchanges, WhatOnlyEntersIsGatheredOrNothingInTheForwardPass) {
  // Sums over ranks of 6 and of 2, the latter made again; 8 are gathered alone, half of a sum.
  Layer layer = small_layer();
  layer.exchanges.push_back({.width = 8.0, .only_enters = true});
  EXPECT_DOUBLE_EQ(exchanged_again(layer, kCut, {RecomputePart::moe}), 2.0 / 12.0);
  EXPECT_DOUBLE_EQ(exchanged_again(layer, {}, {RecomputePart::moe}), 2.0 / 8.0);
}

TEST(LayerExchanges, LogitsAreGatheredWhereEveryRankTakesTheWholeLoss) {
  // 8 tokens, 100 words, 2 bytes; the loss is then not shared out among the 4 ranks.
  const Layer head{.loss_classes = 100};
  EXPECT_EQ(logits_message(head, kCut), 0_B);
  EXPECT_EQ(kCut.parts(Cut::loss), 4);
  RankShape whole = kCut;
  whole.whole_loss = true;
  EXPECT_EQ(logits_message(head, whole), 1600_B);
  EXPECT_EQ(whole.parts(Cut::loss), 1);
  whole.tensor_parallel = 1;
  EXPECT_EQ(logits_message(head, whole), 0_B);
}

TEST(LayerWork, ARankQuantisesTheRowsThatItMakes) {
  // Of 8 rows on 4 ranks with sequence parallelism 2 are its own of what is gathered in 8 bits, all
  // of what is not; without it, or where 16 bits are gathered, a rank has all of both.
  Layer layer;
  layer.products = {
      {.outputs = 4.0, .inputs = 6.0, .gathered = true},
      {.outputs = 4.0, .inputs = 6.0},
      {.outputs = 4.0, .inputs = 6.0, .gathered = true, .quantised = false},
  };
  RankShape shape{.sequence_length = 8, .tensor_parallel = 4, .sequence_parallel = true};
  shape.gathered_bytes = 1;
  const Work split = work(layer, shape);
  EXPECT_DOUBLE_EQ(split.linears[0].input_elements, 2 * 6.0);
  EXPECT_DOUBLE_EQ(split.linears[1].input_elements, 8 * 6.0);
  EXPECT_DOUBLE_EQ(split.linears[2].input_elements, 0.0);
  shape.gathered_bytes = 2;
  EXPECT_DOUBLE_EQ(work(layer, shape).linears[0].input_elements, 8 * 6.0);
  shape.sequence_parallel = false;
  EXPECT_DOUBLE_EQ(work(layer, shape).linears[0].input_elements, 8 * 6.0);
}

TEST(LayerWork, ProductsOfSeveralPositionsSplitTheirTerms) {
  Layer layer;
  layer.products = {{.rows_each = 9.0, .outputs = 4.0, .inputs = 5.0},
                    {.outputs = 4.0, .inputs = 5.0, .in_turns = true}};
  const Work found = work(layer, {.micro_batch = 2, .sequence_length = 7});
  EXPECT_TRUE(found.linears[0].splits_terms);
  EXPECT_EQ(found.linears[0].turns, 1.0);
  EXPECT_FALSE(found.linears[1].splits_terms);
  EXPECT_EQ(found.linears[1].turns, 7.0);
}

TEST(LayerWork, SharesThatComeToWholeRowsAreWhole) {
  // 448 of 1,500 positions, 256 times: not exact in doubles, 114,688 rows, of tiles of 128 whole
  // ones.
  const double share = 448.0 / 1500.0;
  ASSERT_NE(share * (256.0 * 1500.0), 114'688.0);
  Layer layer;
  layer.products = {{.rows_each = share, .outputs = 4.0, .inputs = 5.0},
                    {.rows_each = 1.0 / 3.0, .outputs = 4.0, .inputs = 5.0}};
  layer.attention = AttentionCore{.queries = share, .keys = share};
  const Work work = headway::work(layer, {.micro_batch = 256.0, .sequence_length = 1500.0});
  EXPECT_EQ(work.linears[0].forward.m, 114'688.0);
  EXPECT_EQ(work.attention->shape.query_length, 448.0);
  EXPECT_EQ(work.attention->shape.key_length, 448.0);
  const Work part = headway::work(layer, {.micro_batch = 1.0, .sequence_length = 1.0});
  EXPECT_EQ(part.linears[1].forward.m, 1.0 / 3.0);
}

TEST(LayerParts, AreMadeAgainWhereSomethingOfThemIs) {
  Model model;
  append_layers(model, Layer{.name = "plain"});
  const auto recomputes = [&](RecomputePart part) { return model.recomputes(part); };
  EXPECT_FALSE(recomputes(RecomputePart::core_attn));
  EXPECT_FALSE(recomputes(RecomputePart::moe));
  EXPECT_FALSE(model.has_tables());
  EXPECT_EQ(model.routing(), nullptr);
  append_layers(model, small_layer());
  EXPECT_TRUE(recomputes(RecomputePart::core_attn));  // of the attention itself
  EXPECT_TRUE(recomputes(RecomputePart::moe));
  EXPECT_TRUE(recomputes(RecomputePart::alternate));
  EXPECT_FALSE(recomputes(RecomputePart::mlp));
  EXPECT_FALSE(recomputes(RecomputePart::layernorm));
  ASSERT_NE(model.routing(), nullptr);
  EXPECT_EQ(model.routing()->experts, 8.0);
  Layer bags;
  bags.tables = {{10.0, 4.0, 1.0}};
  append_layers(model, bags);
  EXPECT_TRUE(model.has_tables());
}

TEST(LayerParts, OfEachListCount) {
  // One thing of one list at a time.
  const auto recomputes = [](const Layer& layer) {
    Model model;
    append_layers(model, layer);
    return model.recomputes(RecomputePart::mlp);
  };
  const Again again{{RecomputePart::mlp}};
  EXPECT_TRUE(recomputes({.products = {{.again = again}}}));
  EXPECT_TRUE(recomputes({.attention = AttentionCore{.again = again}}));
  EXPECT_TRUE(recomputes({.activation_products = {{.again = again}}}));
  EXPECT_TRUE(recomputes({.passes = {{.again = again}}}));
  EXPECT_TRUE(recomputes({.kept = {{.again = again}}}));
  EXPECT_TRUE(recomputes({.routing = ExpertRouting{.again = again}}));
  EXPECT_FALSE(recomputes({.attention = AttentionCore{}, .routing = ExpertRouting{}}));
}

TEST(TensorLimits, MayBeSharedOutOrRepeated) {
  // 8 heads, and 2 of keys of which several ranks may have the same.
  Model model;
  model.tensor_limits = {{"heads", "heads", 8}, {"kv_heads", "heads of keys", 2, true}};
  EXPECT_EQ(first_indivisible(model, 2), nullptr);
  EXPECT_EQ(first_indivisible(model, 8), nullptr);  // four ranks a head of keys
  ASSERT_NE(first_indivisible(model, 16), nullptr);
  EXPECT_EQ(first_indivisible(model, 16)->size, 8);
  model.tensor_limits[1].may_share = false;
  ASSERT_NE(first_indivisible(model, 8), nullptr);
  EXPECT_EQ(first_indivisible(model, 8)->size, 2);
  model.tensor_limits[1] = {"kv_heads", "heads of keys", 3, true};
  EXPECT_NE(first_indivisible(model, 8), nullptr);  // 8 ranks do not share 3
}

TEST(AdapterTargets, StandInEveryLayerOrInNone) {
  Model model;
  append_layers(model, small_layer());
  EXPECT_TRUE(model.has_target(AdapterTarget::qkv));
  EXPECT_FALSE(model.has_target(AdapterTarget::fc1));
  append_layers(model, Layer{.name = "plain"});
  EXPECT_FALSE(model.has_target(AdapterTarget::qkv));
}

}  // namespace
}  // namespace headway
