#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/layers/kernel_shape.h"

namespace headway {

/// What a device's compute capability says of it.
struct Architecture {
  std::vector<Precision> precisions;
  /// Dense operations a clock and multiprocessor; empty for one that is not known here.
  std::map<Precision, double> flops_per_clock;
  bool has_block_scales = false;  ///< of products in fp8; fp4 has nothing else
};
/// The architecture that code is compiled for: "sm_90", "gfx942".
[[nodiscard]] Architecture architecture(const std::string& target);

/// What topologies call a device: "h100-sxm" for "NVIDIA H100 80GB HBM3", else its name in lower
/// case without maker and family, blanks as hyphens.
[[nodiscard]] std::string accelerator_name(const std::string& device_name);

}  // namespace headway
