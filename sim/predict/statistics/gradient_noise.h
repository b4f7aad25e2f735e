#pragma once

namespace headway {

/// Steps to the same loss at batch `to`, as a multiple of those at batch `from`, where gradients
/// have a noise scale of `noise` samples:
///
///   S(B) = S_min (1 + noise / B)    (McCandlish et al. 2018, arXiv:1812.06162, equation 2.7)
///
/// A law of the run as a whole, with learning rates that fit the batch; it knows no limit of
/// generalisation. Requires positive batches and noise >= 0.
[[nodiscard]] double steps_ratio(double noise, double from, double to);

}  // namespace headway
