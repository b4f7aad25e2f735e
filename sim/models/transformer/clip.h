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

  /// Patches of an image, and what stands for all of it.
  [[nodiscard]] std::int64_t tokens() const {
    return (image_size / patch_size) * (image_size / patch_size) + 1;
  }
};

/// A sample is an image with its text, of as many rows as the image has tokens; layers of the
/// images' half, then those of the texts', whose words wait beside the others.
[[nodiscard]] Model layers_of(const ClipModel& fields);

[[nodiscard]] const FieldTable<ClipModel>& clip_fields();

/// Reports heads that do not divide their half's channels.
void check_clip(ObjectReader& images, ObjectReader& texts, const ClipModel& fields);

}  // namespace headway
