#pragma once

#include <cstdint>
#include <string>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"
#include "sim/models/transformer/transformer.h"

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
  /// The head takes what attends to the patches behind the layers; no token stands for the class.
  bool attention_pooling = false;

  [[nodiscard]] std::int64_t patches() const {
    return (image_size / patch_size) * (image_size / patch_size);
  }
  /// Heads, and tokens that these take.
  [[nodiscard]] std::int64_t heads() const { return distilled ? 2 : 1; }
  [[nodiscard]] std::int64_t class_tokens() const { return attention_pooling ? 0 : heads(); }
  [[nodiscard]] std::int64_t tokens() const { return patches() + class_tokens(); }
};

/// Tokens are the patches, the class and what learns from a teacher; a sequence is an image. Layers
/// are those of a GPT without dropout whose attention sees both ways; heads take the tokens of
/// classes only.
[[nodiscard]] Model layers_of(const VisionTransformerModel& fields);

[[nodiscard]] const FieldTable<VisionTransformerModel>& vision_fields();

/// Reports sizes that are each right and do not go together.
void check_patches(ObjectReader& reader, VisionTransformerModel& fields);

/// A gain for each channel of what both halves of a layer give, which are kept for its gradient.
void add_layer_scale(Layer& layer, double channels);

/// What stands for an image attends to its normed patches, and has a norm and an MLP of its own
/// (SigLIP: Zhai et al. 2023, arXiv:2303.15343, section 4; Lee et al. 2018, arXiv:1810.00825,
/// section 3.2). It is learned, and the same for all images.
[[nodiscard]] Layer pooling_layer(const TransformerModel& patches, std::int64_t tokens);

}  // namespace headway
