#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/output/calibration.h"
#include "sim/costs/profile.h"

namespace headway {

/// What the fits of a device say, for the provenance: "gemm: 60 shapes, ...".
struct DeviceFindings {
  DeviceCosts costs;
  KernelFamily family;
  std::optional<ExpertCosts> experts;  ///< what was measured of them; the rest has no source
  std::vector<std::string> residuals;
  std::vector<std::string> held_out;
  std::vector<std::string> ranges;
};

/// Throws EnvironmentError without a measured product.
[[nodiscard]] DeviceFindings device_findings(const Calibration& calibration);

}  // namespace headway
