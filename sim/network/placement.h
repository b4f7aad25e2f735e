#pragma once

#include <optional>
#include <vector>

#include "sim/base/words.h"

namespace headway {

/// The dimensions by which a job is split, innermost first in a placement.
enum class ParallelDimension { tensor, context, data, pipeline };
template <>
inline constexpr Word<ParallelDimension> kWords<ParallelDimension>[] = {
    {"tensor", ParallelDimension::tensor},
    {"context", ParallelDimension::context},
    {"data", ParallelDimension::data},
    {"pipeline", ParallelDimension::pipeline}};

/// A stage of a data-parallel replica.
struct ReplicaStage {
  int replica = 0;
  int stage = 0;
};

/// Which accelerator of the cluster each rank stands on. A rank is named by its coordinates; the
/// first dimension of `order` varies fastest, so its members are neighbours.
struct Placement {
  /// Megatron-LM's default order.
  std::vector<ParallelDimension> order = {ParallelDimension::tensor, ParallelDimension::context,
                                          ParallelDimension::data, ParallelDimension::pipeline};
  int tensor = 1;
  int context = 1;
  int data = 1;
  int pipeline = 1;
  int first_accelerator = 0;

  friend bool operator==(const Placement&, const Placement&) = default;

  [[nodiscard]] int ranks() const { return tensor * context * data * pipeline; }
  /// The accelerator of the rank with these coordinates. Each within its degree. `order` must name
  /// every dimension whose degree is more than 1, none twice.
  [[nodiscard]] int accelerator(int tensor_index, int context_index, int data_index,
                                int pipeline_index) const;
  /// The replica and stage that an accelerator belongs to; nothing for one that the job has not.
  [[nodiscard]] std::optional<ReplicaStage> owner(int accelerator) const;
};

}  // namespace headway
