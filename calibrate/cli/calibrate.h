#pragma once

#include <string>

#include "calibrate/cli/options.h"
#include "calibrate/suite/backend.h"
#include "calibrate/suite/plan.h"
#include "calibrate/suite/rendezvous.h"

namespace headway {

/// What a calibration is made of besides the machine.
struct Job {
  Options options;
  std::string command_line;
  std::string created_utc;
};

/// Measures all that the backend offers and writes the profile (rank 0), anew after each section,
/// so that whatever ends the process leaves what was measured. Returns the exit code: 0, or 3 or
/// 130 if it ended early, having said on standard error what is missing.
[[nodiscard]] int calibrate(const Job& job, const PlanRules& rules, Backend& backend,
                            Rendezvous& rendezvous);

}  // namespace headway
