#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headway {

/// Random, zero-mean operands, handed out round and round, so that each repetition meets others
/// than the one before: training finds its operands in the last cache level at best, and zeros
/// run faster than data on some hardware.
class OperandPool {
 public:
  OperandPool(std::size_t floats, std::uint64_t seed);
  /// `count` floats that were not handed out for as long as possible.
  [[nodiscard]] std::span<float> take(std::size_t count);

 private:
  std::vector<float> floats_;
  std::size_t next_ = 0;
};

}  // namespace headway
