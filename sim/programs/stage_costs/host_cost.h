#pragma once

#include "sim/base/units.h"
#include "sim/costs/profile.h"
#include "sim/jobs/strategy.h"
#include "sim/models/transformer.h"

namespace headway {

/// What the host makes of one layer: the pauses between its kernels, and the time it needs to issue
/// them.
struct HostCosts {
  Seconds forward_gaps;
  Seconds backward_gaps;
  Seconds forward;
  Seconds backward;
};

/// Of a layer without experts 14 and 24 gaps between kernels. Layers with experts add pauses of
/// their own, where the host waits to learn how many tokens went where, and issue many more
/// kernels. CUDA graphs leave a share of both.
[[nodiscard]] HostCosts host_costs(const Strategy& strategy, const Profile& profile,
                                   const KernelFamily& family, LayerKind kind);

/// A pass that the host issues in `host` and the device executes in `device` takes the longer one;
/// the fourth-power mean is a smooth maximum. Returns what the host adds.
[[nodiscard]] Seconds host_excess(Seconds device, Seconds host);

}  // namespace headway
