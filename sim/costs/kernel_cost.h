#pragma once

#include <optional>

#include "sim/base/units.h"
#include "sim/costs/cost.h"
#include "sim/costs/profile.h"
#include "sim/layers/kernel_shape.h"
#include "sim/layers/work.h"

namespace headway {

// None of these costs is below the roofline of its operations and compulsory traffic, and an empty
// shape costs nothing. Precisions are ones that the device `supports`.

/// How the operands of a product lie in memory.
struct GemmOperands {
  /// The part of the traffic that does not move: an operand of a convolution repeats what memory
  /// holds once.
  Bytes shared = {};
  bool beyond_caches = false;
};

/// One matrix product:
///   t = max(2mnk/(P e) * (1 + w (q - 1)) * (1 + k0/k), bytes / (W em)) + t0
/// with the peak P and efficiency e of `precision`, W em the memory bandwidth reached, and
///   q = ceil(tiles / multiprocessors) * multiprocessors * 128 * 256 / (m n),
///   tiles = ceil(m/128) ceil(n/256)
/// the wave and tile quantisation, at most 8, of which the share w is seen (kernels choose smaller
/// tiles where these fit badly). Tiles have 64 or 128 columns where the result has no more, and 64
/// in fp32, which plain cores multiply. k0 is that of 16 bits; wider numbers have less of it, by
/// their peak over that of 16 bits, as the start takes its time whatever is multiplied. Sources:
/// roofline (Williams et al. 2009); tile and wave quantisation, NVIDIA "Matrix Multiplication
/// Background".
///
/// A precision with a ProductTable takes max(2mnk/(P e) * (1 + w (q - 1)), bytes / W) times the
/// table's factor instead, with the w of the table, and c * bytes / W for operands that come from
/// memory where the benchmark's came from the cache (`gemm_cold_operands`). Of operands beyond all
/// caches that is c times the shorter of both terms: where memory is what holds a product up, it is
/// so in the benchmark too.
///
/// A shape of the profile's table is returned as it was measured. One among measured shapes takes
/// the formula, scaled by how far they were from theirs. One that the table does not cover takes
/// the formula as it stands and is `extrapolated`; without a table for the precision nothing is.
[[nodiscard]] Cost gemm_cost(const DeviceCosts& device, const GemmShape& shape, Precision precision,
                             const GemmOperands& operands = {});

/// How many times longer than 2mnk/(P e) a product takes at least whose weights have sides that are
/// no whole number of pieces of 16 bytes: the family's `misaligned_product_factor` for each time
/// that such pieces have to be halved to fit both. 1 on plain cores, which load elements one by
/// one. Source: NVIDIA "Matrix Multiplication Background", section 2.1; the factor's own says more.
[[nodiscard]] double misaligned_slowdown(const KernelFamily& family, double outputs, double inputs,
                                         Precision precision);

/// The weight gradient of a convolution as kernels run it: few outputs, each a sum over all
/// positions of all samples, which tiles of the same outputs share out (split-K) until the device
/// is full, no fewer than 1024 positions to each; as one product with so many more rows. Source:
/// NVIDIA, "Convolutional Layers User's Guide", on the tile quantisation of weight gradients.
[[nodiscard]] GemmShape split_product(const DeviceCosts& device, const GemmShape& shape);

/// The same product for each of `experts` experts on their own rows and weights, in one launch:
///   c = experts * operations / (P e eg), t = max(c, experts * bytes / (W em)) + m0 / rows * c
/// with the mean `rows` of an expert in the forward pass, and eg = 1 for a single expert. Source of
/// the form: grouped products fill the device from few rows on, and what the first rows of each
/// expert cost, as much as m0 more of them, is paid whatever their number; fitted over published
/// training steps.
[[nodiscard]] Cost grouped_gemm_cost(const DeviceCosts& device, const ExpertCosts& costs,
                                     const GemmShape& shape, double experts, double rows,
                                     Precision precision);

/// Putting `elements` of rows in the experts' order, and as many back: two streaming passes.
[[nodiscard]] Cost permutation_cost(const DeviceCosts& device, const KernelFamily& family,
                                    const ExpertCosts& costs, double elements);

/// What a matrix product has to move: both operands in `precision`, the result in 2 bytes an
/// element, or 4 where the operands have 4.
[[nodiscard]] Bytes gemm_traffic(const GemmShape& shape, Precision precision);

/// Fused (flash) attention: forward_flops() / (P16 ea f / (1 + s0/s) * min(1, d/128)^c) with s the
/// key sequence's length and P16 the peak of the 16-bit formats, of a wider one on devices without,
/// and the constants of the kernel that the family runs (DeviceCosts::attention_kernels);
/// backward `fused_operations` as many at `attention_backward` of the rate. With a key sequence
/// longer than the query's (context parallel) times `attention_context_factor`. A window saves the
/// share `attention_window_saving` of what it hides; learned sinks take `attention_sink_factor` of
/// the time. Values narrower than keys count in the operations, d is the size of the keys.
///
/// A shape of the profile's table is returned as it was measured, less the family's rate f where it
/// is not 1. One among the measured shapes of its pass, and as causal, takes the formula, scaled by
/// how far they were from theirs. One that these do not cover takes the formula as it stands and is
/// `extrapolated`; where there are none nothing is. The table is of the device's fastest kernel:
/// others take the formula.
[[nodiscard]] Cost fused_attention_cost(const DeviceCosts& device, const KernelFamily& family,
                                        const AttentionShape& shape, Pass pass);

/// Time of the batched products of unfused attention, which multiply while they write scores or
/// read them, but not wholly at once: the cubic mean of what either takes alone. On an H100 and an
/// H200 products of 32 heads over 2,048 and 4,096 positions take 1.10 and 1.14 times the longer of
/// the two, 1.09 and 1.14 by this mean (`headway-calibrate`; tests/calibrate/measured has them).
[[nodiscard]] Seconds head_product_time(Seconds multiplying, Seconds moving);
/// What multiplying takes of products that took `time`: head_product_time the other way. Nothing
/// where moving takes as long, which tells nothing of it.
[[nodiscard]] std::optional<Seconds> multiplying_time(Seconds time, Seconds moving);

/// Unfused attention: two batched products over the whole square, four backward, at a rate that
/// falls with min(1, d/128)^c for small heads of d, while scores are written or read
/// (head_product_time); then the passes over the scores between them, of softmax, mask and dropout
/// (Korthikanti et al. 2022, section 4.1): of numbers of two bytes as the family or else the device
/// has them, of four by a kernel for each step, as there are no others for them.
[[nodiscard]] Cost unfused_attention_cost(const DeviceCosts& device, const KernelFamily& family,
                                          const AttentionWork& attention, Pass pass,
                                          Precision precision);

/// Products of activations with each other, `work` operations in sums of `inputs` terms, at the
/// rate that fused attention reaches with heads of that size on sequences without end: work / (P16
/// ea f min(1, d/128)^c), backward at `attention_backward` of it, by the slowest kernel of
/// attention that the device has. That kernels of states reach it is assumed, with a spread of a
/// half; what they move is passes of their own.
[[nodiscard]] Cost activation_product_cost(const DeviceCosts& device, const KernelFamily& family,
                                           Flops work, double inputs, Pass pass);

/// A scan of states: one kernel that works while it moves `traffic`, as long as the longer of the
/// two takes. Operations are in fp32 at half the peak of plain cores, which counts a product and a
/// sum in each cycle. The exponential that each element needs runs on the special units beside them
/// and takes as long as four or eight of these (16 a multiprocessor beside 64 or 128 cores: CUDA
/// C++ Programming Guide, throughput of arithmetic instructions). Nobody measured it here: the
/// spread is a half. Devices without a peak in fp32 take that of attention.
[[nodiscard]] Cost scan_cost(const DeviceCosts& device, Flops operations, Bytes traffic);

/// Looking up rows of tables, or updating them: `traffic` bytes at the rate of scattered rows.
[[nodiscard]] Cost gather_cost(const DeviceCosts& device, Bytes traffic);

/// A streaming pass over `traffic` bytes of device memory, as the operator counts them; the family
/// scales them to what its kernels really move. From the measured curve where it reaches.
[[nodiscard]] Cost memory_pass_cost(const DeviceCosts& device, const KernelFamily& family,
                                    Bytes traffic);

/// A pass of an operator of which every byte is counted, whatever the software.
[[nodiscard]] Cost counted_pass_cost(const DeviceCosts& device, Bytes traffic);

/// One update of a tensor of `parameters`: as measured, else a streaming pass of `optimizer_bytes`
/// for each.
[[nodiscard]] Cost update_cost(const DeviceCosts& device, double parameters);

/// Quantising the inputs of matrix products to less than 16 bits: a streaming pass of `cast_bytes`
/// for each of `elements`. Requires a scaling that the profile knows.
[[nodiscard]] Cost cast_cost(const DeviceCosts& device, double elements, Scaling scaling);

/// No kernel beats the device's peak: the least time that the operations and bytes allow.
[[nodiscard]] Seconds roofline_bound(const DeviceCosts& device, Flops work, Precision precision,
                                     Bytes traffic);

}  // namespace headway
