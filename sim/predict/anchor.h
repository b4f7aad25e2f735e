#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sim/base/units.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What one measured step says about the software that ran it.
struct AnchorFit {
  /// On the times of compute, recomputation, optimizer and host; 1 if the prediction was right.
  double software_factor = 1.0;
  Seconds predicted;  ///< what was predicted for the measured job without knowing
};

/// The factor with which the scenario's iteration takes as long as was measured. The network and
/// the shape of the pipeline stay as they are. Solved by regula falsi on the simulated time, which
/// grows with the factor. Throws InputError if the job cannot be as fast as that: the network alone
/// takes longer, or kernels would have to beat the peak; and if it waits for its samples, so that
/// the time tells nothing of software; `place` is the time's, as anchor_place
/// says.
[[nodiscard]] AnchorFit fit_anchor(const Scenario& scenario, Seconds measured, int jobs,
                                   const std::string& place = {});

/// Where the time of an anchor stands in the scenario's file; empty where the file has none.
[[nodiscard]] std::string anchor_place(const Scenario& scenario, std::size_t number);

/// The scenario `asked`, or that which `ran`, anchored by what an iteration of the latter was
/// measured to take. Throws InputError where they are on different accelerators.
[[nodiscard]] Scenario with_anchor(const Scenario& ran, std::optional<Scenario> asked,
                                   Seconds measured);

/// The scenario that a measurement is of: what the anchor names, or the scenario itself.
[[nodiscard]] Scenario anchored_scenario(const Scenario& scenario, const Anchor& anchor);

}  // namespace headway
