#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <initializer_list>

#include "sim/base/words.h"

namespace headway {

// The words that the parts of a layer are told apart by.

/// What parameters are counted as.
enum class Part {
  attention,
  mlp,  ///< of a layer without experts, or the shared expert
  router,
  experts,  ///< routed ones, whose replicas are not those of the rest
  normalization,
  embedding,
  positions,
  head,
  other,
  tables  ///< of embedding bags, which a job places over its ranks
};
inline constexpr std::size_t kParts = 10;

/// What the rows of a tensor are, on one rank and for one micro-batch.
enum class Rows {
  tokens,  ///< those that context parallelism leaves a rank
  own,     ///< the residual stream's: 1/t of them with sequence parallelism
  routed   ///< one for each token and expert that the rank works on
};

/// Which side of a matrix its ranks share out (tensor-parallel ones, or of experts those that split
/// each).
enum class Split { none, outputs, inputs };

/// By which degree a size is divided; what the loss takes by that of tensor parallelism, unless
/// every rank takes the whole of it.
enum class Cut { none, tensor, expert_tensor, loss };

/// Under which kernels something is there.
enum class KernelChoice {
  always,
  fused_attention,
  unfused_attention,
  fused_normalization,
  unfused_normalization,
  fused_activation,
  unfused_activation,
  unfused_softmax,
  copied_attention,
  expert_masks
};

/// Under which software a pass over memory is there: any, that which merges operators into few
/// kernels, or that which launches each by itself.
enum class Operators { any, merged, separate };

inline constexpr double kWorkingElement = 2.0;  ///< bytes of an activation while it is worked on

/// In how many bytes an element is kept.
enum class Stored {
  working,           ///< as the forward pass uses it
  residual,          ///< as it passes between layers
  quantised,         ///< as the input of a product
  quantised_copy,    ///< the same beside the original: nothing where products take 16 bits or more
  activation_input,  ///< what an activation function takes
  single,            ///< fp32
  mask               ///< a byte: what dropout decided
};

/// A matrix of a layer that a low-rank adapter may stand beside.
enum class AdapterTarget { qkv, projection, fc1, fc2 };
template <>
inline constexpr Word<AdapterTarget> kWords<AdapterTarget>[] = {
    {"qkv", AdapterTarget::qkv},
    {"projection", AdapterTarget::projection},
    {"fc1", AdapterTarget::fc1},
    {"fc2", AdapterTarget::fc2}};

/// What of a layer the backward pass can make again without making all of it.
enum class RecomputePart {
  activation,  ///< of the MLP: one streaming pass
  scores,      ///< unfused attention, from queries, keys and values
  alternate,   ///< all but attention and every second product (PyTorch, by operator)
  core_attn,   ///< from here on by the names of Megatron-Core's --recompute-modules
  layernorm,
  mlp,
  mla_up_proj,
  moe,
  moe_act,
  shared_experts
};
/// Those that can be named one by one.
template <>
inline constexpr Word<RecomputePart> kWords<RecomputePart>[] = {
    {"core_attn", RecomputePart::core_attn},
    {"layernorm", RecomputePart::layernorm},
    {"mlp", RecomputePart::mlp},
    {"mla_up_proj", RecomputePart::mla_up_proj},
    {"moe", RecomputePart::moe},
    {"moe_act", RecomputePart::moe_act},
    {"shared_experts", RecomputePart::shared_experts}};
inline constexpr std::size_t kRecomputeParts = 10;

/// Parts that a job recomputes.
class RecomputeParts {
 public:
  RecomputeParts() = default;
  RecomputeParts(std::initializer_list<RecomputePart> parts) {
    for (const RecomputePart part : parts) add(part);
  }
  void add(RecomputePart part) { parts_.set(static_cast<std::size_t>(part)); }
  [[nodiscard]] bool has(std::size_t part) const { return parts_.test(part); }
  [[nodiscard]] bool none() const { return parts_.none(); }

 private:
  std::bitset<kRecomputeParts> parts_;
};

/// With which parts something is made again, and which share of it.
class Again {
 public:
  struct With {
    RecomputePart part;
    double share = 1.0;
  };
  constexpr Again() = default;
  constexpr Again(std::initializer_list<With> parts) {
    for (const With& with : parts) shares_[static_cast<std::size_t>(with.part)] = with.share;
  }
  /// What stands in several parts is made again once.
  [[nodiscard]] double share(const RecomputeParts& parts) const {
    double most = 0.0;
    for (std::size_t part = 0; part < kRecomputeParts; ++part) {
      if (parts.has(part)) most = std::max(most, shares_[part]);
    }
    return most;
  }
  [[nodiscard]] bool with(RecomputePart part) const {
    return shares_[static_cast<std::size_t>(part)] > 0.0;
  }

 private:
  std::array<double, kRecomputeParts> shares_{};
};

}  // namespace headway
