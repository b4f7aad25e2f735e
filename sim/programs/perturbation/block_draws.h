#pragma once

#include <algorithm>
#include <cstddef>
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

  /// The same of draws that `number(i)` decides, a number in (0, 1) for the i-th device.
  template <class Number>
  [[nodiscard]] double slowest(std::span<const Device> drawn, double undrawn_factor,
                               const Number& number);

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

template <class Number>
double BlockDraws::slowest(std::span<const Device> drawn, double undrawn_factor,
                           const Number& number) {
  if (drawn.empty()) return undrawn_factor;
  const double most = drawn.front().time_factor;
  if (perturbation_.jitter.none()) return std::max(most, undrawn_factor);
  if (most == drawn.back().time_factor && perturbation_.repair.accelerators.empty()) {
    return most * table(drawn.size())(number(0));
  }
  // Only who draws more than all devices before it, which are no faster, can be the slowest. Which
  // these are nobody can foresee, a processor's branches neither: they are written down first.
  double slowest = undrawn_factor;
  double largest = 0.0;
  std::size_t count = 0;
  records_.resize(drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const double draw = number(i);
    records_[count] = {.time_factor = drawn[i].time_factor, .draw = draw};
    count += draw > largest ? 1 : 0;
    largest = std::max(largest, draw);
  }
  DrawTable& of_one = table(1);
  for (std::size_t i = 0; i < count; ++i) {
    slowest = std::max(slowest, records_[i].time_factor * of_one(records_[i].draw));
  }
  return slowest;
}

}  // namespace headway
