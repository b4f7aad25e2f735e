#pragma once

#include <cstdint>
#include <string>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"

namespace headway {

/// An encoder of image patches with a token for the class (Dosovitskiy et al. 2020,
/// arXiv:2010.11929), and maybe one that learns from a teacher (Touvron et al. 2020,
/// arXiv:2012.12877).
struct VisionTransformerModel {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t ffn_hidden = 1;
  bool gated_mlp = false;
  bool layer_scale = false;       ///< a gain a channel for what attention and the MLP give
  std::int64_t patch_size = 16;   ///< pixels a side
  std::int64_t image_size = 224;  ///< pixels a side
  std::int64_t classes = 1000;
  bool distilled = false;      ///< a token more, whose head learns from a teacher
  bool pools_patches = false;  ///< the head takes their mean besides the class token

  [[nodiscard]] std::int64_t patches() const {
    return (image_size / patch_size) * (image_size / patch_size);
  }
  [[nodiscard]] std::int64_t class_tokens() const { return distilled ? 2 : 1; }
  [[nodiscard]] std::int64_t tokens() const { return patches() + class_tokens(); }
};

/// Tokens are the patches, the class and what learns from a teacher; a sequence is an image. Layers
/// are those of a GPT without dropout whose attention sees both ways; heads take the tokens of
/// classes only.
[[nodiscard]] Model layers_of(const VisionTransformerModel& fields);

[[nodiscard]] const FieldTable<VisionTransformerModel>& vision_fields();

}  // namespace headway
