#pragma once

#include "sim/base/units.h"
#include "sim/costs/profile.h"
#include "sim/layers/layer.h"

namespace headway {

struct Strategy;

/// What the host makes of one layer: the pauses between its kernels, and the time it needs to issue
/// them.
struct HostCosts {
  Seconds forward_gaps;
  Seconds backward_gaps;
  Seconds forward;
  Seconds backward;
};

/// A gap for each kernel that the layer launches; of the host's time, which is known for a
/// transformer's 14 kernels, what its share of them takes, and more where tensor-parallel ranks
/// issue collectives between them. Layers with experts add pauses of their own, where the host
/// waits to learn how many tokens went where, and issue many more kernels. CUDA graphs leave a
/// share of both.
[[nodiscard]] HostCosts host_costs(const Strategy& strategy, const Profile& profile,
                                   const KernelFamily& family, const Layer& layer);

/// A pass that the host issues in `host` and the device executes in `device` takes the longer one;
/// the eighth-power mean is a smooth maximum. Returns what the host adds.
[[nodiscard]] Seconds host_excess(Seconds device, Seconds host);

}  // namespace headway
