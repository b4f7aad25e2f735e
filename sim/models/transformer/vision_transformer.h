#pragma once

#include <cstdint>
#include <string>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"

namespace headway {

/// An encoder of image patches with a token for the class (Dosovitskiy et al. 2020,
/// arXiv:2010.11929).
struct VisionTransformerModel {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t ffn_hidden = 1;
  std::int64_t patch_size = 16;   ///< pixels a side
  std::int64_t image_size = 224;  ///< pixels a side
  std::int64_t classes = 1000;

  [[nodiscard]] std::int64_t patches() const {
    return (image_size / patch_size) * (image_size / patch_size);
  }
};

/// Tokens are the patches and the class; a sequence is an image. Layers are those of a GPT without
/// dropout whose attention sees both ways; the head takes the class token only.
[[nodiscard]] Model layers_of(const VisionTransformerModel& fields);

[[nodiscard]] const FieldTable<VisionTransformerModel>& vision_fields();

}  // namespace headway
