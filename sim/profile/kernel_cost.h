#pragma once

#include "sim/base/kernel_shape.h"
#include "sim/base/units.h"
#include "sim/profile/profile.h"

namespace headway {

/// How well a cost is founded: `exact`, the very shape was measured; `interpolated`, inside what was
/// measured or fitted; `extrapolated`, outside of it.
enum class CostStatus { exact, interpolated, extrapolated };

/// What an operation costs on one device, and how far that may be off (one standard deviation,
/// relative).
struct Cost {
  Seconds time;
  CostStatus status = CostStatus::interpolated;
  double spread = 0.0;
};

enum class Pass { forward, backward };

/// One matrix product:
///   t = max(2mnk / (P e) * q * (1 + k0/k), bytes / (W em)) + t0
/// with the peak P and efficiency e of `precision`, W em the memory bandwidth reached, and
///   q = ceil(tiles / multiprocessors) * multiprocessors * 128 * 256 / (m n),
///   tiles = ceil(m/128) ceil(n/256)
/// the wave and tile quantisation, at most 8. Bytes: both operands in `precision`, the result in 2
/// bytes. A shape of the profile's table is returned as it was measured. Sources: roofline
/// (Williams et al. 2009); tile and wave quantisation, NVIDIA "Matrix Multiplication Background".
[[nodiscard]] Cost gemm_cost(const DeviceCosts& device, const GemmShape& shape,
                             Precision precision);

/// Fused (flash) attention: forward_flops() / (P16 ea f / (1 + s0/s) * min(1, d/128)^c); backward
/// 2.5 times the operations at `attention_backward` of the rate (Dao, FlashAttention-2, 2023,
/// section 3.1). With a key sequence longer than the query's (context parallel) times
/// `attention_context_factor`.
[[nodiscard]] Cost fused_attention_cost(const DeviceCosts& device, const KernelFamily& family,
                                        const AttentionShape& shape, Pass pass);

/// Unfused attention: batched products over the whole square plus the traffic of scores, mask,
/// softmax and dropout (Korthikanti et al. 2022, section 4.1).
[[nodiscard]] Cost unfused_attention_cost(const DeviceCosts& device, const AttentionShape& shape,
                                          Pass pass, Precision precision);

/// A streaming pass over `traffic` bytes of device memory.
[[nodiscard]] Cost memory_pass_cost(const DeviceCosts& device, const KernelFamily& family,
                                    Bytes traffic);

/// No kernel beats the device's peak: the least time that the operations and bytes allow.
[[nodiscard]] Seconds roofline_bound(const DeviceCosts& device, Flops work, Precision precision,
                                     Bytes traffic);

}  // namespace headway
