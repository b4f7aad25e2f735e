#include "sim/jobs/compression/compression.h"

namespace headway {

/// Each matrix M is sent as the factors of a product: P = M Q is summed up and made orthogonal,
/// then Q = M^T P is, and P Q^T stands for the sum.
Compressor low_rank() {
  return {.name = "low_rank",
          .title = "low-rank factors",
          .what = "Matrices travel as factors of low rank, all else as it is.",
          .source = "Vogels et al. 2019 (arXiv:1905.13727, PowerSGD), algorithm 1",
          .keeps_error = true,
          .sent = [](const Compression& /*how*/, const GradientPart& part,
                     double element_bytes) { return Bytes(part.factors * element_bytes); },
          // M is made of the gradient and what was left (two read, one written), read for P and for
          // Q, and P Q^T is written and taken from it (written, read and written).
          .streamed = [](const Compression& /*how*/, const GradientPart& part, double element_bytes,
                         int /*ranks*/) { return Bytes(8.0 * part.elements * element_bytes); }};
}

}  // namespace headway
