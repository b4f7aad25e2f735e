#include "sim/models/transformer/vision_transformer.h"

#include <fmt/format.h>

#include <utility>

#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

constexpr double kPatchColours = 3.0;
constexpr double kPositionForward = 6.0;  ///< bytes a channel: two terms read, their sum written
constexpr double kPositionBackward = 6.0;

/// What a layer has in common with a decoder's, in its words.
TransformerModel patch_encoder(const VisionTransformerModel& fields) {
  return {.layers = fields.layers,
          .hidden = fields.hidden,
          .attention_heads = fields.attention_heads,
          .kv_heads = fields.attention_heads,
          .head_size = fields.hidden / fields.attention_heads,
          .ffn_hidden = fields.ffn_hidden,
          .position_encoding = PositionEncoding::none,
          .sequence_length = fields.patches() + 1};
}

Layer patch_embedding(const VisionTransformerModel& fields) {
  const double h = real(fields.hidden);
  const double tokens = real(fields.patches() + 1);
  Layer embedding{.name = "patch embedding", .output = h};
  embedding.products.push_back(
      {.name = "patches",
       .part = Part::embedding,
       .rows_each = real(fields.patches()) / tokens,
       .outputs = h,
       .inputs = kPatchColours * real(fields.patch_size * fields.patch_size),
       .bias = true,
       .input_gradient = false});
  embedding.weights.push_back({Part::positions, (tokens + 1.0) * h});  // and the class token
  embedding.passes.push_back({.name = "position_embedding",
                              .forward = kPositionForward * h,
                              .backward = kPositionBackward * h});
  return embedding;
}

Layer class_head(const VisionTransformerModel& fields, const TransformerModel& shared) {
  const double h = real(fields.hidden);
  const double one = 1.0 / real(fields.patches() + 1);  ///< of an image's tokens
  Layer head{.name = "head", .input = h};
  head.products.push_back({.name = "classes",
                           .part = Part::head,
                           .rows_each = one,
                           .outputs = real(fields.classes),
                           .inputs = h,
                           .bias = true});
  head.weights.push_back(norm_weights(shared));
  head.loss_classes = one * real(fields.classes);
  head.passes.push_back(cross_entropy_pass(head.loss_classes));
  head.kept = {
      {.name = "final norm input", .rows = Rows::own, .elements = h, .stored = Stored::residual},
      {.name = "class token", .elements = one * h}};
  return head;
}

}  // namespace

Model layers_of(const VisionTransformerModel& fields) {
  const TransformerModel shared = patch_encoder(fields);
  Model model{.name = fields.name,
              .source = fields.source,
              .first = patch_embedding(fields),
              .last = class_head(fields, shared),
              .has_tokens = false,
              .sequence_length = fields.patches() + 1,
              .tensor_limits = tensor_limits(shared)};
  Layer encoder = transformer_layer(shared);
  encoder.attention->causal = false;
  append_layers(model, std::move(encoder), static_cast<int>(fields.layers));
  return model;
}

const FieldTable<VisionTransformerModel>& vision_fields() {
  using Vision = VisionTransformerModel;
  static const FieldTable<Vision> kFields(
      {{"layers", whole(&Vision::layers, model_limits::kLayers).required(), "Encoder layers."},
       {"hidden", whole(&Vision::hidden, model_limits::kHidden).required(),
        "Size of the residual stream."},
       {"attention_heads", whole(&Vision::attention_heads, model_limits::kHeads).required(),
        "Attention heads.\nlimits: divide hidden"},
       {"ffn_hidden",
        whole(&Vision::ffn_hidden, model_limits::kFfnHidden).settled([](Vision& model) {
          model.ffn_hidden = 4 * model.hidden;
        }),
        "Inner size of the MLP.\ndefault: 4 hidden"},
       {"patch_size", whole(&Vision::patch_size, between(1, 10'000)),
        R"(Pixels of a side of a patch, of which a vision transformer makes a token.
limits: divides image_size
see: Dosovitskiy et al. 2020 (arXiv:2010.11929))"},
       {"image_size", whole(&Vision::image_size, between(8, 100'000)),
        "Pixels of a side of an image."},
       {"classes", whole(&Vision::classes, between(1, 100'000'000)),
        "Classes that a network tells apart."}});
  return kFields;
}

namespace {

Model read_vision_transformer(ObjectReader& reader) {
  VisionTransformerModel fields = read_family_fields(reader, vision_fields(), "vision transformer");
  check_heads(fields.hidden, fields.attention_heads, reader);
  if (fields.image_size % fields.patch_size != 0) {
    reader.report("patch_size", "patch_size must divide image_size",
                  fmt::format("{} does not divide {}", fields.patch_size, fields.image_size),
                  fmt::format("use an image_size of {}",
                              (fields.image_size / fields.patch_size + 1) * fields.patch_size));
    fields.patch_size = fields.image_size;
  }
  return layers_of(fields);
}

}  // namespace

ModelFamily vision_transformer() {
  return {.name = "vit",
          .what = "an encoder of image patches",
          .read = read_vision_transformer,
          .fields = [] { return vision_fields().described(); }};
}

}  // namespace headway
