#pragma once

#include <map>
#include <string>

#include "calibrate/output/calibration.h"
#include "sim/costs/profile.h"

namespace headway {

/// A profile and the texts of its provenance by name.
struct CalibratedProfile {
  Profile profile;
  std::map<std::string, std::string> provenance;
};

/// What a calibration says about the costs of this machine. Fields that no measurement speaks for
/// are derived from ones that do, or assumed, and say so in their source with a large spread.
/// Throws EnvironmentError if no product was measured: there is nothing to derive from.
[[nodiscard]] CalibratedProfile built_profile(const Calibration& calibration,
                                              const std::string& name);

}  // namespace headway
