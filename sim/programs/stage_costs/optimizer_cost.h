#pragma once

#include "sim/base/units.h"
#include "sim/costs/profile.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"

namespace headway {

struct Optimizer;
struct Strategy;

/// What Adam on a host moves for a parameter, in fp32: gradient, parameter and two moments read,
/// the latter three written.
inline constexpr double kHostAdamBytes = 28.0;

/// Time of a step of `optimizer` over `parameters` local parameters of which this rank updates
/// `updated`: its memory traffic, and that of the gradient norm over all of them where one is
/// taken. Adam's updates of a tensor of `tensor` parameters, those that most of the model is made
/// of, take what was measured of one, where one of its size was.
///
/// The host updates the share f = optimizer_offload of them: gradients of g bytes go down and
/// parameters of p bytes come back over its link, and its Adam moves 28 + p bytes in its memory
/// (Ren et al. 2021, "ZeRO-Offload", sections 3 and 5: four fp32 values are read, three written,
/// and the copy in the training precision):
///   T = D + f updated (g / link + (28 + p) / memory + p / link)
/// with D the accelerator's own part; where these overlap (section 5.1: tile by tile), the longest
/// of the four. Requires a profile with both bandwidths where something is offloaded.
[[nodiscard]] Seconds optimizer_time(const Profile& profile, const Strategy& strategy,
                                     const Optimizer& optimizer, double parameters, double updated,
                                     double tensor = 0.0);

/// Making the momenta of matrices orthogonal.
struct OrthogonalTime {
  Seconds shared;   ///< of those that every replica holds alike
  Seconds experts;  ///< of routed experts

  OrthogonalTime& operator+=(const OrthogonalTime& other) {
    shared += other.shared;
    experts += other.experts;
    return *this;
  }
  friend OrthogonalTime operator*(double times, const OrthogonalTime& time) {
    return {times * time.shared, times * time.experts};
  }
};
/// What a rank takes to make orthogonal all matrices that it holds of a layer, each by itself. One
/// of m x n elements, m <= n, takes five steps of Newton-Schulz (Jordan et al. 2024):
///
///   5 (g(m, m, n) + g(m, m, m) + g(m, n, m))
///
/// with g(rows, columns, terms) a product in 16 bits: X X', its square, and their sum times X.
[[nodiscard]] OrthogonalTime orthogonal_time(const Layer& layer, const RankShape& shape,
                                             const DeviceCosts& device, Precision precision);

/// What streams through a device's memory in a second.
[[nodiscard]] BytesPerSecond streaming_rate(const Profile& profile);

}  // namespace headway
