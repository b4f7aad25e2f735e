#pragma once

#include <string>

#include "calibrate/output/build_profile.h"

namespace headway {

/// A calibration with all that a profile of it needs besides.
struct Measurements {
  std::string name;  ///< the profile's
  std::string command;
  std::string created_utc;
  std::string tool;
  std::string backend;
  std::string seed;
  std::string refitted = {};  ///< when, and by which command; empty: by the one that measured
  /// Its offer is the backend's own, to which a fit adds what is published at its time.
  Calibration calibration = {};
};

/// The fits, completed by the published profile of the same accelerator, with all provenance.
/// Throws what built_profile throws.
[[nodiscard]] CalibratedProfile fitted_profile(Measurements all);

/// The text of a "headway/measurements/1" file: what was measured, an element of a list a line,
/// numbers so that they are read back exactly.
[[nodiscard]] std::string measurements_json(const Measurements& all);

/// Reads it back. Throws InputError with every problem found.
[[nodiscard]] Measurements read_measurements(const std::string& path);

}  // namespace headway
