#include "sim/models/transformer/transformer_layers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/models/transformer/transformer_parts.h"
#include "sim/models/transformer/vision_tower.h"

namespace headway {
namespace {

using P = RecomputePart;

// Traffic per token, in bytes for each channel, as the study of public training steps fits it in
// tensors of 2 bytes (the kernels' efficiency is the profile's matter).
constexpr double kNormBytes = 10.0;     ///< a norm, a residual sum, a dropout
constexpr double kBackwardRatio = 2.0;  ///< backward reads the saved tensor and the gradient

constexpr double kGatherPasses = 2.0;   ///< the row is read, the output written
constexpr double kScatterPasses = 3.0;  ///< the gradient is read, the row read and written
constexpr double kSumPasses = 3.0;      ///< both terms are read, their sum written

/// Kernels that half a layer launches one after the other, where norms, rotary embedding and
/// activation are kernels of their own (counted in Megatron-Core's layer).
constexpr Launches kLaunches{.forward = 7.0, .backward = 12.0};

/// A layer of transformers with layer norms, which are a kernel each, took the host 1.1 ms, one
/// with RMS norms 1.3 (scripts/torch_huggingface.py).
constexpr double kIssueOfLayerNorms = 1.1 / 1.3;

/// A norm's share of the pass over norms and residuals: that moves 10 bytes a channel for each half
/// of a layer, a norm reads and writes 4.
constexpr double kNormShare = 0.4;
/// fp32 tensors that an RMS norm of elementary operations keeps.
constexpr double kUnfusedNorm = 2.0;

void add_norm(Layer& layer, const TransformerModel& model, std::string_view which, Again again) {
  layer.weights.push_back(norm_weights(model));
  keep_norm_input(layer, model.normalization,
                  {.name = std::string(which) + " norm input",
                   .rows = Rows::own,
                   .elements = real(model.hidden),
                   .stored = Stored::residual,
                   .again = again});
}

/// The normalization before the head has no pass, as it had none where the constants were fitted.
Layer head_layer(const TransformerModel& model) {
  const double h = real(model.hidden);
  const double vocabulary = real(model.vocabulary);
  Layer head{.name = "head", .input = h, .loss_classes = vocabulary};
  head.products.push_back({.name = "head",
                           .part = Part::head,
                           .outputs = vocabulary,
                           .inputs = h,
                           .split = Split::outputs});
  head.passes.push_back(cross_entropy_pass(vocabulary));
  head.weights.push_back(norm_weights(model));
  head.kept = {
      {.name = "final norm input", .rows = Rows::own, .elements = h, .stored = Stored::residual},
      {.name = "head input",
       .rows = Rows::own,
       .elements = h,
       .gathered = true,
       .for_weights = true}};
  return head;
}

/// The hidden state and the embedding of the next token, both normalised, in one product, and a
/// norm of what comes out. Every tensor-parallel rank makes its part of the columns.
Layer prediction_join(const TransformerModel& model) {
  const double h = real(model.hidden);
  constexpr double kNorms = 3.0;
  constexpr double kInputs = 4.0;  ///< of the two norms, and of the product twice the size
  Layer join{.name = "prediction join", .input = 2.0 * h, .output = h};
  join.products.push_back({.name = "prediction_join",
                           .part = Part::head,
                           .outputs = h,
                           .inputs = 2.0 * h,
                           .split = Split::outputs,
                           .gathered = true});
  constexpr double kHalves = 2.0;  // as much as in a layer
  add_pass(join, "norm_residual_dropout", Rows::own, kHalves * kNormBytes * h, Cut::none, {});
  Weights norms = norm_weights(model);
  norms.part = Part::head;
  norms.count *= kNorms;
  norms.tensors *= kNorms;
  join.weights.push_back(norms);
  join.kept.push_back({.name = "joined inputs", .rows = Rows::own, .elements = kInputs * h});
  return join;
}

}  // namespace

bool has_dropout(const TransformerModel& model) {
  return model.dropout && model.position_encoding == PositionEncoding::learned;
}

void add_pass(Layer& layer, std::string name, Rows rows, double bytes, Cut cut, Again again,
              KernelChoice when) {
  layer.passes.push_back({.name = std::move(name),
                          .rows = rows,
                          .forward = bytes,
                          .backward = kBackwardRatio * bytes,
                          .cut = cut,
                          .when = when,
                          .again = again});
}

void keep_norm_input(Layer& layer, Normalization normalization, KeptTensor input) {
  if (normalization == Normalization::rms_norm) {
    KeptTensor unfused = input;
    unfused.elements *= kUnfusedNorm;
    unfused.stored = Stored::single;
    unfused.when = KernelChoice::unfused_normalization;
    layer.kept.push_back(std::move(unfused));
    input.when = KernelChoice::fused_normalization;
  }
  layer.kept.push_back(std::move(input));
}

Product patch_product(double channels, std::int64_t pixels) {
  constexpr double kColours = 3.0;
  return {.name = "patches",
          .outputs = channels,
          .inputs = kColours * real(pixels),
          .input_gradient = false};
}

void add_patches(Layer& layer, Product patches) {
  layer.kept.push_back(
      {.name = "pixels", .elements = patches.rows_each * patches.inputs, .for_weights = true});
  layer.products.push_back(std::move(patches));
}

bool is_between(std::int64_t layer, std::int64_t interval) {
  return interval == 0 || layer % interval != interval - 1;
}

void add_dropout_mask(Layer& layer, const TransformerModel& model, std::string name) {
  if (!has_dropout(model)) return;
  layer.kept.push_back({.name = std::move(name),
                        .rows = Rows::own,
                        .elements = real(model.hidden),
                        .stored = Stored::mask});
}

Weights norm_weights(const TransformerModel& model) {
  const bool biased = model.normalization == Normalization::layer_norm && model.normalization_bias;
  const double tensors = biased ? 2.0 : 1.0;
  return {.part = Part::normalization, .count = tensors * real(model.hidden), .tensors = tensors};
}

namespace {

LayerVariant half_variant(char letter) {
  switch (letter) {
    case half_layer::kStateSpace:
      return {.mixer = Mixer::state_space, .feeds = false};
    case half_layer::kSelectiveScan:
      return {.mixer = Mixer::selective_scan, .feeds = false};
    case half_layer::kDeltaNet:
      return {.mixer = Mixer::delta_net, .feeds = false};
    case half_layer::kConvolution:
      return {.mixer = Mixer::convolution, .feeds = false};
    case half_layer::kAttention:
      return {.feeds = false};
    case half_layer::kExperts:
      return {.experts = true, .mixer = Mixer::none};
    default:
      return {.mixer = Mixer::none};
  }
}

std::string_view name_of(LayerVariant variant) {
  if (variant.mixer == Mixer::state_space) return "state space layer";
  if (variant.mixer == Mixer::selective_scan) return "selective scan layer";
  if (variant.mixer == Mixer::convolution) return "convolution layer";
  if (variant.mixer == Mixer::none) return variant.experts ? "layer of experts" : "MLP layer";
  if (variant.mixer == Mixer::delta_net) {
    return variant.experts ? "delta net layer with experts" : "delta net layer";
  }
  if (!variant.feeds) return "attention layer";
  if (variant.crossed > 0.0) return "cross attention layer";
  return variant.experts ? "transformer layer with experts" : "transformer layer";
}

void add_mixer(Layer& layer, const TransformerModel& model, LayerVariant variant) {
  if (variant.mixer == Mixer::state_space) {
    add_state_space(layer, model);
  } else if (variant.mixer == Mixer::selective_scan) {
    add_selective_scan(layer, model);
  } else if (variant.mixer == Mixer::delta_net) {
    add_delta_net(layer, model);
  } else if (variant.mixer == Mixer::convolution) {
    add_short_convolution(layer, model);
  } else {
    add_attention(layer, model, variant.windowed, variant.crossed);
  }
}

}  // namespace

LayerVariant layer_variant(const TransformerModel& model, std::int64_t layer) {
  if (!model.layer_pattern.empty()) {
    return half_variant(model.layer_pattern[static_cast<std::size_t>(layer)]);
  }
  LayerVariant variant;
  if (const auto& mixture = model.mixture_of_experts) {
    const std::int64_t behind = layer - mixture->leading_dense_layers;
    variant.experts = behind >= 0 && behind % mixture->interval == mixture->interval - 1;
  }
  if (const auto& window = model.sliding_window) {
    variant.windowed = is_between(layer, window->full_attention_interval);
  }
  if (model.delta_net && is_between(layer, model.delta_net->full_attention_interval)) {
    variant.mixer = Mixer::delta_net;
  }
  return variant;
}

Layer transformer_layer(const TransformerModel& model, LayerVariant variant) {
  const double h = real(model.hidden);
  const bool mixes = variant.mixer != Mixer::none;
  const double halves = (mixes ? 1.0 : 0.0) + (variant.feeds ? 1.0 : 0.0);
  Layer layer{.name = std::string(name_of(variant)),
              .input = h,
              .output = h,
              .launches = {halves * kLaunches.forward, halves * kLaunches.backward}};
  if (model.normalization == Normalization::layer_norm) layer.separate_issue = kIssueOfLayerNorms;
  add_pass(layer, "norm_residual_dropout", Rows::own, halves * kNormBytes * h, Cut::none,
           {{P::layernorm, kNormShare}, {P::alternate}});
  MemoryPass& stream = layer.passes.back();
  stream.operators = Operators::merged;
  constexpr double kWider = 2.0;  // it passes in fp32
  stream.wide = MovedBytes{kWider * stream.forward, kWider * stream.backward};
  add_stream_operators(layer, model, mixes, variant.feeds);
  if (mixes) add_norm(layer, model, "attention", {});
  if (variant.feeds) add_norm(layer, model, "MLP", {{P::alternate}});
  if (mixes) add_mixer(layer, model, variant);
  if (variant.feeds) {
    if (variant.experts) {
      add_experts(layer, model, *model.mixture_of_experts);
    } else {
      add_dense_mlp(layer, model);
    }
    add_dropout_mask(layer, model, "MLP dropout mask");
  }
  if (mixes) add_dropout_mask(layer, model, "attention dropout mask");
  if (variant.mixer == Mixer::attention) keep_scores(layer, model);
  add_bias_operators(layer);
  return layer;
}

Layer with_rows(Layer layer, double times) {
  if (layer.attention) {
    layer.attention->queries *= times;
    layer.attention->keys *= times;
  }
  for (Product& product : layer.products) product.rows_each *= times;
  for (MemoryPass& pass : layer.passes) {
    pass.forward *= times;
    pass.backward *= times;
    if (pass.wide) *pass.wide = {times * pass.wide->forward, times * pass.wide->backward};
  }
  for (KeptTensor& tensor : layer.kept) {
    const bool to_others = tensor.attended && layer.attention->block == 0.0;
    tensor.elements *= times * (to_others ? layer.attention->keys : 1.0);
  }
  for (TensorExchange& exchange : layer.exchanges) exchange.width *= times;
  layer.input *= times;
  layer.output *= times;
  layer.loss_classes *= times;
  return layer;
}

Layer embedding_layer(const TransformerModel& model) {
  // A table cut over its rows leaves every rank with a whole output: those of foreign rows are zero
  // until the ranks sum up (Shoeybi et al. 2019, section 3).
  const double row_bytes = real(model.hidden) * kWorkingElement;
  Layer embedding{.name = "embedding", .output = real(model.hidden)};
  embedding.weights.push_back(
      {Part::embedding, real(model.vocabulary * model.hidden), Cut::tensor});
  embedding.passes.push_back({.name = "token_embedding",
                              .forward = kGatherPasses * row_bytes,
                              .backward = kScatterPasses * row_bytes});
  if (model.position_encoding == PositionEncoding::learned) {
    embedding.weights.push_back({Part::positions, real(model.sequence_length * model.hidden)});
    embedding.passes.push_back({.name = "position_embedding",
                                .forward = kSumPasses * row_bytes,
                                .backward = kScatterPasses * row_bytes});
  }
  add_dropout_mask(embedding, model, "embedding dropout mask");
  return embedding;
}

MemoryPass cross_entropy_pass(double classes) {
  return {.name = "cross_entropy",
          .forward = kCrossEntropyForward * classes,
          .backward = kCrossEntropyBackward * classes,
          .cut = Cut::loss};
}

std::vector<TensorLimit> tensor_limits(const TransformerModel& model) {
  const auto may_have = [&model](char half) {
    return model.layer_pattern.empty() || model.layer_pattern.find(half) != std::string::npos;
  };
  std::vector<TensorLimit> limits;
  if (may_have(half_layer::kAttention)) {
    limits.push_back({"attention_heads", "the attention heads", model.attention_heads});
    limits.push_back({"kv_heads", "the key-value heads", model.kv_heads, true});
  }
  limits.push_back({"hidden", "the hidden size", model.hidden});
  if (may_have(half_layer::kMlp)) {
    limits.push_back({"ffn_hidden", "the hidden size of the MLP", model.ffn_hidden});
  }
  if (const auto& states = model.state_space) {
    limits.push_back({"state_space", "the heads of the state space", states->heads});
    limits.push_back({"state_space", "the groups of the state space", states->groups, true});
  }
  if (const auto& scan = model.selective_scan) {
    limits.push_back({"selective_scan", "the channels of the selective scan", scan->channels});
  }
  if (const auto& delta = model.delta_net) {
    limits.push_back({"delta_net", "the value heads of the delta net", delta->value_heads});
    limits.push_back({"delta_net", "the key heads of the delta net", delta->key_heads, true});
  }
  if (model.mixture_of_experts && model.mixture_of_experts->shared_expert_hidden > 0) {
    limits.push_back({"mixture_of_experts", "the hidden size of the shared expert",
                      model.mixture_of_experts->shared_expert_hidden});
  }
  return limits;
}

Model layers_of(const TransformerModel& fields) {
  Model model{.name = fields.name,
              .source = fields.source,
              .first = embedding_layer(fields),
              .last = head_layer(fields),
              .is_validated = fields.layer_pattern.empty() && !fields.state_space &&
                              !fields.selective_scan && !fields.delta_net &&
                              !fields.short_convolution && !fields.sparse_attention &&
                              !fields.vision,
              .tied = fields.tied_embeddings,
              .sequence_length = fields.sequence_length,
              .tensor_limits = tensor_limits(fields)};
  if (fields.position_encoding == PositionEncoding::learned) {
    model.most_positions = fields.sequence_length;
  }
  std::vector<LayerVariant> known;
  for (std::int64_t layer = 0; layer < fields.layers; ++layer) {
    const LayerVariant variant = layer_variant(fields, layer);
    const auto kind = std::ranges::find(known, variant);
    model.layers.push_back(static_cast<int>(kind - known.begin()));
    if (kind != known.end()) continue;
    known.push_back(variant);
    model.kinds.push_back(transformer_layer(fields, variant));
  }
  if (fields.vision) add_vision_tower(model, fields, *fields.vision);
  if (fields.multi_token_prediction_layers > 0) {
    model.ahead = {.layers = static_cast<int>(fields.multi_token_prediction_layers),
                   .kind = model.layers.back(),
                   .join = prediction_join(fields)};
  }
  return model;
}

}  // namespace headway
