#include "sim/models/transformer/clip.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"
#include "sim/models/transformer/vision_transformer.h"

namespace headway {
namespace {

constexpr double kClipPosition = 6.0;  ///< bytes a channel: two terms read, their sum written
constexpr double kClipNorm = 4.0;      ///< read and written

/// What both halves have in common with a decoder's layers, in its words.
TransformerModel image_half(const ClipModel& fields) {
  return {.layers = fields.layers,
          .hidden = fields.hidden,
          .attention_heads = fields.attention_heads,
          .kv_heads = fields.attention_heads,
          .head_size = fields.hidden / fields.attention_heads,
          .ffn_hidden = fields.ffn_hidden,
          .position_encoding = PositionEncoding::none,
          .sequence_length = fields.tokens()};
}
TransformerModel text_half(const ClipModel& fields) {
  return {.layers = fields.text_layers,
          .hidden = fields.text_hidden,
          .attention_heads = fields.text_heads,
          .kv_heads = fields.text_heads,
          .head_size = fields.text_hidden / fields.text_heads,
          .ffn_hidden = fields.text_ffn_hidden,
          .vocabulary = fields.vocabulary,
          .position_encoding = PositionEncoding::learned,
          .dropout = false,
          .sequence_length = fields.text_positions};
}

/// Words of a text for each token of its image.
double words_each(const ClipModel& fields) {
  return real(fields.text_positions) / real(fields.tokens());
}

/// Words enter with the patches.
Layer patches_and_words(const ClipModel& fields) {
  const double h = real(fields.hidden);
  const double tokens = real(fields.tokens());
  Layer first = with_rows(embedding_layer(text_half(fields)), words_each(fields));
  first.name = "patches and words";
  first.output += h;
  Product patches = patch_product(h, fields.patch_size * fields.patch_size);
  patches.rows_each = real(fields.patches()) / tokens;
  patches.bias = fields.attention_pooling;
  add_patches(first, std::move(patches));
  const double learned = fields.attention_pooling ? 0.0 : 1.0;  // the token of the image
  first.weights.push_back({Part::positions, (tokens + learned) * h});
  first.passes.push_back(
      {.name = "patch_positions", .forward = kClipPosition * h, .backward = kClipPosition * h});
  if (fields.attention_pooling) return first;
  first.weights.push_back(norm_weights(image_half(fields)));
  add_pass(first, "norm in front", Rows::tokens, kClipNorm * h, Cut::none, {});
  first.kept.push_back({.name = "norm in front input", .elements = h, .stored = Stored::residual});
  return first;
}

/// A norm and a product without a bias of what stands for the image and of the last word; how
/// sharply both are told apart is one number. What is pooled of an image is compared as it is, with
/// a product with biases of the last word, and where a pair begins is a number too.
Layer comparison(const ClipModel& fields) {
  const double one = 1.0 / real(fields.tokens());
  const double words = words_each(fields);
  const double h = real(fields.hidden);
  const double text = real(fields.text_hidden);
  Layer head{.name = "head", .input = one * h + words * text};
  const bool is_pooled = fields.attention_pooling;
  const auto add = [&](std::string name, double inputs) {
    head.products.push_back({.name = std::move(name),
                             .part = Part::head,
                             .rows_each = one,
                             .outputs = real(fields.projection_width),
                             .inputs = inputs,
                             .bias = is_pooled});
  };
  if (!is_pooled) add("image projection", h);
  add("text projection", text);
  if (!is_pooled) head.weights.push_back(norm_weights(image_half(fields)));
  head.weights.push_back(norm_weights(text_half(fields)));
  head.weights.push_back({Part::head, is_pooled ? 2.0 : 1.0});
  const double of_image = is_pooled ? 0.0 : one * h;
  head.kept = {
      {.name = "final norm input", .elements = of_image + words * text, .stored = Stored::residual},
      {.name = "projection inputs", .elements = of_image + one * text, .for_weights = true},
      {.name = "image and text", .elements = 2.0 * one * real(fields.projection_width)}};
  return head;
}

}  // namespace

Model layers_of(const ClipModel& fields) {
  const TransformerModel images = image_half(fields);
  const TransformerModel texts = text_half(fields);
  const double waiting = words_each(fields) * real(fields.text_hidden);
  Model model{.name = fields.name,
              .source = fields.source,
              .first = patches_and_words(fields),
              .last = comparison(fields),
              .has_tokens = false,
              .sequence_length = fields.tokens(),
              .tensor_limits = tensor_limits(images)};
  model.tensor_limits.push_back(
      {"text_heads", "the attention heads of the texts' half", fields.text_heads});
  model.tensor_limits.push_back(
      {"text_hidden", "the hidden size of the texts' half", fields.text_hidden});
  model.tensor_limits.push_back(
      {"text_ffn_hidden", "the hidden size of the texts' MLP", fields.text_ffn_hidden});
  Layer of_image = transformer_layer(images);
  of_image.name = "image layer";
  of_image.attention->causal = false;
  of_image.input += waiting;
  of_image.output += waiting;
  append_layers(model, std::move(of_image), static_cast<int>(fields.layers));
  if (fields.attention_pooling) {
    Layer pooling = pooling_layer(images, fields.tokens());
    pooling.input += waiting;
    pooling.output += waiting;
    append_layers(model, std::move(pooling));
  }
  Layer of_text = with_rows(transformer_layer(texts), words_each(fields));
  of_text.name = "text layer";
  if (fields.attention_pooling) of_text.attention->causal = false;
  const double pooled = real(fields.hidden) / real(fields.tokens());
  of_text.input += pooled;
  of_text.output += pooled;
  append_layers(model, std::move(of_text), static_cast<int>(fields.text_layers));
  model.left_out.emplace_back(
      "images are compared with the texts of all ranks: gathering these and the products of each "
      "with each are not counted");
  return model;
}

const FieldTable<ClipModel>& clip_fields() {
  using Clip = ClipModel;
  static const FieldTable<Clip> kFields(
      {{"layers", whole(&Clip::layers, model_limits::kLayers).required(),
        "Encoder layers of images."},
       {"hidden", whole(&Clip::hidden, model_limits::kHidden).required(),
        "Size of the residual stream of images."},
       {"attention_heads", whole(&Clip::attention_heads, model_limits::kHeads).required(),
        "Attention heads of images.\nlimits: divide hidden"},
       {"ffn_hidden", whole(&Clip::ffn_hidden, model_limits::kFfnHidden).settled([](Clip& model) {
          model.ffn_hidden = 4 * model.hidden;
        }),
        "Inner size of the MLP.\ndefault: 4 hidden"},
       {"patch_size", whole(&Clip::patch_size, between(1, 10'000)), "Pixels of a side of a patch."},
       {"image_size", whole(&Clip::image_size, between(8, 100'000)),
        "Pixels of a side of an image."},
       {"text_layers", whole(&Clip::text_layers, model_limits::kLayers),
        R"(Layers of a CLIP's half of texts.
see: Radford et al. 2021 (arXiv:2103.00020), 2.4)"},
       {"text_hidden", whole(&Clip::text_hidden, model_limits::kHidden),
        "Size of the residual stream of a CLIP's texts."},
       {"text_heads", whole(&Clip::text_heads, model_limits::kHeads),
        "Attention heads of a CLIP's texts.\nlimits: divide text_hidden"},
       {"text_ffn_hidden",
        whole(&Clip::text_ffn_hidden, model_limits::kFfnHidden).settled([](Clip& model) {
          model.text_ffn_hidden = 4 * model.text_hidden;
        }),
        "Inner size of the MLP of a CLIP's texts.\ndefault: 4 text_hidden"},
       {"vocabulary", whole(&Clip::vocabulary, model_limits::kVocabulary),
        "Rows of the table of words."},
       {"text_positions", whole(&Clip::text_positions, model_limits::kSequenceLength),
        "Words of a CLIP's text, and rows of their learned table of positions."},
       {"projection_width", whole(&Clip::projection_width, model_limits::kHidden),
        "Size of what a CLIP makes of an image and of a text, which are compared."},
       {"attention_pooling", flag(&Clip::attention_pooling).where([](const Clip& model) {
          return model.attention_pooling;
        }),
        R"(What stands for an image attends to its patches behind the layers, with an MLP of its own (SigLIP),
instead of being a token among them. Of a CLIP words see both ways then, and images have no
projection.
see: Zhai et al. 2023 (arXiv:2303.15343), 4
limits: of a CLIP projection_width is hidden)"}});
  return kFields;
}

void check_clip(ObjectReader& images, ObjectReader& texts, ClipModel& fields) {
  check_heads(fields.hidden, fields.attention_heads, images);
  if (fields.image_size < fields.patch_size) {
    images.report("image_size", "an image has one patch at least",
                  fmt::format("{}, in patches of {}", fields.image_size, fields.patch_size));
    fields.patch_size = fields.image_size;
  }
  if (fields.attention_pooling && fields.projection_width != fields.hidden) {
    texts.report("projection_width", "texts are compared with images as those are pooled",
                 fmt::format("{}, where an image has {}", fields.projection_width, fields.hidden));
  }
  if (fields.text_hidden % fields.text_heads == 0) return;
  texts.report("text_heads", "text_heads must divide text_hidden",
               fmt::format("{} does not divide {}", fields.text_heads, fields.text_hidden));
}

namespace {

Model read_clip(ObjectReader& reader) {
  ClipModel fields = read_family_fields(reader, clip_fields(), "images and texts");
  check_clip(reader, reader, fields);
  return layers_of(fields);
}

}  // namespace

ModelFamily clip() {
  return {.name = "clip",
          .what = "an encoder of images and one of texts, which are compared",
          .read = read_clip,
          .fields = [] { return clip_fields().described(); }};
}

}  // namespace headway
