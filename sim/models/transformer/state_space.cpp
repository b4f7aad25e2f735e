#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

constexpr double kSinglePasses = 4.0 * 4.0;  ///< fp32: written, read and written in turn, read

/// The sequence in chunks of q positions (Dao and Gu 2024, section 6 and listing 1), for heads of p
/// channels with states of p x n, g groups: scores of a chunk q n for each group, their product
/// with the inputs q p, the states that chunks end with and what these give to the next p n each,
/// for each head and position. No mask saves work inside a chunk.
void add_scan(Layer& layer, const StateSpace& space) {
  const double heads = real(space.heads);
  const double p = real(space.head_size);
  const double n = real(space.state_size);
  const double groups = real(space.groups);
  const double chunk = real(space.chunk);
  const Again again = {{P::alternate}};
  layer.activation_products.push_back(
      {.name = "chunk_scores", .heads = groups, .inputs = n, .outputs = chunk, .again = again});
  layer.activation_products.push_back(
      {.name = "chunk_outputs", .heads = heads, .inputs = chunk, .outputs = p, .again = again});
  layer.activation_products.push_back(
      {.name = "chunk_states", .heads = heads, .inputs = p, .outputs = n, .again = again});
  layer.activation_products.push_back(
      {.name = "state_outputs", .heads = heads, .inputs = n, .outputs = p, .again = again});
  // Inputs twice and results once, what goes into states and comes out of them twice; scores and
  // states in fp32.
  const double moved = kWorkingElement * (3.0 * heads * p + 4.0 * groups * n);
  constexpr double kScores = 2.0 * 4.0;  // written, read
  add_pass(layer, "scan", Rows::tokens,
           moved + kScores * groups * chunk + kSinglePasses * heads * p * n / chunk, Cut::tensor,
           again);
  layer.passes.back().merged = false;
}

}  // namespace

void add_state_space(Layer& layer, const TransformerModel& model) {
  const StateSpace& space = *model.state_space;
  const double h = real(model.hidden);
  const double heads = real(space.heads);
  const double inner = heads * real(space.head_size);
  const double shared = 2.0 * real(space.groups * space.state_size);
  const double convolved = inner + shared;
  // A gate, inputs, what goes into and out of the state, a step for each head.
  const double outputs = inner + convolved + heads;
  layer.products.push_back({.name = "state_inward",
                            .part = Part::other,
                            .outputs = outputs,
                            .inputs = h,
                            .grouped_outputs = shared,
                            .groups = real(space.groups),
                            .split = Split::outputs,
                            .gathered = true,
                            .again = {{P::alternate, kHalfAgain}}});
  layer.products.push_back({.name = "state_outward",
                            .part = Part::other,
                            .outputs = h,
                            .inputs = inner,
                            .split = Split::inputs,
                            .again = {{P::alternate, kHalfAgain}}});
  // A filter and a bias for each channel; decay, skip and bias of the step for each head; a norm.
  constexpr double kOfHeads = 3.0;
  layer.weights.push_back({Part::other, convolved * (real(space.convolution) + 1.0), Cut::tensor});
  layer.weights.push_back({Part::other, kOfHeads * heads, Cut::tensor});
  layer.weights.push_back({Part::normalization, inner, Cut::tensor});
  add_convolution(layer, convolved);
  add_scan(layer, space);
  add_gated_norm(layer, inner);
  keep_inward_input(layer, "state input", h);
  // The fused kernel makes convolution and states again (mamba_split_conv1d_scan_combined).
  layer.kept.push_back({.name = "gate, channels and steps",
                        .elements = outputs,
                        .cut = Cut::tensor,
                        .again = {{P::alternate, kHalfAgain}}});
  layer.kept.push_back(
      {.name = "scan output", .elements = inner, .cut = Cut::tensor, .again = {{P::alternate}}});
  keep_outward_input(layer, inner);
  layer.exchanges.push_back({.width = h});
}

}  // namespace headway
