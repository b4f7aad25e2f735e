#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"

namespace headway {

/// A convolutional network in stages whose blocks are a filter of each channel by itself and an MLP
/// of each position (Liu et al. 2022, arXiv:2201.03545, section 2).
struct ConvNextModel {
  std::string name = {};
  std::string source = {};
  std::vector<std::int64_t> depths = {3, 3, 9, 3};         ///< blocks of each stage
  std::vector<std::int64_t> widths = {96, 192, 384, 768};  ///< channels of each
  bool layer_scale = true;  ///< a gain a channel for what a block gives
  /// Channels of an MLP are normed by how strong each is over the image (Woo et al. 2023,
  /// arXiv:2301.00808, section 3).
  bool response_norms = false;
  std::int64_t patch_size = 4;    ///< pixels a side
  std::int64_t image_size = 224;  ///< pixels a side
  std::int64_t classes = 1000;

  /// Positions a side of a stage, one at least.
  [[nodiscard]] std::int64_t side(std::size_t stage) const;
};

/// Every block is a layer, and between stages what halves the sides. Blocks that are skipped at
/// random (stochastic depth) are counted as if they were not.
[[nodiscard]] Model layers_of(const ConvNextModel& fields);

[[nodiscard]] const FieldTable<ConvNextModel>& convnext_fields();

/// Reports stages that do not go together, under what they are called where they were read, and
/// makes them so that reading can go on.
void check_convnext(ObjectReader& reader, std::string_view widths_key, ConvNextModel& fields);

}  // namespace headway
