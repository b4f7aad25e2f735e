#include "sim/jobs/compression/compression.h"

namespace headway {
namespace {

constexpr double kIndexBytes = 4.0;

}  // namespace

/// The largest elements of each rank, with where they stand. Those of one rank are not those of
/// another, so that a message of all ranks comes back, and not a sum: with density d, elements of s
/// bytes and indices of i, n ranks receive
///
///   (n - 1) d (s + i)  instead of  2 (n - 1) / n s
///
/// bytes an element, which is more from n = 2 s / (d (s + i)) ranks on.
Compressor top_k() {
  return {
      .name = "top_k",
      .title = "top-k",
      .what = "Each rank sends its largest gradients only, with their indices.",
      .source = "Lin et al. 2018 (arXiv:1712.01887)",
      .exchange = CompressedExchange::gather,
      .keeps_error = true,
      .sent =
          [](const Compression& how, const GradientPart& part, double element_bytes) {
            return Bytes(how.density * part.elements * (element_bytes + kIndexBytes));
          },
      // To choose: gradients and what was left are read, their sum is written, and read once
      // more with the threshold known (a sample gives it). To add up: each element of each
      // rank is read with its index, and its sum read and written, over a sum of zeros.
      .streamed =
          [](const Compression& how, const GradientPart& part, double element_bytes, int ranks) {
            const double chosen = how.density * part.elements;
            const double entry = element_bytes + kIndexBytes;
            return Bytes(part.elements * (element_bytes + 3.0 * kKeptErrorBytes + element_bytes) +
                         chosen * entry + ranks * chosen * (entry + 2.0 * element_bytes));
          }};
}

}  // namespace headway
