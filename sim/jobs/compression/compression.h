#pragma once

#include <span>
#include <string_view>

#include "sim/base/units.h"

namespace headway {

struct Compression;

/// Bytes of an element of what compression left out, kept in fp32.
inline constexpr double kKeptErrorBytes = 4.0;

/// Gradients that travel together.
struct GradientPart {
  double elements = 0.0;
  /// Elements of the factors of rank `Compression::rank` that stand for its matrices, where those
  /// are smaller, and of what is no matrix.
  double factors = 0.0;
  double tensors = 0.0;  ///< that they are

  GradientPart& operator+=(const GradientPart& other);
  friend GradientPart operator*(double times, const GradientPart& part);
};

/// How compressed gradients reach everybody.
enum class CompressedExchange {
  reduce,  ///< added up on the way, as gradients are
  gather,  ///< ranks chose other elements each, which nobody can add up: everybody gathers all
  /// Nobody on the way can add them up, but each rank can for a part: parts are exchanged all to
  /// all, added up, made smaller again and gathered. No node adds up for its ranks first.
  scatter_and_gather
};

/// A way to make gradients smaller before they travel: what remains of them on the wire, how they
/// are exchanged then, and what of the device's memory it takes.
struct Compressor {
  std::string_view name;   ///< "top_k": as scenarios spell it
  std::string_view title;  ///< "top-k": as people read it
  std::string_view what;   ///< in a sentence
  std::string_view source;

  CompressedExchange exchange = CompressedExchange::reduce;
  /// What was left out is kept in fp32, and added to the next gradient.
  bool keeps_error = false;
  /// What a rank sends of it, where an element has `element_bytes`; nothing: all of it.
  Bytes (*sent)(const Compression& how, const GradientPart& part, double element_bytes) = nullptr;
  /// What that streams through the memory of a device, from gradients to the message and, with the
  /// messages of all ranks, back.
  Bytes (*streamed)(const Compression& how, const GradientPart& part, double element_bytes,
                    int ranks) = nullptr;
};

/// All there are; the first leaves gradients as they are.
[[nodiscard]] std::span<const Compressor> compressors();

/// How replicas make smaller what they exchange of gradients.
struct Compression {
  const Compressor* method = compressors().data();
  double bits = 8.0;      ///< quantise: of an element
  double density = 0.01;  ///< top_k: share of the elements that are sent
  int rank = 4;           ///< low_rank: of the factors
  double warm_up = 0.0;   ///< one_bit: share of the steps that send everything
  friend bool operator==(const Compression&, const Compression&) = default;

  [[nodiscard]] bool is_none() const { return method->sent == nullptr; }
  [[nodiscard]] bool is(std::string_view name) const { return method->name == name; }
};

/// Whether what ranks added up of their parts is gathered.
[[nodiscard]] inline bool gathers_sums(const Compression& how) {
  return how.method->exchange == CompressedExchange::scatter_and_gather;
}

/// The message, as nccl-tests counts it, of what `ranks` exchange about such a part: all that they
/// send together where they gather.
[[nodiscard]] Bytes compressed_message(const Compression& how, const GradientPart& part,
                                       double element_bytes, int ranks);

}  // namespace headway
