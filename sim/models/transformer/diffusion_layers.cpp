#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "sim/models/transformer/diffusion_transformer.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

/// Sinusoids that a time becomes before two products embed it.
constexpr double kFrequencies = 256.0;
/// Gain and bias of a norm and a gate, of each half of a layer.
constexpr double kVectorsOfHalf = 3.0;
constexpr double kVectorsOfNorm = 2.0;
// Bytes a channel, in tensors of 2 bytes. A gain, a bias or a gate of an image is read once for all
// of its positions, by the kernels of the norm and of the residual sum; backward the gate needs
// what it gated, and has a gradient of it written.
constexpr double kGateBackward = 4.0;
constexpr double kPlacing = 6.0;           ///< two terms read, their sum written
constexpr double kMlpActivation = 4.0;     ///< read and written
constexpr double kSquaredError = 4.0;      ///< two terms read
constexpr double kSquaredErrorBack = 6.0;  ///< both again, and the gradient written

/// What every layer has in common with a decoder's, in its words.
TransformerModel shape_of(const DiffusionTransformer& fields) {
  return {.hidden = fields.hidden,
          .attention_heads = fields.attention_heads,
          .kv_heads = fields.attention_heads,
          .head_size = fields.hidden / fields.attention_heads,
          .ffn_hidden = fields.ffn_hidden,
          .position_encoding = fields.position_encoding,
          .sequence_length = fields.positions()};
}

/// Shares of the positions.
double images(const DiffusionTransformer& fields) {
  return real(fields.patches()) / real(fields.positions());
}
double texts(const DiffusionTransformer& fields) {
  return real(fields.text_length) / real(fields.positions());
}
/// What there is one of for each image.
double vectors(const DiffusionTransformer& fields) { return 1.0 / real(fields.positions()); }

void add_head_norms(Layer& layer, const DiffusionTransformer& fields) {
  constexpr double kBoth = 2.0;
  add_query_key_norms(
      layer, Normalization::rms_norm,
      {Part::normalization, kBoth * real(fields.hidden / fields.attention_heads), Cut::none, kBoth},
      kBoth * real(fields.hidden));
}

/// A layer, or its half with attention, whose norms have no weights of their own.
Layer unmodulated(const DiffusionTransformer& fields, LayerVariant variant) {
  Layer layer = transformer_layer(shape_of(fields), variant);
  layer.attention->causal = false;
  std::erase_if(layer.weights,
                [](const Weights& weights) { return weights.part == Part::normalization; });
  if (fields.query_key_norm) add_head_norms(layer, fields);
  return layer;
}

void add_gates(Layer& layer, double halves, double h) {
  layer.passes.push_back({.name = "gates",
                          .rows = Rows::own,
                          .backward = kGateBackward * halves * h,
                          .operators = Operators::merged});
  add_modulation_operators(layer, halves * h);
  layer.kept.push_back({.name = "gated results", .rows = Rows::own, .elements = halves * h});
}

/// So many vectors of an image, by a product of one.
void add_modulation(Layer& layer, const DiffusionTransformer& fields, double count) {
  const double h = real(fields.hidden);
  layer.products.push_back({.name = "modulation",
                            .rows_each = vectors(fields),
                            .outputs = count * h,
                            .inputs = h,
                            .bias = true});
  layer.kept.push_back(
      {.name = "modulation input", .elements = vectors(fields) * h, .for_weights = true});
  layer.kept.push_back({.name = "modulations", .elements = vectors(fields) * count * h});
}

/// The rows of one stream, and what modulates them.
Layer stream(Layer layer, const DiffusionTransformer& fields, double share, double halves) {
  add_gates(layer, halves, real(fields.hidden));
  Layer part = with_rows(std::move(layer), share);
  add_modulation(part, fields, halves * kVectorsOfHalf);
  return part;
}

/// Text that nothing behind asks for gives keys and values to the image: attention is its last.
Layer ending_text(const DiffusionTransformer& fields) {
  Layer layer = unmodulated(fields, {.feeds = false});
  std::erase_if(layer.products,
                [](const Product& product) { return product.target == AdapterTarget::projection; });
  layer.exchanges.clear();
  Layer part = with_rows(std::move(layer), texts(fields));
  add_modulation(part, fields, kVectorsOfNorm);
  return part;
}

template <class List>
void append(List& list, const List& more) {
  list.insert(list.end(), more.begin(), more.end());
}

/// Image and text with weights of their own, each of which attends to both.
Layer double_layer(const DiffusionTransformer& fields, bool text_ends) {
  constexpr double kHalves = 2.0;
  const Layer whole = unmodulated(fields, {});
  Layer layer = stream(whole, fields, images(fields), kHalves);
  const Layer text =
      text_ends ? ending_text(fields) : stream(whole, fields, texts(fields), kHalves);
  append(layer.products, text.products);
  append(layer.passes, text.passes);
  append(layer.weights, text.weights);
  append(layer.kept, text.kept);
  append(layer.exchanges, text.exchanges);
  // Scores are those of all pairs.
  std::erase_if(layer.kept, [](const KeptTensor& tensor) { return tensor.attended; });
  std::ranges::copy_if(whole.kept, std::back_inserter(layer.kept), &KeptTensor::attended);
  layer.attention = whole.attention;
  layer.name = "layer of two streams";
  layer.launches = {layer.launches.forward + text.launches.forward,
                    layer.launches.backward + text.launches.backward};
  layer.input = layer.output = real(fields.hidden);
  return layer;
}

/// One norm for attention and MLP, whose results one product takes.
Layer single_layer(const DiffusionTransformer& fields) {
  const double h = real(fields.hidden);
  const double inner = real(fields.ffn_hidden);
  Layer layer = unmodulated(fields, {.feeds = false});
  layer.name = "layer of one stream";
  std::ranges::find(layer.products, AdapterTarget::projection, &Product::target)->inputs += inner;
  layer.products.push_back({.name = "fc1",
                            .part = Part::mlp,
                            .outputs = inner,
                            .inputs = h,
                            .split = Split::outputs,
                            .bias = true,
                            .gathered = true,
                            .target = AdapterTarget::fc1,
                            .again = {{P::mlp}, {P::alternate, kHalfAgain}}});
  add_pass(layer, "activation", Rows::tokens, kMlpActivation * inner, Cut::tensor,
           {{P::activation}, {P::mlp}, {P::alternate}});
  layer.passes.back().operators = Operators::merged;
  add_activation_operators(layer, shape_of(fields), inner);
  layer.kept.push_back({.name = "activation input",
                        .elements = inner,
                        .cut = Cut::tensor,
                        .stored = Stored::activation_input,
                        .again = {{P::mlp}, {P::alternate, kHalfAgain}}});
  layer.kept.push_back({.name = "projection input of the MLP",
                        .elements = inner,
                        .cut = Cut::tensor,
                        .stored = Stored::quantised,
                        .for_weights = true,
                        .target = AdapterTarget::projection,
                        .again = {{P::activation}, {P::mlp}, {P::alternate}}});
  add_gates(layer, 1.0, h);
  add_modulation(layer, fields, kVectorsOfHalf);
  return layer;
}

/// Two products with an activation between them, of a vector of an image.
void add_embedder(Layer& layer, const DiffusionTransformer& fields, const std::string& name,
                  double inputs) {
  const double h = real(fields.hidden);
  const double rows = vectors(fields);
  layer.products.push_back({.name = name + "_1",
                            .rows_each = rows,
                            .outputs = h,
                            .inputs = inputs,
                            .bias = true,
                            .input_gradient = false});
  layer.products.push_back(
      {.name = name + "_2", .rows_each = rows, .outputs = h, .inputs = h, .bias = true});
  layer.kept.push_back(
      {.name = name + " embedder, inputs and activation", .elements = rows * (inputs + 2.0 * h)});
}

void add_embedders(Layer& layer, const DiffusionTransformer& fields) {
  add_embedder(layer, fields, "time", kFrequencies);
  if (fields.guidance) add_embedder(layer, fields, "guidance", kFrequencies);
  if (fields.has_text()) {
    add_embedder(layer, fields, "pooled_text", real(fields.pooled_width));
  } else {
    // A row of no class besides.
    layer.weights.push_back({Part::embedding, real((fields.classes + 1) * fields.hidden)});
  }
}

/// Nothing in front of it is trained.
void add_entry(Layer& layer, std::string name, double rows, double inputs, double outputs) {
  layer.kept.push_back({.name = name, .elements = rows * inputs, .for_weights = true});
  layer.products.push_back({.name = std::move(name),
                            .rows_each = rows,
                            .outputs = outputs,
                            .inputs = inputs,
                            .bias = true,
                            .input_gradient = false});
}

Layer entry(const DiffusionTransformer& fields) {
  const double h = real(fields.hidden);
  Layer layer{.name = "patches and conditions"};
  add_entry(layer, "patches", images(fields),
            real(fields.channels * fields.patch_size * fields.patch_size), h);
  if (fields.has_text()) add_entry(layer, "text", texts(fields), real(fields.text_width), h);
  if (fields.position_encoding == PositionEncoding::none) {
    layer.passes.push_back({.name = "positions", .forward = kPlacing * images(fields) * h});
  }
  if (!fields.embedders_in_layers) add_embedders(layer, fields);
  return layer;
}

/// The noise of each patch, and what it is off by.
Layer noise_head(const DiffusionTransformer& fields) {
  const double h = real(fields.hidden);
  const double rows = images(fields);
  const double outputs = real(fields.output_channels * fields.patch_size * fields.patch_size);
  Layer head{.name = "head"};
  add_modulation(head, fields, kVectorsOfNorm);
  head.products.push_back({.name = "noise",
                           .part = Part::head,
                           .rows_each = rows,
                           .outputs = outputs,
                           .inputs = h,
                           .bias = true});
  head.passes.push_back({.name = "squared_error",
                         .forward = kSquaredError * rows * outputs,
                         .backward = kSquaredErrorBack * rows * outputs});
  head.kept.push_back({.name = "final norm input",
                       .rows = Rows::own,
                       .elements = rows * h,
                       .stored = Stored::residual});
  head.kept.push_back({.name = "noise input", .elements = rows * h, .for_weights = true});
  return head;
}

}  // namespace

Model layers_of(const DiffusionTransformer& fields) {
  // The vector that modulates is handed on with the positions.
  const double handed = real(fields.hidden) * (1.0 + vectors(fields));
  Model model{.name = fields.name,
              .source = fields.source,
              .first = entry(fields),
              .last = noise_head(fields),
              .has_tokens = false,
              .sequence_length = fields.positions(),
              .tensor_limits = tensor_limits(shape_of(fields))};
  const auto add = [&](Layer layer, std::int64_t count) {
    layer.input = layer.output = handed;
    if (fields.embedders_in_layers) add_embedders(layer, fields);
    append_layers(model, std::move(layer), static_cast<int>(count));
  };
  model.first.output = model.last.input = handed;
  if (!fields.has_text()) {
    add(stream(unmodulated(fields, {}), fields, 1.0, 2.0), fields.layers);
    model.left_out.emplace_back(
        "images come as their autoencoder gives them: what that takes is not counted");
    return model;
  }
  const bool text_ends = fields.single_layers == 0;
  if (fields.layers > 1 || !text_ends) {
    add(double_layer(fields, false), fields.layers - (text_ends ? 1 : 0));
  }
  if (text_ends) add(double_layer(fields, true), 1);
  if (!text_ends) add(single_layer(fields), fields.single_layers);
  model.left_out.emplace_back(
      "images and texts come as their frozen encoders give them: what these take is not counted");
  return model;
}

}  // namespace headway
