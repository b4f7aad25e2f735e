#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"

namespace headway {

/// An encoder of image patches in stages (Liu et al. 2021, arXiv:2103.14030): patches attend to
/// those of their window, which moves by half its size in every second layer, with a learned term
/// for each distance; between two stages four patches become one of twice the channels.
struct SwinModel {
  std::string name = {};
  std::string source = {};
  std::vector<std::int64_t> depths = {2, 2, 6, 2};  ///< layers of each stage
  std::int64_t hidden = 96;                         ///< of the first stage; doubles with each
  std::int64_t attention_heads = 3;                 ///< likewise
  std::int64_t mlp_ratio = 4;
  std::int64_t patch_size = 4;    ///< pixels a side
  std::int64_t window_size = 7;   ///< patches a side
  std::int64_t image_size = 224;  ///< pixels a side
  std::int64_t classes = 1000;
};

/// A sequence is an image, of as many rows as the first stage has patches. Each merging of patches
/// is a layer. Where a window does not divide a stage, what pads it is not counted.
[[nodiscard]] Model layers_of(const SwinModel& fields);

[[nodiscard]] const FieldTable<SwinModel>& swin_fields();

/// Reports fields that are each right and do not go together, and mends them.
void check_swin(ObjectReader& reader, std::string_view depths_key, SwinModel& fields);

}  // namespace headway
