#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

constexpr double kRotaryBytes = 4.0;  ///< queries and keys, read and written

constexpr double kBoth = 2.0;  ///< of queries and of keys

/// Kernels of a norm: backward one for what it took, one that sums up gradients of gains.
constexpr Launches kNormLaunches{.forward = 1.0, .backward = 2.0};
constexpr double kLaunchesOfLayer = 14.0;  ///< forward, of a layer of attention and an MLP

// What the host takes for a norm where each operator is a kernel, in layers with RMS norms: of
// those two more or less are 0.2 of 1.3 ms next to layer norms, which are three of 68 kernels of
// 1.1 ms (scripts/torch_huggingface.py).
constexpr double kIssueOfLayerNorm = 3.0 / 68.0 * 1.1 / 1.3;
constexpr double kIssueOfRmsNorm = kIssueOfLayerNorm + 0.1 / 1.3;

void add_launches(Layer& layer, Normalization normalization) {
  const double issue =
      normalization == Normalization::rms_norm ? kIssueOfRmsNorm : kIssueOfLayerNorm;
  const double issued = layer.separate_issue * layer.launches.forward / kLaunchesOfLayer;
  layer.launches.forward += kBoth * kNormLaunches.forward;
  layer.launches.backward += kBoth * kNormLaunches.backward;
  layer.separate_issue = (issued + kBoth * issue) * kLaunchesOfLayer / layer.launches.forward;
}

void add_rotary(Layer& layer, const TransformerModel& model, double elements, Again again) {
  if (model.position_encoding != PositionEncoding::rotary) return;
  // Unfused attention carries its own traffic, in the profile's cost of it.
  add_pass(layer, "rotary", Rows::tokens, kRotaryBytes * elements, Cut::tensor, again,
           KernelChoice::fused_attention);
  layer.passes.back().operators = Operators::merged;
  add_rotary_operators(layer, elements, again);
}

/// Sizes of the core. Sparse attention works on compressed keys, which all heads share and whose
/// part without positions is the value; what makes keys and values of these is multiplied with
/// queries and results instead, as many operations.
struct CoreSizes {
  double heads;
  double key_heads;
  double head_size;
  double value_head_size;
};
CoreSizes core_sizes(const TransformerModel& model) {
  const double heads = real(model.attention_heads);
  if (model.sparse_attention) {
    const LatentAttention& latent = *model.latent_attention;
    const double rank = real(latent.key_value_rank);
    return {heads, 1.0, rank + real(latent.rotary_head_size), rank};
  }
  return {heads, real(model.kv_heads), real(model.head_size), real(value_head_size(model))};
}

/// Latent attention keeps what keys and values are made of (DeepSeek-V2, 2024, section 2.1).
double cached_elements(const TransformerModel& model) {
  if (!model.latent_attention) return 0.0;
  const LatentAttention& latent = *model.latent_attention;
  return real(latent.key_value_rank) + real(latent.rotary_head_size);
}

/// As many columns more as queries have; its product with what attention gives is a pass.
void add_gate(Layer& layer, const TransformerModel& model) {
  constexpr double kGateBytes = 6.0;  ///< two read, one written
  const double width = real(model.attention_heads * model.head_size);
  add_pass(layer, "attention_gate", Rows::tokens, kGateBytes * width, Cut::tensor, {});
  layer.kept.push_back({.name = "attention gate", .elements = width, .cut = Cut::tensor});
  layer.kept.push_back({.name = "gated output",
                        .elements = width,
                        .cut = Cut::tensor,
                        .stored = Stored::quantised,
                        .for_weights = true,
                        .target = AdapterTarget::projection});
}

/// Queries of the layer's own rows; keys and values of another sequence's.
void add_crossed_products(Layer& layer, const TransformerModel& model, double crossed) {
  const double outputs = real(model.kv_heads * model.head_size);
  Product queries{.name = "queries",
                  .part = Part::attention,
                  .outputs = real(model.attention_heads * model.head_size),
                  .inputs = real(model.hidden),
                  .split = Split::outputs,
                  .bias = model.qkv_bias,
                  .gathered = true,
                  .again = {{P::alternate, kHalfAgain}}};
  Product keys = queries;
  keys.name = "keys and values";
  keys.rows_each = crossed;
  keys.outputs = keys.grouped_outputs = 2.0 * outputs;
  keys.groups = real(model.kv_heads);
  layer.products.push_back(std::move(queries));
  layer.products.push_back(std::move(keys));
  // Every layer sums the gradient that it gives to the other sequence by itself (Megatron-Core,
  // transformer/attention.py, CrossAttention: linear_kv is a ColumnParallelLinear).
  layer.exchanges.push_back({.width = crossed * real(model.hidden), .only_enters = true});
}

void add_grouped_attention(Layer& layer, const TransformerModel& model) {
  const double d = real(model.head_size);
  const double heads = real(model.attention_heads);
  const double groups = real(model.kv_heads);
  const double gates = model.attention_gate ? heads : 0.0;
  layer.products.push_back({.name = "qkv",
                            .part = Part::attention,
                            .outputs = (heads + gates + 2.0 * groups) * d,
                            .inputs = real(model.hidden),
                            .grouped_outputs = 2.0 * groups * d,
                            .groups = groups,
                            .split = Split::outputs,
                            .bias = model.qkv_bias,
                            .gathered = true,
                            .target = AdapterTarget::qkv,
                            .again = {{P::alternate, kHalfAgain}}});
  add_query_key_norms(layer, model);
  add_rotary(layer, model, (heads + groups) * d, {{P::alternate}});
  if (model.attention_gate) add_gate(layer, model);
}

/// Every tensor-parallel rank has the whole indexer. Its scores are made of all positions in front,
/// and trained towards what attention gives to those that it picked (DeepSeek-V3.2, 2025, section
/// 2.1.1). What the top of the scores takes to find is not counted, nor is the target made.
void add_indexer(Layer& layer, const TransformerModel& model, const SparseAttention& sparse) {
  const double heads = real(sparse.index_heads);
  const double size = real(sparse.index_head_size);
  const auto add = [&layer](std::string name, double outputs, double inputs) {
    layer.products.push_back({.name = std::move(name),
                              .part = Part::attention,
                              .outputs = outputs,
                              .inputs = inputs,
                              .gathered = true,
                              .quantised = false});
  };
  add("index_query", heads * size, real(model.latent_attention->query_rank));
  add("index_key", size, real(model.hidden));
  add("index_weights", heads, real(model.hidden));
  layer.weights.push_back({Part::attention, 2.0 * size});  // a layer norm of the keys
  layer.activation_products.push_back({.name = "index_scores",
                                       .heads = heads,
                                       .inputs = size,
                                       .trained = real(sparse.positions),
                                       .cut = Cut::none,
                                       .again = {{P::core_attn}}});
  layer.kept.push_back(
      {.name = "index queries, keys and weights", .elements = heads * size + size + heads});
  layer.kept.push_back(
      {.name = "picked positions", .elements = real(sparse.positions), .stored = Stored::single});
}

/// The narrow products work on the tokens of the residual stream, before sequence-parallel ranks
/// gather them (Megatron-Core, multi_latent_attention.py), and stand whole on every rank.
void add_latent_attention(Layer& layer, const TransformerModel& model,
                          const LatentAttention& latent) {
  const double h = real(model.hidden);
  const double d = real(model.head_size);
  const double heads = real(model.attention_heads);
  const double query_rank = real(latent.query_rank);
  const double key_value_rank = real(latent.key_value_rank);
  const double rotary = real(latent.rotary_head_size);
  const double up_outputs =
      heads * (real(latent.head_size_without_rotary) + real(latent.value_head_size));
  const auto add = [&layer](std::string name, Rows rows, double outputs, double inputs, Split split,
                            bool gathered, Again again) {
    layer.products.push_back({.name = std::move(name),
                              .part = Part::attention,
                              .rows = rows,
                              .outputs = outputs,
                              .inputs = inputs,
                              .split = split,
                              .gathered = gathered,
                              .again = again});
  };
  if (latent.query_rank > 0) {
    add("query_down", Rows::own, query_rank, h, Split::none, false, {});
    add("query_up", Rows::tokens, heads * d, query_rank, Split::outputs, false, {{P::mla_up_proj}});
  } else {
    add("query", Rows::tokens, heads * d, h, Split::outputs, true, {});
  }
  add("key_value_down", Rows::own, key_value_rank + rotary, h, Split::none, false, {});
  add("key_value_up", Rows::tokens, up_outputs, key_value_rank, Split::outputs, false,
      {{P::mla_up_proj}});
  layer.weights.push_back({Part::attention, query_rank + key_value_rank});  // norms between them
  // The rotary part of the queries in place; keys are put together from both parts.
  add_rotary(layer, model, heads * (rotary + d), {{P::alternate}, {P::mla_up_proj}});
  layer.kept.push_back({.name = "compressed queries", .elements = query_rank});
  layer.kept.push_back({.name = "compressed keys and values", .elements = key_value_rank + rotary});
}

/// `others`: positions with keys for each row.
void keep_heads(Layer& layer, const TransformerModel& model, double others) {
  const auto [heads, groups, d, value] = core_sizes(model);
  const bool latent = model.latent_attention.has_value();
  const Again projected = latent ? Again{{P::mla_up_proj}} : Again{};
  const Again keys = latent ? Again{{P::alternate}, {P::mla_up_proj}} : Again{{P::alternate}};
  const double outputs = heads * value;
  layer.kept.push_back(
      {.name = "queries", .elements = heads * d, .cut = Cut::tensor, .again = projected});
  layer.kept.push_back({.name = "keys",
                        .elements = others * groups * d,
                        .cut = Cut::tensor,
                        .pieces = groups,
                        .again = keys});
  if (model.sparse_attention) {
    layer.kept.push_back({.name = "values of heads",
                          .elements = heads * real(value_head_size(model)),
                          .cut = Cut::tensor,
                          .stored = Stored::quantised,
                          .for_weights = true,
                          .target = AdapterTarget::projection});
  } else {
    layer.kept.push_back({.name = "values",
                          .elements = others * groups * value,
                          .cut = Cut::tensor,
                          .pieces = groups,
                          .again = projected});
  }
  // The fused kernel wants its output as it was, the product its input quantised.
  KeptTensor output{.name = "projection input",
                    .elements = outputs,
                    .cut = Cut::tensor,
                    .when = KernelChoice::fused_attention};
  layer.kept.push_back(output);
  KeptTensor copy = output;
  copy.name = "projection input, in another order";
  copy.when = KernelChoice::copied_attention;
  layer.kept.push_back(std::move(copy));
  output.for_weights = true;
  output.target = AdapterTarget::projection;
  output.when = KernelChoice::unfused_attention;
  layer.kept.push_back(output);
  output.name = "projection input, quantised";
  output.stored = Stored::quantised_copy;
  output.when = KernelChoice::fused_attention;
  layer.kept.push_back(std::move(output));
}

}  // namespace

void add_query_key_norms(Layer& layer, Normalization normalization, Weights gains,
                         double elements) {
  const Again again = {{RecomputePart::alternate}};
  layer.weights.push_back(gains);
  add_pass(layer, "query_key_norms", Rows::tokens, kReadAndWritten * elements, Cut::tensor, again);
  layer.passes.back().operators = Operators::merged;
  add_head_norm_operators(layer, normalization, elements, again);
  keep_norm_input(layer, normalization,
                  {.name = "queries and keys before their norms",
                   .elements = elements,
                   .cut = Cut::tensor,
                   .again = again});
  add_launches(layer, normalization);
}

void add_query_key_norms(Layer& layer, const TransformerModel& model) {
  if (model.query_key_norms == QueryKeyNorms::none) return;
  const double elements = real((model.attention_heads + model.kv_heads) * model.head_size);
  const bool biased = model.normalization == Normalization::layer_norm && model.normalization_bias;
  const double tensors = biased ? 2.0 : 1.0;
  const bool shared = model.query_key_norms == QueryKeyNorms::each_head;
  add_query_key_norms(layer, model.normalization,
                      {.part = Part::normalization,
                       .count = tensors * (shared ? kBoth * real(model.head_size) : elements),
                       .cut = shared ? Cut::none : Cut::tensor,
                       .tensors = kBoth * tensors},
                      elements);
}

void add_attention(Layer& layer, const TransformerModel& model, bool windowed, double crossed) {
  const CoreSizes core = core_sizes(model);
  const double heads = core.heads;
  layer.kept.push_back({.name = "QKV input",
                        .rows = Rows::own,
                        .elements = real(model.hidden),
                        .gathered = true,
                        .stored = Stored::quantised,
                        .for_weights = true,
                        .target = AdapterTarget::qkv,
                        .again = {{P::layernorm}, {P::alternate}}});
  if (crossed > 0.0) {
    add_crossed_products(layer, model, crossed);
  } else if (model.latent_attention) {
    add_latent_attention(layer, model, *model.latent_attention);
  } else {
    add_grouped_attention(layer, model);
  }
  keep_heads(layer, model, crossed > 0.0 ? crossed : 1.0);
  layer.products.push_back({.name = "projection",
                            .part = Part::attention,
                            .outputs = real(model.hidden),
                            .inputs = heads * real(value_head_size(model)),
                            .split = Split::inputs,
                            .bias = model.projection_bias,
                            .target = AdapterTarget::projection,
                            .again = {{P::alternate, kHalfAgain}}});
  if (model.attention_sinks) layer.weights.push_back({Part::attention, heads, Cut::tensor});
  double window = windowed ? real(model.sliding_window->size) : 0.0;
  if (model.sparse_attention) {
    add_indexer(layer, model, *model.sparse_attention);
    window = real(model.sparse_attention->positions);
  }
  layer.attention = AttentionCore{.heads = heads,
                                  .key_heads = core.key_heads,
                                  .head_size = core.head_size,
                                  .value_head_size = core.value_head_size,
                                  .values_differ = model.latent_attention.has_value(),
                                  .causal = crossed == 0.0,
                                  .keys = crossed > 0.0 ? crossed : 1.0,
                                  .window = window,
                                  .cached = cached_elements(model),
                                  .sinks = model.attention_sinks,
                                  .dropout = has_dropout(model),
                                  .again = {{P::scores}, {P::core_attn}}};
  layer.exchanges.push_back({.width = real(model.hidden)});
}

void keep_scores(Layer& layer, const TransformerModel& model) {
  const double heads = real(model.attention_heads);
  layer.kept.push_back({.name = "attention log-sum-exp",
                        .elements = heads,
                        .cut = Cut::tensor,
                        .stored = Stored::single,
                        .when = KernelChoice::fused_attention,
                        .again = {{P::core_attn}}});
  const auto keep = [&](std::string name, Stored stored) {
    layer.kept.push_back({.name = std::move(name),
                          .elements = heads,
                          .cut = Cut::tensor,
                          .attended = true,
                          .stored = stored,
                          .when = KernelChoice::unfused_attention,
                          .again = {{P::scores}, {P::core_attn}}});
  };
  keep("softmax output", Stored::working);
  keep("softmax output in fp32", Stored::single);
  layer.kept.back().when = KernelChoice::unfused_softmax;
  if (!has_dropout(model)) return;
  keep("softmax dropout mask", Stored::mask);
  keep("softmax dropout output", Stored::working);
}

}  // namespace headway
