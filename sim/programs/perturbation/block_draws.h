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
  /// An accelerator as draws see it. Large jobs look at a million of these again and again, so that
  /// each byte counts.
  struct Device {
    double time_factor;
    std::uint64_t stream;  ///< of its draws
  };
  /// Accelerators that wait for each other.
  struct Devices {
    std::vector<Device> drawn;    ///< the slowest first, equal ones as they are given
    double undrawn_factor = 0.0;  ///< of the slowest of those that are repaired
  };

  /// `perturbation` outlives this object.
  explicit BlockDraws(const Perturbation& perturbation) : perturbation_(perturbation) {}

  [[nodiscard]] Devices devices(std::span<const std::int32_t> accelerators) const;

  /// The time factor of one execution of one block by such devices: the largest product of a device
  /// factor and a draw of its own. Equal devices are drawn at once, by inverting the distribution
  /// of their maximum. Depends on nothing but its arguments and the perturbation.
  [[nodiscard]] double factor(std::span<const Device> drawn, double undrawn_factor,
                              std::uint32_t operation);

 private:
  /// The largest of `count` draws.
  [[nodiscard]] DrawTable& table(std::size_t count);

  struct Record {
    double time_factor;
    double draw;
  };

  const Perturbation& perturbation_;
  std::vector<Record> records_;                     ///< of one execution; one place a device
  std::vector<std::shared_ptr<DrawTable>> tables_;  ///< by number of draws
};

}  // namespace headway
