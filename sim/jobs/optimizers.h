#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace headway {

/// Bytes that an update of a parameter moves through memory beside its weight, which is read and
/// written in fp32.
struct UpdateTraffic {
  double gradient_reads = 1.0;  ///< times that its gradient is read
  double own = 0.0;             ///< of states, and of the weight once more
};

/// How parameters follow from their gradients, and what is kept of each for that.
struct Optimizer {
  std::string_view name;  ///< "adam_8bit": as scenarios spell it
  std::string_view what;  ///< in a sentence
  std::string_view source;

  double state_bytes = 0.0;  ///< of a parameter, beside its weight in fp32
  /// Nothing: what the profile says. It is Adam that profiles are measured or fitted with.
  std::optional<UpdateTraffic> traffic = {};
  bool clips = false;  ///< takes the norm of all gradients first, as training of transformers does
  /// Updates matrices of layers only, each by what is next to its momentum and orthogonal; what is
  /// no matrix of a layer has Adam.
  bool orthogonalises = false;
};

/// All there are; the first is Adam.
[[nodiscard]] std::span<const Optimizer> optimizers();

/// What updates the parameters that this one leaves: embeddings and heads.
[[nodiscard]] const Optimizer& beside(const Optimizer& optimizer);

/// Bytes of states of a parameter of 16 bits without a copy in fp32, where they are as wide as it.
[[nodiscard]] double state_bytes_in_halves(const Optimizer& optimizer);

/// What an update by Adam has to move where its gradient has 4 bytes and the copy that products
/// take 2: what kernels move more, those of other optimizers are taken to as well.
inline constexpr double kAdamBytes = 30.0;

/// What an update of a parameter has to move, where its gradient has `gradient_bytes` and the copy
/// that products take `copy_bytes`, 0 where they take the weight itself. Requires a traffic.
[[nodiscard]] double update_bytes(const Optimizer& optimizer, double gradient_bytes,
                                  double copy_bytes);

}  // namespace headway
