#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sim/base/units.h"

namespace headway {

enum class Dimension { time, size, bandwidth, work, compute_rate };

/// One unit symbol. Its value in SI base units is multiplier * 10^decimal_exponent; the two stand
/// apart so that the decimal part can be read as part of the number, without rounding twice.
struct Unit {
  std::string_view symbol;
  Dimension dimension;
  int decimal_exponent = 0;
  double multiplier = 1.0;

  [[nodiscard]] constexpr bool is_decimal() const { return multiplier == 1.0; }
  [[nodiscard]] constexpr bool counts_bits() const { return multiplier < 1.0; }
};

/// All units, smallest first within a dimension and family.
[[nodiscard]] std::span<const Unit> all_units();
[[nodiscard]] std::optional<Unit> find_unit(std::string_view symbol);

template <class Q>
struct DimensionOf;
template <>
struct DimensionOf<Seconds> {
  static constexpr Dimension value = Dimension::time;
};
template <>
struct DimensionOf<Bytes> {
  static constexpr Dimension value = Dimension::size;
};
template <>
struct DimensionOf<BytesPerSecond> {
  static constexpr Dimension value = Dimension::bandwidth;
};
template <>
struct DimensionOf<Flops> {
  static constexpr Dimension value = Dimension::work;
};
template <>
struct DimensionOf<FlopsPerSecond> {
  static constexpr Dimension value = Dimension::compute_rate;
};

/// "a time", "a size", ...
[[nodiscard]] std::string_view dimension_name(Dimension dimension);

}  // namespace headway
