#pragma once

#include "sim/base/units.h"
#include "sim/costs/profile.h"
#include "sim/jobs/strategy.h"

namespace headway {

/// What Adam on a host moves for a parameter, in fp32: gradient, parameter and two moments read,
/// the latter three written.
inline constexpr double kHostAdamBytes = 28.0;

/// Time of an optimizer step over `parameters` local parameters of which this rank updates
/// `updated`: the memory traffic of Adam, and of the gradient norm over all of them where one is
/// taken; or that of another optimizer, where the software has one. Updates of a tensor of `tensor`
/// parameters, those that most of the model is made of, take what was measured of one, where one of
/// its size was.
///
/// The host updates the share f = optimizer_offload of them: gradients of g bytes go down and
/// parameters of p bytes come back over its link, and its Adam moves 28 + p bytes in its memory
/// (Ren et al. 2021, "ZeRO-Offload", sections 3 and 5: four fp32 values are read, three written,
/// and the copy in the training precision):
///   T = D + f updated (g / link + (28 + p) / memory + p / link)
/// with D the accelerator's own part; where these overlap (section 5.1: tile by tile), the longest
/// of the four. Requires a profile with both bandwidths where something is offloaded.
[[nodiscard]] Seconds optimizer_time(const Profile& profile, const Strategy& strategy,
                                     double parameters, double updated, double tensor = 0.0);

/// What streams through a device's memory in a second.
[[nodiscard]] BytesPerSecond streaming_rate(const Profile& profile);

}  // namespace headway
