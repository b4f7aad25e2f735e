#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/layers/kernel_shape.h"
#include "sim/validate/validation_row.h"

namespace headway {

// The parts of a scenario that a published row describes, as the JSON that a user would write.
// Each adds to `assumed` what the row does not say, and has its own reasons to refuse a row.

/// Empty if our models cover the row's model, else why not.
[[nodiscard]] std::string uncovered_model(const PublishedRow& row);
[[nodiscard]] nlohmann::json row_model(const PublishedRow& row, std::vector<std::string>& assumed);

/// How rows name accelerators, and how we do.
struct RowAccelerator {
  std::string_view row;
  std::string_view profile;
  std::string_view scale_up_bandwidth;
};
/// nullptr if there is no profile of the row's accelerator.
[[nodiscard]] const RowAccelerator* accelerator_of(const PublishedRow& row);
/// A fabric that is nobody's bottleneck: the sources describe full-bisection InfiniBand fabrics.
[[nodiscard]] nlohmann::json row_topology(const PublishedRow& row,
                                          const RowAccelerator& accelerator,
                                          std::string_view profile_accelerator);

/// What a software family does where the row is silent: our kernel family, and how it reduces
/// gradients.
struct FrameworkHabits {
  std::string_view row;
  std::string_view kernel_family;
  Precision gradients;
  bool overlaps;  ///< gradients with the backward pass, transfers between stages with compute
  /// Tensor-parallel collectives of the backward pass with products that do not wait for them.
  bool overlaps_tensor_backward;
  std::string_view release = "";  ///< the only one meant; any if empty
  std::string_view model = "";    ///< what a model's name must hold
  /// Mixtures of experts only, whose tokens go once to a domain (DeepEP).
  bool deduplicates_experts = false;
};
/// nullptr if no kernel family stands for the row's software.
[[nodiscard]] const FrameworkHabits* habits_of(const PublishedRow& row);

/// What the published recipe of the row's software sets and the row leaves open stands in its
/// `train` then, and in `assumed`. Open is also a mode of CUDA graphs that the row's own
/// `defaults_used` call an assumption.
[[nodiscard]] PublishedRow with_recipe(PublishedRow row, std::vector<std::string>& assumed);

/// Empty if our strategies cover how the row was trained, else why not.
[[nodiscard]] std::string uncovered_strategy(const PublishedRow& row);
/// Requires that the row is covered.
[[nodiscard]] nlohmann::json row_strategy(const PublishedRow& row, const FrameworkHabits& habits,
                                          std::vector<std::string>& assumed);

}  // namespace headway
