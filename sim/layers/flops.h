#pragma once

#include <cstdint>

#include "sim/base/units.h"
#include "sim/layers/model.h"

namespace headway {

/// Operations of a forward pass, for one token (one sample, where samples have none).
struct ForwardFlops {
  double products = 0.0;
  double attention = 0.0;         ///< a causal mask leaves half of the square
  double attention_square = 0.0;  ///< the whole square, whatever is masked
  [[nodiscard]] Flops total() const { return Flops(products + attention); }
  [[nodiscard]] Flops whole_square() const { return Flops(products + attention_square); }
  ForwardFlops& operator+=(const ForwardFlops& other);
};
/// Of a product of activations, 2 a k n for each row, with a heads, k terms and n outputs; of one
/// over positions n is half of `length`, or what `most` of them (0: all) leave of that.
[[nodiscard]] double forward_flops(const ActivationProduct& product, double length,
                                   double most = 0.0);
[[nodiscard]] ForwardFlops operator*(double times, const ForwardFlops& flops);

/// "Model FLOPs": every matrix product once, 2 n k a row, those of a token's experts only;
/// attention 2 a (d + v) for each position attended to, with a heads of sizes d (keys) and v
/// (values): s of them, of which a window of w positions leaves w (2 - w/s), and a causal mask
/// half; products of activations and scans of states count with attention. Sources of the two
/// conventions: Megatron-Bridge (causal) and Korthikanti et al. 2022, appendix A (whole square).
[[nodiscard]] ForwardFlops forward_flops(const Layer& layer, std::int64_t sequence_length);

/// Of all layers, what stands before and behind them, and what looks ahead. A training step is
/// three times this.
[[nodiscard]] ForwardFlops forward_flops(const Model& model, std::int64_t sequence_length);

/// What of a layer these parts make again; memory passes are not counted.
[[nodiscard]] Flops recomputed_flops(const Layer& layer, std::int64_t sequence_length,
                                     const RecomputeParts& parts);

}  // namespace headway
