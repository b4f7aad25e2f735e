#include "sim/jobs/compression/compression.h"

namespace headway {

/// Signs and a scale. The first steps of a training send everything, until the variance of Adam is
/// steady; an average step sends w + (1 - w) / (8 s) of s bytes an element. Signs are exchanged in
/// parts (section 5 there: all-to-all, average, all-gather).
Compressor one_bit() {
  return {
      .name = "one_bit",
      .title = "1-bit",
      .what = "Signs travel, after a warm-up that sends everything.",
      .source = "Tang et al. 2021 (arXiv:2102.02888, 1-bit Adam)",
      .exchange = CompressedExchange::scatter_and_gather,
      .keeps_error = true,
      .sent =
          [](const Compression& how, const GradientPart& part, double element_bytes) {
            return Bytes(part.elements * (how.warm_up * element_bytes + (1.0 - how.warm_up) / 8.0));
          },
      // Momentum and what was left are read, what is left and signs are written; then signs are
      // read and elements written.
      .streamed =
          [](const Compression& how, const GradientPart& part, double element_bytes,
             int /*ranks*/) {
            return Bytes((1.0 - how.warm_up) * part.elements *
                         (2.0 * element_bytes + 2.0 * kKeptErrorBytes + 2.0 / 8.0));
          }};
}

}  // namespace headway
