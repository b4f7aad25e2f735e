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

constexpr double kPositionForward = 6.0;  ///< bytes a channel: two terms read, their sum written
constexpr double kPositionBackward = 6.0;
constexpr double kScaleBytes = 4.0;  ///< read and written
constexpr double kHalvesOfLayer = 2.0;
constexpr double kMeanBytes = 2.0;  ///< patches are read; their gradient is written

/// What a layer has in common with a decoder's, in its words.
TransformerModel patch_encoder(const VisionTransformerModel& fields) {
  return {.layers = fields.layers,
          .hidden = fields.hidden,
          .attention_heads = fields.attention_heads,
          .kv_heads = fields.attention_heads,
          .head_size = fields.hidden / fields.attention_heads,
          .ffn_hidden = fields.ffn_hidden,
          .gated_mlp = fields.gated_mlp,
          .position_encoding = PositionEncoding::none,
          .sequence_length = fields.tokens()};
}

Layer patch_embedding(const VisionTransformerModel& fields) {
  const double h = real(fields.hidden);
  const double tokens = real(fields.tokens());
  Layer embedding{.name = "patch embedding", .output = h};
  Product patches = patch_product(h, fields.patch_size * fields.patch_size);
  patches.part = Part::embedding;
  patches.rows_each = real(fields.patches()) / tokens;
  patches.bias = true;
  add_patches(embedding, std::move(patches));
  const double learned = real(fields.class_tokens());
  embedding.weights.push_back({Part::positions, (tokens + learned) * h});
  embedding.passes.push_back({.name = "position_embedding",
                              .forward = kPositionForward * h,
                              .backward = kPositionBackward * h});
  return embedding;
}

Layer class_head(const VisionTransformerModel& fields, const TransformerModel& shared) {
  const double h = real(fields.hidden);
  const double one = 1.0 / real(fields.tokens());  ///< of an image's tokens
  const double inputs = (fields.pools_patches ? 2.0 : 1.0) * h;
  const double heads = real(fields.heads());
  Layer head{.name = "head", .input = fields.attention_pooling ? one * h : h};
  const auto add = [&](std::string name) {
    head.products.push_back({.name = std::move(name),
                             .part = Part::head,
                             .rows_each = one,
                             .outputs = real(fields.classes),
                             .inputs = inputs,
                             .bias = true});
  };
  add("classes");
  if (fields.distilled) add("taught classes");
  head.loss_classes = heads * one * real(fields.classes);
  head.passes.push_back(cross_entropy_pass(head.loss_classes));
  if (fields.pools_patches) {
    head.passes.push_back(
        {.name = "patch_mean", .forward = kMeanBytes * h, .backward = kMeanBytes * h});
  }
  head.kept = {{.name = "class token", .elements = heads * one * inputs}};
  if (fields.attention_pooling) return head;
  head.weights.push_back(norm_weights(shared));
  head.kept.push_back(
      {.name = "final norm input", .rows = Rows::own, .elements = h, .stored = Stored::residual});
  return head;
}

}  // namespace

void add_layer_scale(Layer& layer, double h) {
  layer.weights.push_back(
      {.part = Part::normalization, .count = kHalvesOfLayer * h, .tensors = kHalvesOfLayer});
  add_pass(layer, "layer_scale", Rows::own, kHalvesOfLayer * kScaleBytes * h, Cut::none, {});
  layer.kept.push_back(
      {.name = "layer scale input", .rows = Rows::own, .elements = kHalvesOfLayer * h});
}

Layer pooling_layer(const TransformerModel& patches, std::int64_t tokens) {
  const double h = real(patches.hidden);
  // Its first norm stands in front of the patches, not of what attends to them.
  Layer pooling =
      with_rows(transformer_layer(patches, {.crossed = real(tokens)}), 1.0 / real(tokens));
  pooling.name = "pooling layer";
  pooling.input = h;
  pooling.weights.push_back({Part::positions, h});
  add_pass(pooling, "patch_norm", Rows::own, kReadAndWritten * h, Cut::none, {});
  pooling.kept.push_back(
      {.name = "patch norm input", .rows = Rows::own, .elements = h, .stored = Stored::residual});
  pooling.kept.push_back({.name = "pooled patches", .elements = h, .for_weights = true});
  return pooling;
}

Model layers_of(const VisionTransformerModel& fields) {
  const TransformerModel shared = patch_encoder(fields);
  Model model{.name = fields.name,
              .source = fields.source,
              .first = patch_embedding(fields),
              .last = class_head(fields, shared),
              .has_tokens = false,
              .sequence_length = fields.tokens(),
              .tensor_limits = tensor_limits(shared)};
  Layer encoder = transformer_layer(shared);
  encoder.attention->causal = false;
  if (fields.layer_scale) add_layer_scale(encoder, real(fields.hidden));
  append_layers(model, std::move(encoder), static_cast<int>(fields.layers));
  if (fields.attention_pooling) append_layers(model, pooling_layer(shared, fields.tokens()));
  if (fields.distilled) {
    model.left_out.emplace_back(
        "a teacher says of every image what it takes it for: what that takes is not counted");
  }
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
       {"mlp",
        word(&Vision::gated_mlp, kMlps).where([](const Vision& model) { return model.gated_mlp; }),
        "Of a vision transformer plain by default."},
       {"layer_scale",
        flag(&Vision::layer_scale).where([](const Vision& model) { return model.layer_scale; }),
        R"(What attention and the MLP of a vision transformer give has a gain for each channel.
see: Touvron et al. 2021 (arXiv:2103.17239), 2)"},
       {"patch_size", whole(&Vision::patch_size, between(1, 10'000)),
        R"(Pixels of a side of a patch, of which a vision transformer makes a token.
limits: divides image_size
see: Dosovitskiy et al. 2020 (arXiv:2010.11929))"},
       {"image_size", whole(&Vision::image_size, between(8, 100'000)),
        "Pixels of a side of an image."},
       {"classes", whole(&Vision::classes, between(1, 100'000'000)),
        "Classes that a network tells apart."},
       {"distilled",
        flag(&Vision::distilled).where([](const Vision& model) { return model.distilled; }),
        R"(A vision transformer has a second token beside that of the class, whose head learns what a teacher
says. The teacher is not counted.
see: Touvron et al. 2020 (arXiv:2012.12877), 4)"},
       {"pools_patches",
        flag(&Vision::pools_patches).where([](const Vision& model) { return model.pools_patches; }),
        "The head of a vision transformer takes the mean of the patches besides the token of the "
        "class."},
       {"attention_pooling", flag(&Vision::attention_pooling).where([](const Vision& model) {
          return model.attention_pooling;
        }),
        R"(What stands for an image attends to its patches behind the layers, with an MLP of its own (SigLIP),
instead of being a token among them. Of a CLIP words see both ways then, and images have no
projection.
see: Zhai et al. 2023 (arXiv:2303.15343), 4
limits: of a CLIP projection_width is hidden; not with distilled or pools_patches)"}});
  return kFields;
}

void check_patches(ObjectReader& reader, VisionTransformerModel& fields) {
  check_heads(fields.hidden, fields.attention_heads, reader);
  if (fields.attention_pooling && (fields.distilled || fields.pools_patches)) {
    const char* const other = fields.distilled ? "distilled" : "pools_patches";
    reader.report("attention_pooling", fmt::format("attention_pooling and {} are two heads", other),
                  "what attends to all patches is all that the head takes",
                  "leave one of them out");
  }
  if (fields.image_size % fields.patch_size == 0) return;
  reader.report("patch_size", "patch_size must divide image_size",
                fmt::format("{} does not divide {}", fields.patch_size, fields.image_size),
                fmt::format("use an image_size of {}",
                            (fields.image_size / fields.patch_size + 1) * fields.patch_size));
  fields.patch_size = fields.image_size;
}

namespace {

Model read_vision_transformer(ObjectReader& reader) {
  VisionTransformerModel fields = read_family_fields(reader, vision_fields(), "vision transformer");
  check_patches(reader, fields);
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
