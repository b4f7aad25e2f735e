#include "sim/jobs/compression/compression.h"

namespace headway {

/// Elements of fewer bits, which are added up as such on the way.
Compressor quantise() {
  return {.name = "quantise",
          .title = "quantised gradients",
          .what = "Gradients travel in so many bits an element.",
          .source = "Alistarh et al. 2017 (arXiv:1610.02132)",
          .sent = [](const Compression& how, const GradientPart& part,
                     double /*element_bytes*/) { return Bytes(part.elements * how.bits / 8.0); },
          // Read and written in fewer bits; those read and written again.
          .streamed =
              [](const Compression& how, const GradientPart& part, double element_bytes,
                 int /*ranks*/) {
                return Bytes(2.0 * part.elements * (element_bytes + how.bits / 8.0));
              }};
}

}  // namespace headway
