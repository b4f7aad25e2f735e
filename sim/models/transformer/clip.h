#pragma once

#include <cstdint>
#include <string>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"

namespace headway {

/// An encoder of images and one of texts, which learn which text belongs to which image (Radford et
/// al. 2021, arXiv:2103.00020, section 2.4): a vision transformer with a norm in front, and a
/// decoder's layers, whose last word stands for its text.
struct ClipModel {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 1;  ///< of the images' half, as what follows
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t ffn_hidden = 1;
  std::int64_t patch_size = 32;   ///< pixels a side
  std::int64_t image_size = 224;  ///< pixels a side
  std::int64_t text_layers = 12;
  std::int64_t text_hidden = 512;
  std::int64_t text_heads = 8;
  std::int64_t text_ffn_hidden = 2048;
  std::int64_t vocabulary = 49'408;
  std::int64_t text_positions = 77;     ///< rows of a learned table, and words of a text
  std::int64_t projection_width = 512;  ///< where both are compared
  /// SigLIP (Zhai et al. 2023, arXiv:2303.15343): patches are pooled by attention instead of having
  /// a token for the image among them, have no norm in front, and are compared as they are pooled;
  /// words see both ways.
  bool attention_pooling = false;

  [[nodiscard]] std::int64_t patches() const {
    return (image_size / patch_size) * (image_size / patch_size);
  }
  /// Patches of an image, and what stands for all of it.
  [[nodiscard]] std::int64_t tokens() const { return patches() + (attention_pooling ? 0 : 1); }
};

/// A sample is an image with its text, of as many rows as the image has tokens; layers of the
/// images' half, then those of the texts', whose words wait beside the others.
[[nodiscard]] Model layers_of(const ClipModel& fields);

[[nodiscard]] const FieldTable<ClipModel>& clip_fields();

/// Reports heads that do not divide their half's channels, images smaller than a patch, and of
/// patches that are pooled a projection of another width than theirs.
void check_clip(ObjectReader& images, ObjectReader& texts, ClipModel& fields);

}  // namespace headway
