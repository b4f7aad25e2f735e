// Mamba's layers, small enough to add up on paper.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

/// 8 channels; 12 that are scanned, with states of 5 and steps through 3; attention of 2 heads
/// of 4.
TransformerModel scanned_layers() {
  return {.layers = 2,
          .hidden = 8,
          .attention_heads = 2,
          .kv_heads = 2,
          .head_size = 4,
          .selective_scan = SelectiveScan{.channels = 12, .state_size = 5, .step_rank = 3},
          .layer_pattern = "S*",
          .ffn_hidden = 10,
          .vocabulary = 50,
          .normalization = Normalization::rms_norm,
          .position_encoding = PositionEncoding::none,
          .qkv_bias = false,
          .projection_bias = false,
          .mlp_bias = false,
          .sequence_length = 32};
}

Layer scanned_layer(SelectionNorms norms = SelectionNorms::none) {
  TransformerModel model = scanned_layers();
  model.selective_scan->norms = norms;
  return layers_of(model).layer(0);
}

/// Channels and a gate inward; 3 + 2 x 5 that select; steps; outward.
constexpr double kProducts = 8 * 24 + 12 * 13 + 3 * 12 + 12 * 8;

TEST(SelectiveScan, HasFourProductsAndWeightsOfEachChannel) {
  const Model model = layers_of(scanned_layers());
  ASSERT_EQ(model.kinds.size(), 2U);
  EXPECT_EQ(model.layer(0).name, "selective scan layer");
  EXPECT_TRUE(model.layer(1).attention.has_value());
  EXPECT_FALSE(model.is_validated);
  // Filters of 4 and a bias, decays of 5, a skip and a bias of the step; the norm in front.
  EXPECT_EQ(parameters(model.layer(0)).total(), kProducts + 12 * (5 + 5 + 2) + 8);
  TransformerModel fields = scanned_layers();
  fields.selective_scan->convolution_bias = false;
  EXPECT_EQ(parameters(layers_of(fields).layer(0)).total(), kProducts + 12 * (4 + 5 + 2) + 8);
  fields.selective_scan->bias = true;  // inward and outward
  EXPECT_EQ(parameters(layers_of(fields).layer(0)).total(),
            kProducts + 12 * (4 + 5 + 2) + 8 + 24 + 8);
}

TEST(SelectiveScan, NormsOfWhatSelectsMayHaveGains) {
  const double none = parameters(scanned_layer()).total();
  EXPECT_EQ(parameters(scanned_layer(SelectionNorms::plain)).total(), none);
  const Parameters scaled = parameters(scanned_layer(SelectionNorms::scaled));
  EXPECT_EQ(scaled.total(), none + 3 + 5 + 5);
  EXPECT_EQ(scaled.of(Part::normalization), 8 + 13);
}

TEST(SelectiveScan, TakesNineOperationsForEachElementOfAState) {
  const ForwardFlops flops = forward_flops(scanned_layer(), 32);
  EXPECT_EQ(flops.products, 2 * kProducts);
  EXPECT_EQ(flops.attention, 9 * 12 * 5);
  ASSERT_EQ(scanned_layer().scans.size(), 1U);
  EXPECT_EQ(scanned_layer().scans[0].backward, 34 * 12 * 5);
}

TEST(SelectiveScan, MovesItsChannelsAndAddsUpGradientsThatAllShare) {
  const StateScan scan = scanned_layer().scans.at(0);
  // In 2 bytes 3 read and 2 written, backward 5 and 4; in fp32 of every 2,048 positions a state and
  // its decay; two sums for each element of a state.
  const double states = 4 * 2 * 12 * 5 / 2048.0;
  EXPECT_DOUBLE_EQ(scan.moved.forward, 2 * 5 * 12 + states);
  EXPECT_DOUBLE_EQ(scan.moved.backward, 2 * 9 * 12 + states + 4 * 2 * 12 * 5);
}

const MemoryPass* pass_of(const Layer& layer, std::string_view name) {
  for (const MemoryPass& pass : layer.passes) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

TEST(SelectiveScan, OneKernelFiltersAgainAndNormsArePasses) {
  const Layer plain = scanned_layer(SelectionNorms::plain);
  ASSERT_NE(pass_of(plain, "convolution_again"), nullptr);
  EXPECT_EQ(pass_of(plain, "convolution_again")->forward, 0.0);
  EXPECT_EQ(pass_of(plain, "convolution_again")->backward, 4 * 12);
  ASSERT_NE(pass_of(plain, "selection_norms"), nullptr);
  EXPECT_EQ(pass_of(plain, "selection_norms")->forward, 4 * 13);
  EXPECT_EQ(pass_of(scanned_layer(), "selection_norms"), nullptr);
  EXPECT_EQ(pass_of(scanned_layer(SelectionNorms::scaled), "convolution_again"), nullptr);
}

/// Of 2,048 tokens and one of `ranks` that split the layer.
double kept_each(const Layer& layer, double ranks = 1.0) {
  return kept_bytes(layer, {.sequence_length = 2048, .tensor_parallel = ranks}).count() / 2048.0;
}

TEST(SelectiveScan, KeepsWhatOneKernelDoesNotMakeAgain) {
  // In 2 bytes what comes in, before the norm and behind it; channels and gate of 12 each; what
  // selects, and in another order what of it are inputs and outputs; the result. In 4 two numbers
  // for each element of a state.
  const double whole = 2 * (8 + 8 + 13 + 2 * 5);
  const double cut = 2 * (2 * 12 + 12) + 4 * 2 * 12 * 5 / 2048.0;
  EXPECT_DOUBLE_EQ(kept_each(scanned_layer()), whole + cut);
  EXPECT_DOUBLE_EQ(kept_each(scanned_layer(), 4.0), whole + cut / 4.0);
  EXPECT_DOUBLE_EQ(kept_each(scanned_layer(SelectionNorms::plain)), whole + cut);
}

TEST(SelectiveScan, SeparateKernelsKeepMore) {
  // What was filtered, steps, the gated result, and what selects behind its norms.
  EXPECT_DOUBLE_EQ(kept_each(scanned_layer(SelectionNorms::scaled)) - kept_each(scanned_layer()),
                   2 * (12 + 12 + 12 + 13));
}

TEST(SelectiveScan, HalfOfTheProductsLeavesWhatTheOthersAreMadeOf) {
  // Every second product is made again, and the scan: the input of the norm stays, and half of what
  // the products give.
  const RankShape shape{.sequence_length = 2048};
  const RecomputeParts parts{RecomputePart::alternate};
  EXPECT_DOUBLE_EQ(kept_bytes(scanned_layer(), shape, parts).count() / 2048.0,
                   2 * (8 + 24 / 2.0 + 13 / 2.0));
  EXPECT_DOUBLE_EQ(kept_bytes(scanned_layer(SelectionNorms::scaled), shape, parts).count() / 2048.0,
                   2 * (8 + 24 / 2.0 + 13 / 2.0 + 12 / 2.0));
  EXPECT_EQ(recomputed_flops(scanned_layer(), 32, parts).count(), kProducts + 9 * 12 * 5);
}

TEST(SelectiveScan, RanksShareChannelsAndSumUpWhatSelects) {
  const Layer layer = scanned_layer();
  EXPECT_DOUBLE_EQ(parameters_on_rank(layer, {.tensor_parallel = 4}).of(Part::other),
                   (kProducts + 12 * (5 + 5 + 2)) / 4.0);
  ASSERT_EQ(layer.exchanges.size(), 2U);
  EXPECT_EQ(layer.exchanges[0].width, 8);
  EXPECT_EQ(layer.exchanges[1].width, 13);
  const Work cut = work(layer, {.sequence_length = 32, .tensor_parallel = 4});
  EXPECT_EQ(cut.scans.at(0).forward, Flops(32 * 9 * 3 * 5));
  // Only what goes into the mixer is gathered, and only what stands around the scan may be in 8
  // bits.
  std::string gathered;
  std::string wide;
  for (const Product& product : layer.products) {
    if (product.gathered) gathered += product.name + " ";
    if (product.wide && !product.quantised) wide += product.name + " ";
  }
  EXPECT_EQ(gathered, "scan_inward ");
  EXPECT_EQ(wide, "scan_selection scan_steps ");
}

TEST(SelectiveScan, RanksDivideOnlyHalvesThatLayersHave) {
  // 2 heads of attention, an MLP of 10, 12 channels that are scanned and 8 of the stream.
  TransformerModel fields = scanned_layers();
  const auto limit = [&](std::int64_t ranks) -> std::string {
    const Model model = layers_of(fields);
    const TensorLimit* first = first_indivisible(model, ranks);
    return first == nullptr ? "" : first->field;
  };
  EXPECT_EQ(limit(4), "attention_heads");
  fields.layer_pattern = "S-";
  EXPECT_EQ(limit(4), "ffn_hidden");
  fields.layer_pattern = "SS";
  EXPECT_EQ(limit(4), "");
  EXPECT_EQ(limit(8), "selective_scan");
}

}  // namespace
}  // namespace headway
