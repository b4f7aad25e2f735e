#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/models/transformer.h"

namespace headway {

/// A part of something named: of an operator's forward pass, or of a kept tensor.
struct NamedShare {
  std::string_view name;
  double share = 1.0;
};

/// What of a layer the backward pass makes again where it does not make all of it.
struct RecomputePlan {
  std::vector<NamedShare> operators;  ///< as sim/models/operators.h calls them, or kAttentionCore
  std::vector<NamedShare> tensors;    ///< as activation_memory.h calls what need not be kept for it
  /// Of a forward pass's tensor-parallel exchanges, the share run again: in a dense layer, in one
  /// with experts (whose MLP is the shared expert's), and of what its routed experts exchange.
  double exchanges = 0.0;
  double shared_exchanges = 0.0;
  double expert_exchanges = 0.0;

  [[nodiscard]] double operator_share(std::string_view name) const;
  [[nodiscard]] double tensor_share(std::string_view name) const;
  /// That share in a layer of this kind. Without a shared expert the exchange of attention, which
  /// only whole layers run again, is the only one of a layer with experts.
  [[nodiscard]] double tensor_exchanges(const TransformerModel& model, LayerKind kind) const;
};
inline constexpr std::string_view kAttentionCore = "attention";
inline constexpr std::string_view kPermutation = "permutation";  ///< of tokens, to their experts

/// A part of a layer that can be recomputed by itself: time and memory follow from what it covers.
/// Names are Megatron-Core's --recompute-modules.
struct RecomputeModuleParts {
  RecomputeModule module;
  std::string_view name;
  RecomputePlan parts;
};
[[nodiscard]] std::span<const RecomputeModuleParts> recompute_modules();

/// Empty where nothing, or whole layers, are recomputed.
[[nodiscard]] RecomputePlan recompute_plan(const Strategy& strategy);

/// How many layers of a chunk of `layers` recompute what the strategy recomputes: all, or the first
/// `recompute_layers`.
[[nodiscard]] int recomputed_layers(const Strategy& strategy, int layers);

}  // namespace headway
