#include "sim/jobs/compression/compression.h"

#include <array>

namespace headway {

// Each is defined in the file that bears its name.
Compressor quantise();
Compressor top_k();
Compressor low_rank();
Compressor one_bit();

std::span<const Compressor> compressors() {
  static const std::array kCompressors{Compressor{.name = "none",
                                                  .title = "no compression",
                                                  .what = "Gradients travel as they are.",
                                                  .source = ""},
                                       quantise(), top_k(), low_rank(), one_bit()};
  return kCompressors;
}

GradientPart& GradientPart::operator+=(const GradientPart& other) {
  elements += other.elements;
  factors += other.factors;
  tensors += other.tensors;
  return *this;
}

GradientPart operator*(double times, const GradientPart& part) {
  return {.elements = times * part.elements,
          .factors = times * part.factors,
          .tensors = times * part.tensors};
}

Bytes compressed_message(const Compression& how, const GradientPart& part, double element_bytes,
                         int ranks) {
  if (how.is_none()) return Bytes(part.elements * element_bytes);
  const Bytes sent = how.method->sent(how, part, element_bytes);
  return how.method->exchange == CompressedExchange::gather ? static_cast<double>(ranks) * sent
                                                            : sent;
}

}  // namespace headway
