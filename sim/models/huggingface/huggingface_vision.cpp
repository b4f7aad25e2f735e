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

/// Named as most are, and patches of images of one size.
VisionTower read_usual(ObjectReader& vision) {
  VisionTower tower{.layers = vision.integer("num_hidden_layers", model_limits::kLayers),
                    .hidden = vision.integer("hidden_size", model_limits::kHidden),
                    .attention_heads = vision.integer("num_attention_heads", model_limits::kHeads),
                    .ffn_hidden = vision.integer("intermediate_size", model_limits::kFfnHidden),
                    .patch_size = vision.integer("patch_size", kSides)};
  const std::int64_t side = vision.integer("image_size", kSides) / tower.patch_size;
  tower.patches = std::max<std::int64_t>(1, side * side);
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

/// A patch takes the place of its neighbours too, then two products and the decoder's.
VisionTower read_llama4(const VisionReading& reading) {
  VisionTower tower = read_usual(reading.vision);
  const double ratio = reading.vision.number("pixel_shuffle_ratio", between(0.01, 1), 0.5);
  tower.patches_per_token = std::llround(1.0 / (ratio * ratio));
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
  tower.image_share = images.share.value_or(tower.image_share);
  tower.patches = images.patches.value_or(tower.patches);
  return tower;
}

}  // namespace headway
