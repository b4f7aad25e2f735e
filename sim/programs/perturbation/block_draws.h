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
  /// An accelerator as draws see it.
  struct Device {
    double time_factor;
    std::uint64_t stream;  ///< of its draws
    bool is_repaired;      ///< nothing is drawn for it
  };

  /// `perturbation` outlives this object.
  explicit BlockDraws(const Perturbation& perturbation) : perturbation_(perturbation) {}

  /// Of accelerators that wait for each other: the slowest first, equal ones as they are given.
  [[nodiscard]] std::vector<Device> devices(std::span<const std::int32_t> accelerators) const;

  /// The time factor of one execution of one block by such devices: the largest product of a device
  /// factor and a draw of its own. Equal devices are drawn at once, by inverting the distribution
  /// of their maximum. Depends on nothing but its arguments and the perturbation.
  [[nodiscard]] double factor(std::span<const Device> devices, std::uint32_t operation);

 private:
  /// The largest of `count` draws.
  [[nodiscard]] DrawTable& table(std::size_t count);

  struct Record {
    double time_factor;
    double drawn;
  };

  const Perturbation& perturbation_;
  std::vector<Record> records_;                     ///< of one execution; one place a device
  std::vector<std::shared_ptr<DrawTable>> tables_;  ///< by number of draws
};

}  // namespace headway
