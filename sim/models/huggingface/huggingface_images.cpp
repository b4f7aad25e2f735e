#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/models/convnext.h"
#include "sim/models/huggingface/encoder_families.h"
#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/resnet.h"
#include "sim/models/transformer/clip.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/swin.h"
#include "sim/models/transformer/vision_transformer.h"

namespace headway {
namespace {

/// Classes are those that it has labels for.
std::int64_t read_classes(ObjectReader& reader, std::int64_t fallback) {
  const auto labels = given(reader.cursor(), "id2label");
  if (!labels || !labels->is_object()) return fallback;
  return std::max<std::int64_t>(1, std::ssize(labels->value()));
}

void refuse_other_colours(ObjectReader& reader) {
  constexpr std::int64_t kColours = 3;
  if (given_count(reader, "num_channels", between(1, 1000), kColours) == kColours) return;
  reader.report("num_channels", "images are in other than three colours", "",
                "only those of three are read");
}

/// Pixels at the edge that fill no patch are left out, as the library's convolution does.
template <class Fields>
void read_patches(ObjectReader& reader, Fields& model) {
  model.patch_size = given_count(reader, "patch_size", between(1, 10'000), model.patch_size);
  model.image_size = given_count(reader, "image_size", between(8, 100'000), model.image_size);
  if (model.image_size < model.patch_size) {
    reader.report("image_size", "an image has one patch at least",
                  fmt::format("{}, in patches of {}", model.image_size, model.patch_size));
    model.patch_size = model.image_size;
  }
  model.image_size -= model.image_size % model.patch_size;
  refuse_other_colours(reader);
}

EncoderModel read_vit(ObjectReader& reader) {
  auto model = read_sizes<VisionTransformerModel>(reader);
  read_patches(reader, model);
  model.classes = read_classes(reader, model.classes);
  return encoder_of("vit", layers_of(model), vision_fields().written(model));
}

/// Trained with a teacher where the architecture says so. Otherwise the token that learns from one
/// is there and learns nothing: it is not counted, two thousandths of a percent.
EncoderModel read_deit(ObjectReader& reader) {
  auto model = read_sizes<VisionTransformerModel>(reader);
  read_patches(reader, model);
  model.classes = read_classes(reader, model.classes);
  model.distilled = is_of_architecture(reader, "DeiTForImageClassificationWithTeacher");
  return encoder_of("vit", layers_of(model), vision_fields().written(model));
}

/// Inner size of an MLP: a multiple of the hidden size, of a gated one two thirds of it in whole
/// eights.
std::int64_t read_mlp_ratio(ObjectReader& reader, const VisionTransformerModel& model) {
  double ratio = 4.0;
  if (given(reader.cursor(), "mlp_ratio")) {
    ratio = reader.number("mlp_ratio", between(0.001, 1000.0));
  }
  const auto inner = static_cast<std::int64_t>(ratio * static_cast<double>(model.hidden));
  if (!model.gated_mlp) return std::max(inner, std::int64_t{1});
  constexpr std::int64_t kEight = 8;
  return std::max((2 * inner / 3 + kEight - 1) / kEight * kEight, kEight);
}

/// DINOv2 with a head for classes, of two where no labels are named, which is the library's
/// default. Not counted is the token of hidden patches, which classes do not need.
EncoderModel read_dinov2(ObjectReader& reader) {
  VisionTransformerModel model;
  model.layers = reader.integer("num_hidden_layers", model_limits::kLayers);
  model.hidden = reader.integer("hidden_size", model_limits::kHidden);
  model.attention_heads = reader.integer("num_attention_heads", model_limits::kHeads);
  check_heads(model.hidden, model.attention_heads, reader);
  model.gated_mlp = given_flag(reader, "use_swiglu_ffn", false);
  model.ffn_hidden = read_mlp_ratio(reader, model);
  read_patches(reader, model);
  constexpr std::int64_t kTwo = 2;
  model.classes = read_classes(reader, kTwo);
  model.layer_scale = model.pools_patches = true;
  return encoder_of("vit", layers_of(model), vision_fields().written(model));
}

/// What a configuration says of one half; the library's class says what it leaves out.
JsonCursor half_of(ObjectReader& reader, std::string_view key) {
  const std::optional<JsonCursor> part = given(reader.cursor(), key);
  return part && part->is_object() ? *part : reader.cursor();
}

/// Images and texts in an object each. `model` has what the library's classes have where they leave
/// it out.
void read_image_and_text(ObjectReader& images, ObjectReader& texts, ClipModel& model) {
  const auto of_half = [](ObjectReader& half, std::int64_t& layers, std::int64_t& hidden,
                          std::int64_t& heads, std::int64_t& ffn_hidden) {
    layers = given_count(half, "num_hidden_layers", model_limits::kLayers, layers);
    hidden = given_count(half, "hidden_size", model_limits::kHidden, hidden);
    heads = given_count(half, "num_attention_heads", model_limits::kHeads, heads);
    ffn_hidden = given_count(half, "intermediate_size", model_limits::kFfnHidden, ffn_hidden);
  };
  of_half(texts, model.text_layers, model.text_hidden, model.text_heads, model.text_ffn_hidden);
  of_half(images, model.layers, model.hidden, model.attention_heads, model.ffn_hidden);
  model.vocabulary = given_count(texts, "vocab_size", model_limits::kVocabulary, model.vocabulary);
  model.text_positions = given_count(texts, "max_position_embeddings",
                                     model_limits::kSequenceLength, model.text_positions);
  read_patches(images, model);
}

ClipModel usual_halves() {
  ClipModel model;
  model.layers = model.attention_heads = 12;
  model.hidden = 768;
  model.ffn_hidden = 3072;
  return model;
}

EncoderModel read_clip_config(ObjectReader& reader) {
  ClipModel model = usual_halves();
  ObjectReader texts(half_of(reader, "text_config"), reader.diagnostics());
  ObjectReader images(half_of(reader, "vision_config"), reader.diagnostics());
  read_image_and_text(images, texts, model);
  check_clip(images, texts, model);
  model.projection_width =
      given_count(reader, "projection_dim", model_limits::kHidden, model.projection_width);
  for (ObjectReader* const half : {&texts, &images}) {
    // Says the same again.
    static_cast<void>(given_count(*half, "projection_dim", model_limits::kHidden, 1));
    warn_of_unread_fields(*half);
  }
  return encoder_of("clip", layers_of(model), clip_fields().written(model));
}

/// A head that takes the mean of the patches, or none, is for towers of others.
void refuse_other_pooling(ObjectReader& images) {
  if (given_flag(images, "vision_use_head", true)) return;
  images.report("vision_use_head", "nothing attends to the patches", "",
                "read are models that pool them so");
}

/// Both halves are as wide; the product of texts makes them as wide as images, if it is said.
EncoderModel read_siglip(ObjectReader& reader) {
  if (is_of_architecture(reader, "SiglipForImageClassification")) {
    reader.report("architectures", "a model of images has no half of texts", "",
                  R"(give what stands in "vision_config", as a "siglip_vision_model")");
  }
  ClipModel model = usual_halves();
  model.attention_pooling = true;
  model.patch_size = 16;
  model.text_hidden = 768;
  model.text_heads = 12;
  model.text_ffn_hidden = 3072;
  model.text_positions = 64;
  model.vocabulary = 32'000;
  ObjectReader texts(half_of(reader, "text_config"), reader.diagnostics());
  ObjectReader images(half_of(reader, "vision_config"), reader.diagnostics());
  read_image_and_text(images, texts, model);
  model.projection_width =
      given_count(texts, "projection_size", model_limits::kHidden, model.text_hidden);
  refuse_other_pooling(images);
  check_clip(images, texts, model);
  for (ObjectReader* const half : {&texts, &images}) {
    // Of older versions, that say it and do not use it.
    static_cast<void>(given_count(*half, "projection_dim", model_limits::kHidden, 1));
    warn_of_unread_fields(*half);
  }
  return encoder_of("clip", layers_of(model), clip_fields().written(model));
}

/// The tower alone, with the head that pools its patches, and classes behind that: two where no
/// labels are named.
EncoderModel read_siglip_vision(ObjectReader& reader) {
  VisionTransformerModel model;
  const ClipModel usual = usual_halves();
  model.layers = given_count(reader, "num_hidden_layers", model_limits::kLayers, usual.layers);
  model.hidden = given_count(reader, "hidden_size", model_limits::kHidden, usual.hidden);
  model.attention_heads =
      given_count(reader, "num_attention_heads", model_limits::kHeads, usual.attention_heads);
  model.ffn_hidden =
      given_count(reader, "intermediate_size", model_limits::kFfnHidden, usual.ffn_hidden);
  model.attention_pooling = true;
  refuse_other_pooling(reader);
  read_patches(reader, model);
  check_heads(model.hidden, model.attention_heads, reader);
  constexpr std::int64_t kTwo = 2;
  model.classes = read_classes(reader, kTwo);
  static_cast<void>(given_count(reader, "projection_dim", model_limits::kHidden, 1));
  return encoder_of("vit", layers_of(model), vision_fields().written(model));
}

/// Heads have to double with each stage, as channels do.
void check_stage_heads(ObjectReader& reader, SwinModel& model) {
  constexpr std::string_view kHeads = "num_heads";
  if (!given(reader.cursor(), kHeads)) return;
  const auto heads = reader.integers(kHeads, between(1, 10'000), true);
  if (!heads || heads->empty()) return;
  model.attention_heads = heads->front();
  std::vector<std::int64_t> expected;
  for (std::size_t stage = 0; stage < model.depths.size(); ++stage) {
    expected.push_back(model.attention_heads << std::min<std::size_t>(stage, 8));
  }
  if (*heads == expected) return;
  reader.report(kHeads, "heads do not double with each stage",
                fmt::format("expected {}", nlohmann::json(expected).dump()),
                "read are models whose heads do, one number for each stage");
}

/// Defaults are those of Swin-T, which are the library's.
EncoderModel read_swin_config(ObjectReader& reader) {
  SwinModel model;
  constexpr std::string_view kDepths = "depths";
  if (given(reader.cursor(), kDepths)) {
    model.depths = reader.integers(kDepths, between(1, 1000), true).value_or(model.depths);
  }
  model.hidden = given_count(reader, "embed_dim", between(1, 100'000), model.hidden);
  check_stage_heads(reader, model);
  check_swin(reader, kDepths, model);
  model.mlp_ratio = given_count(reader, "mlp_ratio", between(1, 1000), model.mlp_ratio);
  model.patch_size = given_count(reader, "patch_size", between(1, 10'000), model.patch_size);
  model.window_size = given_count(reader, "window_size", between(1, 10'000), model.window_size);
  model.image_size = given_count(reader, "image_size", between(8, 100'000), model.image_size);
  refuse_other_colours(reader);
  // Say the same again.
  static_cast<void>(given_count(reader, "hidden_size", model_limits::kHidden, 1));
  static_cast<void>(given_count(reader, "num_layers", model_limits::kLayers, 1));
  model.classes = read_classes(reader, model.classes);
  if (given_flag(reader, "use_absolute_embeddings", false)) {
    reader.report("use_absolute_embeddings", "patches have positions as well", "",
                  "read are models that tell distances alone");
  }
  return encoder_of("swin", layers_of(model), swin_fields().written(model));
}

/// Widths of stages say again what follows from the first: each has twice that of the one before.
void check_stage_widths(ObjectReader& reader, const ResNetModel& model) {
  constexpr std::string_view kWidths = "hidden_sizes";
  const std::optional<JsonCursor> widths = given(reader.cursor(), kWidths);
  if (!widths) return;
  std::vector<std::int64_t> expected;
  for (std::size_t stage = 0; stage < model.blocks.size(); ++stage) {
    expected.push_back((model.bottleneck ? 4 : 1) * model.width << stage);
  }
  if (widths->value() == nlohmann::json(expected)) return;
  reader.report(kWidths, "the stages are not as wide as those of a ResNet",
                fmt::format("expected {}", nlohmann::json(expected).dump()),
                "of another network, list the layers (`headway explain model.layers`)");
}

EncoderModel read_resnet_config(ObjectReader& reader) {
  ResNetModel model;
  model.width = given_count(reader, "embedding_size", between(1, 100'000), model.width);
  constexpr std::string_view kDepths = "depths";
  if (given(reader.cursor(), kDepths)) {
    model.blocks = reader.integers(kDepths, between(1, 1000), true).value_or(model.blocks);
  }
  check_blocks(reader, kDepths, model);
  constexpr Word<bool> kBlocks[] = {{"bottleneck", true}, {"basic", false}};
  if (given(reader.cursor(), "layer_type")) {
    model.bottleneck = reader.choice("layer_type", Words<bool>(kBlocks));
  }
  model.classes = read_classes(reader, model.classes);
  refuse_other_colours(reader);
  check_stage_widths(reader, model);
  for (const char* elsewhere : {"downsample_in_first_stage", "downsample_in_bottleneck"}) {
    if (!given_flag(reader, elsewhere, false)) continue;
    reader.report(elsewhere, "stages halve the image in their first 3 x 3 convolution", "",
                  "read are networks that do, and whose first stage leaves it as it is");
  }
  return encoder_of("resnet", layers_of(model), resnet_fields().written(model));
}

/// As the library's classes have it where nothing is said: a ConvNeXt-T.
EncoderModel read_convnext_shape(ObjectReader& reader, ConvNextModel model) {
  const auto list = [&](std::string_view key, Range range, std::vector<std::int64_t>& sizes) {
    if (given(reader.cursor(), key)) sizes = reader.integers(key, range, true).value_or(sizes);
  };
  list("depths", between(1, 1000), model.depths);
  list("hidden_sizes", between(1, 100'000), model.widths);
  // Says the same again.
  static_cast<void>(given_count(reader, "num_stages", between(1, 1000), 1));
  read_patches(reader, model);
  model.classes = read_classes(reader, model.classes);
  check_convnext(reader, "hidden_sizes", model);
  return encoder_of("convnext", layers_of(model), convnext_fields().written(model));
}

/// Without gains where they would begin at nothing.
EncoderModel read_convnext_config(ObjectReader& reader) {
  ConvNextModel model;
  if (given(reader.cursor(), "layer_scale_init_value")) {
    constexpr double kMost = 1e6;
    model.layer_scale = reader.number("layer_scale_init_value", between(-kMost, kMost)) > 0.0;
  }
  return read_convnext_shape(reader, std::move(model));
}

EncoderModel read_convnextv2(ObjectReader& reader) {
  ConvNextModel model;
  model.layer_scale = false;
  model.response_norms = true;
  return read_convnext_shape(reader, std::move(model));
}

constexpr std::array kImageFamilies = {
    EncoderFamily{"vit", "ViTForImageClassification", read_vit},
    EncoderFamily{"deit", "DeiTForImageClassificationWithTeacher", read_deit},
    EncoderFamily{"dinov2", "Dinov2ForImageClassification", read_dinov2},
    EncoderFamily{"swin", "SwinForImageClassification", read_swin_config},
    EncoderFamily{"clip", "CLIPModel", read_clip_config},
    EncoderFamily{"siglip", "SiglipModel", read_siglip},
    EncoderFamily{"siglip_vision_model", "SiglipVisionModel", read_siglip_vision},
    EncoderFamily{"resnet", "ResNetForImageClassification", read_resnet_config},
    EncoderFamily{"convnext", "ConvNextForImageClassification", read_convnext_config},
    EncoderFamily{"convnextv2", "ConvNextV2ForImageClassification", read_convnextv2},
};

}  // namespace

std::span<const EncoderFamily> image_families() { return kImageFamilies; }

}  // namespace headway
