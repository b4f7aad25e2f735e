#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "sim/programs/cause.h"

namespace headway {

/// What ranks send each other inside layers.
enum class ExchangeKind {
  tensor,         ///< collectives of tensor-parallel ranks
  context,        ///< keys and values round a ring, or heads swapped for tokens
  experts,        ///< tokens to the ranks of their experts and back
  expert_slices,  ///< rows between the ranks that split an expert
  tables          ///< pooled rows of embedding bags to the ranks of their samples
};
inline constexpr std::size_t kExchangeKinds = 5;
inline constexpr std::array<ExchangeKind, kExchangeKinds> kAllExchanges = {
    ExchangeKind::tensor, ExchangeKind::context, ExchangeKind::experts, ExchangeKind::expert_slices,
    ExchangeKind::tables};

/// One of each kind.
template <class T>
class ByExchange {
 public:
  [[nodiscard]] T& operator[](ExchangeKind kind) { return of_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const T& operator[](ExchangeKind kind) const {
    return of_[static_cast<std::size_t>(kind)];
  }
  friend auto operator<=>(const ByExchange&, const ByExchange&) = default;

 private:
  std::array<T, kExchangeKinds> of_{};
};

/// What the time of it is charged to.
[[nodiscard]] constexpr Cause cause_of(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::tensor:
      return Cause::tensor_parallel;
    case ExchangeKind::context:
      return Cause::context_parallel;
    case ExchangeKind::experts:
    case ExchangeKind::expert_slices:
      return Cause::expert_parallel;
    case ExchangeKind::tables:
      return Cause::embedding_exchange;
  }
  return Cause::other;
}

/// What stage programs call the communicator whose flows carry it.
[[nodiscard]] constexpr std::string_view communicator_of(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::tensor:
      return "tensor exchange";
    case ExchangeKind::context:
      return "context exchange";
    case ExchangeKind::experts:
      return "expert exchange";
    case ExchangeKind::expert_slices:
      return "expert slice exchange";
    case ExchangeKind::tables:
      return "embedding exchange";
  }
  return "exchange";
}

}  // namespace headway
