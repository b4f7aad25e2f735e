#pragma once

#include <cstdint>
#include <random>

namespace headway {

/// Numbers for random tests: the same on every platform for the same seed, which the standard's
/// distributions do not promise.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}

  /// In [0, count).
  int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
  /// In [low, high).
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1.0p-53;
  }
  bool chance(double probability) { return between(0.0, 1.0) < probability; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace headway
