#include "calibrate/cpu/operand_pool.h"

namespace headway {

OperandPool::OperandPool(std::size_t floats, std::uint64_t seed) : floats_(floats) {
  // A linear congruential generator (Numerical Recipes): fast, and good enough for operands.
  std::uint32_t state = static_cast<std::uint32_t>(seed) * 2654435761U + 1U;
  for (float& value : floats_) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8U) / 16777216.0F - 0.5F;
  }
}

std::span<float> OperandPool::take(std::size_t count) {
  if (count > floats_.size()) floats_.resize(count, 0.25F);
  if (next_ + count > floats_.size()) next_ = 0;
  const std::span<float> taken(floats_.data() + next_, count);
  next_ += (count + 15) / 16 * 16;  // keep to cache lines
  return taken;
}

}  // namespace headway
