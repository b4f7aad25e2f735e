#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/vision_tower.h"

namespace headway {
namespace {

constexpr std::string_view kVision = "vision_config";
constexpr Range kSides = between(1, 100'000);
/// What is taken of images that may have any size: 448 x 448 pixels in patches of 14.
constexpr std::int64_t kUsualPatches = 1024;

/// What the parts of a configuration say: the whole, and what sees.
struct VisionReading {
  ObjectReader& whole;
  ObjectReader& vision;
  std::int64_t width;  ///< of the decoder's residual stream
};

/// A side in pixels, which some write for both sides, as a list.
std::int64_t side_of(ObjectReader& vision, std::string_view key, std::int64_t fallback) {
  const std::optional<JsonCursor> sides = given(vision.cursor(), key);
  if (sides && sides->is_array() && !sides->value().empty()) {
    const nlohmann::json& first = sides->value().front();
    if (first.is_number_integer() && first >= kSides.least && first <= kSides.most) {
      return first.get<std::int64_t>();
    }
  }
  return given_count(vision, key, kSides, fallback);
}

/// What a configuration leaves out is what the class of its encoder has.
struct EncoderClass {
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t ffn_hidden;
  std::int64_t image_size;
  std::int64_t patch_size;
};
constexpr EncoderClass kSiglip = {12, 768, 12, 3072, 224, 16};
constexpr EncoderClass kIdefics3 = {12, 1152, 16, 3072, 224, 32};
constexpr EncoderClass kInternVit = {24, 1024, 16, 4096, 448, 14};

/// Named as most are, and patches of images of one size. `by_default`: what may be left out.
VisionTower read_usual(ObjectReader& vision, const EncoderClass* by_default = nullptr) {
  const auto count = [&](std::string_view key, Range range, std::int64_t EncoderClass::*value) {
    return by_default ? given_count(vision, key, range, by_default->*value)
                      : vision.integer(key, range);
  };
  const auto side = [&](std::string_view key, std::int64_t EncoderClass::*value) {
    return by_default ? side_of(vision, key, by_default->*value) : vision.integer(key, kSides);
  };
  VisionTower tower{
      .layers = count("num_hidden_layers", model_limits::kLayers, &EncoderClass::layers),
      .hidden = count("hidden_size", model_limits::kHidden, &EncoderClass::hidden),
      .attention_heads = count("num_attention_heads", model_limits::kHeads, &EncoderClass::heads),
      .ffn_hidden = count("intermediate_size", model_limits::kFfnHidden, &EncoderClass::ffn_hidden),
      .patch_size = side("patch_size", &EncoderClass::patch_size)};
  const std::int64_t across =
      side("image_size", &EncoderClass::image_size) / std::max<std::int64_t>(1, tower.patch_size);
  tower.patches = std::max<std::int64_t>(1, across * across);
  return tower;
}

/// CLIP's encoder, whose class takes a row of the table; two products behind it.
VisionTower read_llava(const VisionReading& reading) {
  VisionTower tower = read_usual(reading.vision);
  tower.position_rows = tower.patches + 1;
  tower.projector = {reading.width};
  return tower;
}

/// SigLIP's encoder; the mean of some patches is a place, one product behind it.
VisionTower read_gemma3(const VisionReading& reading) {
  VisionTower tower = read_usual(reading.vision);
  constexpr std::int64_t kUsualPlaces = 256;
  const std::int64_t places =
      given_count(reading.whole, "mm_tokens_per_image", kSides, kUsualPlaces);
  tower.position_rows = tower.patches;
  tower.patches_per_token = std::max<std::int64_t>(1, tower.patches / places);
  tower.pooled = true;
  return tower;
}

/// SigLIP's encoder, a table of its patches; one product behind it.
VisionTower read_paligemma(const VisionReading& reading) {
  VisionTower tower = read_usual(reading.vision, &kSiglip);
  tower.position_rows = tower.patches;
  return tower;
}

/// The same, and two products.
VisionTower read_llava_onevision(const VisionReading& reading) {
  VisionTower tower = read_paligemma(reading);
  tower.projector = {reading.width};
  return tower;
}

/// SigLIP's encoder; squares of patches side by side, one product without a bias.
VisionTower read_idefics3(const VisionReading& reading) {
  VisionTower tower = read_usual(reading.vision, &kIdefics3);
  tower.position_rows = tower.patches;
  const std::int64_t side = given_count(reading.whole, "scale_factor", between(1, 100), 2);
  tower.patches_per_token = side * side;
  tower.projector_biases = false;
  return tower;
}

/// How many patches stand side by side where both sides shrink by a ratio.
std::int64_t shuffled(ObjectReader& reader, std::string_view key) {
  const double ratio = reader.number(key, between(0.01, 1), 0.5);
  return std::llround(1.0 / (ratio * ratio));
}

/// A class in front of the patches, squares of patches side by side, two products. Biases of
/// queries, keys and values have to be named, gains of the layers are always there.
VisionTower read_internvl(const VisionReading& reading) {
  VisionTower tower = read_usual(reading.vision, &kInternVit);
  const std::optional<JsonCursor> norm = given(reading.vision.cursor(), "norm_type");
  if (norm && norm->value() == "rms_norm") tower.normalization = Normalization::rms_norm;
  tower.position_rows = tower.patches + 1;
  tower.qkv_biases = given_flag(reading.vision, "attention_bias", false);
  tower.query_key_norms = given_flag(reading.vision, "use_qk_norm", false);
  tower.layer_scale = true;
  tower.patches_per_token = shuffled(reading.whole, "downsample_ratio");
  tower.projector = {reading.width};
  return tower;
}

/// A patch takes the place of its neighbours too, then two products and the decoder's.
VisionTower read_llama4(const VisionReading& reading) {
  VisionTower tower = read_usual(reading.vision);
  tower.patches_per_token = shuffled(reading.vision, "pixel_shuffle_ratio");
  tower.position_rows = tower.patches + 1;
  tower.projector = {reading.vision.integer("projector_input_dim", model_limits::kHidden),
                     reading.vision.integer("projector_output_dim", model_limits::kHidden)};
  return tower;
}

/// Squares of patches are merged by one product.
std::int64_t merged(ObjectReader& reader) {
  const std::int64_t side = given_count(reader, "spatial_merge_size", between(1, 100), 2);
  return side * side;
}

/// Pixtral's encoder: layers of Llama's shape.
VisionTower read_mistral3(const VisionReading& reading) {
  VisionTower tower = read_usual(reading.vision);
  tower.gated_mlp = true;
  tower.biases = false;
  tower.projector_biases = false;
  tower.normalization = Normalization::rms_norm;
  tower.patches = kUsualPatches;
  tower.patches_per_token = merged(reading.whole);
  tower.projector = {tower.hidden, reading.width};
  return tower;
}

/// Films in pairs of frames, images of any size, squares of patches side by side through an MLP of
/// their size.
VisionTower read_qwen(const VisionReading& reading, std::string_view hidden) {
  ObjectReader& vision = reading.vision;
  VisionTower tower{.layers = vision.integer("depth", model_limits::kLayers),
                    .hidden = vision.integer(hidden, model_limits::kHidden),
                    .attention_heads = vision.integer("num_heads", model_limits::kHeads),
                    .patch_size = vision.integer("patch_size", kSides),
                    .frames = given_count(vision, "temporal_patch_size", between(1, 1'000), 2),
                    .patches = kUsualPatches,
                    .patches_per_token = merged(vision)};
  tower.projector = {tower.patches_per_token * tower.hidden};
  return tower;
}

VisionTower read_qwen2(const VisionReading& reading) {
  VisionTower tower = read_qwen(reading, "embed_dim");
  const double ratio = reading.vision.number("mlp_ratio", between(0.01, 1000), 4.0);
  tower.ffn_hidden = std::llround(ratio * static_cast<double>(tower.hidden));
  return tower;
}

/// Windows of pixels in all layers but a few at an even distance.
VisionTower read_qwen25(const VisionReading& reading) {
  VisionTower tower = read_qwen(reading, "hidden_size");
  ObjectReader& vision = reading.vision;
  tower.ffn_hidden = vision.integer("intermediate_size", model_limits::kFfnHidden);
  tower.gated_mlp = true;
  tower.normalization = Normalization::rms_norm;
  const std::int64_t side = vision.integer("window_size", kSides) / tower.patch_size;
  const auto full = vision.cursor().member("fullatt_block_indexes");
  if (side < 1 || !full || !full->is_array() || full->value().empty()) return tower;
  tower.window = side * side;
  const auto count = static_cast<std::int64_t>(full->value().size());
  if (count < tower.layers) tower.full_attention_interval = tower.layers / count;
  return tower;
}

VisionTower read_qwen3(const VisionReading& reading) {
  VisionTower tower = read_qwen(reading, "hidden_size");
  ObjectReader& vision = reading.vision;
  tower.ffn_hidden = vision.integer("intermediate_size", model_limits::kFfnHidden);
  tower.position_rows = given_count(vision, "num_position_embeddings", between(1, 1'000'000), 2304);
  const auto between_layers = vision.cursor().member("deepstack_visual_indexes");
  if (between_layers && between_layers->is_array()) {
    tower.projectors += static_cast<std::int64_t>(between_layers->value().size());
  }
  return tower;
}

struct VisionFamily {
  std::string_view model_type;  ///< of the whole
  VisionTower (*read)(const VisionReading& reading);
  bool any_size = false;  ///< images of any size
};
constexpr std::array kVisionFamilies = {VisionFamily{"llava", read_llava},
                                        VisionFamily{"llava_next", read_llava},
                                        VisionFamily{"llava_onevision", read_llava_onevision},
                                        VisionFamily{"paligemma", read_paligemma},
                                        VisionFamily{"idefics3", read_idefics3},
                                        VisionFamily{"smolvlm", read_idefics3},
                                        VisionFamily{"internvl", read_internvl},
                                        VisionFamily{"gemma3", read_gemma3},
                                        VisionFamily{"llama4", read_llama4},
                                        VisionFamily{"mistral3", read_mistral3, true},
                                        VisionFamily{"qwen2_vl", read_qwen2, true},
                                        VisionFamily{"qwen2_5_vl", read_qwen25, true},
                                        VisionFamily{"qwen3_vl", read_qwen3, true},
                                        VisionFamily{"qwen3_vl_moe", read_qwen3, true}};

void warn(const JsonCursor& part, std::string what, std::string help, Diagnostics& diagnostics) {
  Diagnostic warning = part.key_problem(std::move(what), std::move(help));
  warning.severity = Severity::warning;
  diagnostics.add(std::move(warning));
}

/// What a configuration does not say and nobody said beside it.
void warn_of_images(const JsonCursor& part, const VisionFamily& family, const SeenImages& images,
                    Diagnostics& diagnostics) {
  if (!images.share) {
    warn(part, "half of all positions are taken to be of images",
         "a configuration does not say: give \"images\": {\"share\": 0.3} beside "
         "\"huggingface\"",
         diagnostics);
  }
  if (family.any_size && !images.patches) {
    warn(part, "images are taken to have 1,024 patches",
         "those of 448 x 448 pixels have in patches of 14: give \"images\": {\"patches\": 4096} "
         "beside \"huggingface\"",
         diagnostics);
  }
}

/// Patches, of an image or a window, that have to be so many whole times.
void check_counts(ObjectReader& vision, const VisionFamily& family, const VisionTower& tower) {
  const std::int64_t each = tower.patches_per_token;
  if (tower.window > 0 && tower.patches % tower.window != 0) {
    vision.report("window_size", "an image is made of whole windows",
                  fmt::format("{} patches, {} in a window", tower.patches, tower.window));
  }
  if (tower.patches % each == 0) return;
  const std::string label = fmt::format("{} patches, {} in a place", tower.patches, each);
  constexpr std::string_view kWholePlaces = "places among the words stand for patches each";
  if (family.any_size) {
    vision.report("spatial_merge_size", std::string(kWholePlaces), label,
                  fmt::format(R"(give "images": {{"patches": {}}} beside "huggingface", say)",
                              (tower.patches / each + 1) * each));
    return;
  }
  std::int64_t side = std::llround(std::sqrt(static_cast<double>(tower.patches)));
  while (side * side % each != 0) ++side;
  vision.report("image_size", std::string(kWholePlaces), label,
                fmt::format("use an image_size of {}", side * tower.patch_size));
}

}  // namespace

std::optional<VisionTower> read_vision_config(const JsonCursor& whole, std::int64_t width,
                                              const SeenImages& images, Diagnostics& diagnostics) {
  const std::optional<JsonCursor> part = given(whole, kVision);
  if (!part || !part->is_object()) return std::nullopt;
  const std::string alone = "the decoder alone is counted, and every position as a token";
  const std::string unread = "\"vision_config\" is not read";
  const std::optional<JsonCursor> type = given(whole, "model_type");
  const auto family = std::ranges::find_if(kVisionFamilies, [&](const VisionFamily& known) {
    return type && type->value() == known.model_type;
  });
  if (family == kVisionFamilies.end()) {
    warn(*part, unread, alone, diagnostics);
    return std::nullopt;
  }
  Diagnostics own;
  ObjectReader outer(whole, own);
  ObjectReader vision(*part, own);
  VisionTower tower = family->read({.whole = outer, .vision = vision, .width = width});
  if (!own.has_errors()) check_heads(tower.hidden, tower.attention_heads, vision);
  if (own.has_errors()) {
    warn(*part, unread, fmt::format("{}: {}", alone, own.all().front().message), diagnostics);
    return std::nullopt;
  }
  warn_of_images(*part, *family, images, diagnostics);
  if (!images.patches) {
    check_counts(vision, *family, tower);
    diagnostics.append(own);
    if (own.has_errors()) return std::nullopt;
  }
  tower.image_share = images.share.value_or(tower.image_share);
  tower.patches = images.patches.value_or(tower.patches);
  return tower;
}

}  // namespace headway
