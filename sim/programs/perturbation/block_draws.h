#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/programs/perturbation/draw_table.h"
#include "sim/programs/perturbation/perturbation.h"

namespace headway {

/// How much longer executions of blocks take than on the nominal device.
class BlockDraws {
 public:
  /// `perturbation` outlives this object.
  explicit BlockDraws(const Perturbation& perturbation) : perturbation_(perturbation) {}

  /// The time factor of one execution of one block by accelerators that wait for each other: the
  /// largest product of a device factor and a draw of its own. Equal devices are drawn at once, by
  /// inverting the distribution of their maximum. Depends on nothing but its arguments and the
  /// perturbation. Soonest done where the slowest devices come first.
  [[nodiscard]] double factor(std::span<const std::int32_t> accelerators,
                              std::span<const double> device_factors, std::uint32_t operation);

 private:
  /// The largest of `count` draws.
  [[nodiscard]] DrawTable& table(std::size_t count);
  [[nodiscard]] double quantile(std::int32_t accelerator, std::uint32_t operation) const;

  const Perturbation& perturbation_;
  std::vector<std::unique_ptr<DrawTable>> tables_;  ///< by number of draws
};

}  // namespace headway
