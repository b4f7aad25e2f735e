#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "calibrate/cuda/device_fill.h"

// Numbers of a device read and compared on the host.

namespace headway {

inline std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}
inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

inline float from_fp16(std::uint16_t bits) {
  const int exponent = bits >> 10U & 0x1f;
  const auto fraction = static_cast<float>(bits & 0x3ffU);
  const float size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0F + fraction, exponent - 25);
  return (bits & 0x8000U) != 0 ? -size : size;
}

/// Random numbers that bf16 holds.
inline std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const double uniform = static_cast<double>(random()) / 4294967296.0;
    value = from_bf16(bf16_bits(static_cast<float>(4.0 * uniform - 2.0)));
  }
  return values;
}

class Uploaded : public DevicePool {
 public:
  template <class Value>
  explicit Uploaded(const std::vector<Value>& values) : DevicePool(values.size() * sizeof(Value)) {
    upload(data(), values.data(), bytes());
  }
};
template <class Value>
std::vector<Value> to_host(const DevicePool& memory) {
  std::vector<Value> values(memory.bytes() / sizeof(Value));
  HEADWAY_CUDA(cudaMemcpy(values.data(), memory.data(), memory.bytes(), cudaMemcpyDeviceToHost));
  return values;
}
inline std::vector<std::uint16_t> rounded_bits(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) bits.push_back(bf16_bits(value));
  return bits;
}
inline std::vector<float> halves(const DevicePool& memory) {
  std::vector<float> values;
  for (const std::uint16_t bits : to_host<std::uint16_t>(memory)) values.push_back(from_bf16(bits));
  return values;
}

/// Off by more than `tolerance` of a number, or of a hundredth where it is smaller; NaN is.
inline void compare(const std::string& what, const std::vector<float>& got,
                    const std::vector<float>& expected, double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(static_cast<double>(got[i]) - expected[i]);
    if (off <= tolerance * (std::abs(static_cast<double>(expected[i])) + 1e-2)) continue;
    throw EnvironmentError(fmt::format(
        "{} gives {} where {} is right (element {}): the device or its libraries compute wrongly",
        what, got[i], expected[i], i));
  }
}

}  // namespace headway
