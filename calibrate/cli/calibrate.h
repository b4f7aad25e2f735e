#pragma once

#include <optional>
#include <string>

#include "calibrate/block/transformer_block.h"
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
  std::string input;  ///< standard input, as far as it was read: ranks that are started read it too
};

/// A transformer block to be trained when everything else is measured.
struct BlockTrial {
  BlockDevice& device;
  BlockShape shape;
};

inline constexpr const char* kTool = "headway-calibrate " HEADWAY_VERSION;

/// Measures all that the backend offers and writes the results (rank 0), anew after each section,
/// so that whatever ends the process leaves what was measured. Returns the exit code: 0, or 3 or
/// 130 if it ended early, having said on standard error what is missing.
[[nodiscard]] int calibrate(const Job& job, const PlanRules& rules, Backend& backend,
                            Rendezvous& rendezvous,
                            const std::optional<BlockTrial>& block = std::nullopt);

}  // namespace headway
