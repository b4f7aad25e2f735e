#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

constexpr double kRotaryBytes = 4.0;  ///< queries and keys, read and written

void add_rotary(Layer& layer, const TransformerModel& model, double elements, Again again) {
  if (model.position_encoding != PositionEncoding::rotary) return;
  // Unfused attention carries its own traffic, in the profile's cost of it.
  add_pass(layer, "rotary", Rows::tokens, kRotaryBytes * elements, Cut::tensor, again,
           KernelChoice::fused_attention);
}

void add_grouped_attention(Layer& layer, const TransformerModel& model) {
  const double d = real(model.head_size);
  const double heads = real(model.attention_heads);
  const double groups = real(model.kv_heads);
  layer.products.push_back({.name = "qkv",
                            .part = Part::attention,
                            .outputs = (heads + 2.0 * groups) * d,
                            .inputs = real(model.hidden),
                            .grouped_outputs = 2.0 * groups * d,
                            .groups = groups,
                            .split = Split::outputs,
                            .bias = model.qkv_bias,
                            .gathered = true,
                            .target = AdapterTarget::qkv,
                            .again = {{P::alternate, kHalfAgain}}});
  add_rotary(layer, model, (heads + groups) * d, {{P::alternate}});
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

void keep_heads(Layer& layer, const TransformerModel& model) {
  const double d = real(model.head_size);
  const double value = real(value_head_size(model));
  const double groups = real(model.kv_heads);
  const bool latent = model.latent_attention.has_value();
  const Again projected = latent ? Again{{P::mla_up_proj}} : Again{};
  const Again keys = latent ? Again{{P::alternate}, {P::mla_up_proj}} : Again{{P::alternate}};
  const double outputs = real(model.attention_heads) * value;
  layer.kept.push_back({.name = "queries",
                        .elements = real(model.attention_heads) * d,
                        .cut = Cut::tensor,
                        .again = projected});
  layer.kept.push_back({.name = "keys",
                        .elements = groups * d,
                        .cut = Cut::tensor,
                        .pieces = groups,
                        .again = keys});
  layer.kept.push_back({.name = "values",
                        .elements = groups * value,
                        .cut = Cut::tensor,
                        .pieces = groups,
                        .again = projected});
  // The fused kernel wants its output as it was, the product its input quantised.
  KeptTensor output{.name = "projection input",
                    .elements = outputs,
                    .cut = Cut::tensor,
                    .when = KernelChoice::fused_attention};
  layer.kept.push_back(output);
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

void add_attention(Layer& layer, const TransformerModel& model, bool windowed) {
  const double heads = real(model.attention_heads);
  const double value = real(value_head_size(model));
  layer.kept.push_back({.name = "QKV input",
                        .rows = Rows::own,
                        .elements = real(model.hidden),
                        .stored = Stored::quantised,
                        .for_weights = true,
                        .target = AdapterTarget::qkv,
                        .again = {{P::layernorm}, {P::alternate}}});
  if (model.latent_attention) {
    add_latent_attention(layer, model, *model.latent_attention);
  } else {
    add_grouped_attention(layer, model);
  }
  keep_heads(layer, model);
  layer.products.push_back({.name = "projection",
                            .part = Part::attention,
                            .outputs = real(model.hidden),
                            .inputs = heads * value,
                            .split = Split::inputs,
                            .bias = model.projection_bias,
                            .target = AdapterTarget::projection,
                            .again = {{P::alternate, kHalfAgain}}});
  if (model.attention_sinks) layer.weights.push_back({Part::attention, heads, Cut::tensor});
  layer.attention = AttentionCore{.heads = heads,
                                  .key_heads = real(model.kv_heads),
                                  .head_size = real(model.head_size),
                                  .value_head_size = value,
                                  .values_differ = model.latent_attention.has_value(),
                                  .window = windowed ? real(model.sliding_window->size) : 0.0,
                                  .sinks = model.attention_sinks,
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
  add_dropout_mask(layer, model, "attention dropout mask");
  add_dropout_mask(layer, model, "MLP dropout mask");
  if (!has_dropout(model)) return;
  keep("softmax dropout mask", Stored::mask);
  keep("softmax dropout output", Stored::working);
}

}  // namespace headway
