#pragma once

#include "calibrate/cli/options.h"
#include "calibrate/output/measurements.h"

namespace headway {

/// Writes what was measured where --points says.
void write_points(const Options& options, const Measurements& all);
/// Writes the profile that is made of it to --output, or to standard output, and returns it.
CalibratedProfile write_profile(const Options& options, const Measurements& all);

/// Says on standard error how far it can be trusted, what is missing and what was written.
void report_results(const Options& options, const Calibration& calibration,
                    const CalibratedProfile& profile);

}  // namespace headway
