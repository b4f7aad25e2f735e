#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

/// The sequence in chunks of c positions (Yang et al. 2024, arXiv:2412.06464, section 3.3, after
/// arXiv:2406.06484, section 3.2), for heads of k and v channels: keys with keys c k, the inverse
/// of the triangle that gives, c^2 / 3 operations, its products with keys c k and values c v,
/// scores c k, what the state holds of the keys and of the queries k v each, scores with values c
/// v, and the new state k v.
void add_chunks(Layer& layer, const DeltaNet& net) {
  const double heads = real(net.value_heads);
  const double k = real(net.key_head_size);
  const double v = real(net.value_head_size);
  const double c = real(net.chunk);
  const auto add = [&](const char* name, double inputs, double outputs) {
    layer.activation_products.push_back({.name = name,
                                         .heads = heads,
                                         .inputs = inputs,
                                         .outputs = outputs,
                                         .again = {{P::alternate}}});
  };
  constexpr double kInverse = 1.0 / 6.0;  // a third of c^2, of which a product counts 2 c each
  add("delta_keys", k, c);
  add("delta_inverse", c, kInverse * c);
  add("delta_writes", c, k + v);
  add("delta_scores", k, c);
  add("delta_state_reads", k, 2.0 * v);
  add("delta_outputs", c, v);
  add("delta_states", k, v);
  // Keys four times and queries twice; values, what is written, and results, each written and read;
  // keys that read the state; the triangle; states.
  double moved = 6.0 * k + 6.0 * v + 2.0 * k + 2.0 * c + 2.0 * k * v / c;
  // Decays of channels are read, and their sums along a chunk written in fp32 and read four times:
  // for scores of the keys, what is written, states and results (fla-org, chunk_kda).
  if (net.gate_rank > 0) moved += k + 2.0 * 5.0 * k;
  add_pass(layer, "delta_rule", Rows::tokens, kWorkingElement * heads * moved, Cut::tensor,
           {{P::alternate}});
  layer.passes.back().merged = false;
}

}  // namespace

void add_delta_net(Layer& layer, const TransformerModel& model) {
  const DeltaNet& net = *model.delta_net;
  const double h = real(model.hidden);
  const double keys = real(net.key_heads * net.key_head_size);
  const double values = real(net.value_heads * net.value_head_size);
  const double heads = real(net.value_heads);
  const double convolved = 2.0 * keys + values;
  const auto add = [&](const char* name, double outputs, double inputs, Split split) {
    layer.products.push_back({.name = name,
                              .part = Part::other,
                              .outputs = outputs,
                              .inputs = inputs,
                              .split = split,
                              .gathered = split == Split::outputs,
                              .again = {{P::alternate, kHalfAgain}}});
  };
  const bool narrows = net.gate_rank > 0;
  const double rank = real(net.gate_rank);
  const double decays = heads * (narrows ? real(net.key_head_size) : 1.0);
  // With a gate as wide as the values, unless it has a narrow layer of its own.
  add("delta_inward", convolved + (narrows ? 0.0 : values), h, Split::outputs);
  layer.products.back().grouped_outputs = 2.0 * keys;
  layer.products.back().groups = real(net.key_heads);
  if (narrows) {
    add("delta_narrow", 2.0 * rank, h, Split::none);
    layer.products.back().gathered = true;
    add("delta_gates", decays + values, rank, Split::outputs);
    layer.products.back().gathered = false;
  }
  const double rates = narrows ? heads : 2.0 * heads;  // how much is written, and forgotten
  add("delta_rates", rates, h, Split::outputs);
  layer.products.back().wide = true;
  layer.products.back().quantised = false;
  add("delta_outward", h, values, Split::inputs);
  // A filter for each channel; the decay of each head, and biases of all; one norm for all heads.
  layer.weights.push_back({Part::other, convolved * real(net.convolution), Cut::tensor});
  layer.weights.push_back({Part::other, heads + decays, Cut::tensor});
  layer.weights.push_back({Part::normalization, real(net.value_head_size)});
  add_convolution(layer, convolved);
  add_chunks(layer, net);
  add_gated_norm(layer, values);
  keep_inward_input(layer, "delta input", h);
  layer.kept.push_back({.name = "channels, gate and rates",
                        .elements = convolved + values + rates + (narrows ? decays : 0.0),
                        .cut = Cut::tensor,
                        .again = {{P::alternate, kHalfAgain}}});
  if (narrows) layer.kept.push_back({.name = "narrow layers", .elements = 2.0 * rank});
  const auto keep = [&layer](const char* name, double elements) {
    layer.kept.push_back(
        {.name = name, .elements = elements, .cut = Cut::tensor, .again = {{P::alternate}}});
  };
  keep("queries, keys and values", convolved);
  keep("triangles", heads * real(net.chunk));
  keep("delta output", values);
  keep_outward_input(layer, values);
  layer.exchanges.push_back({.width = h});
}

}  // namespace headway
