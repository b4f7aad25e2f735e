#pragma once

#include <cmath>
#include <compare>

namespace headway {

/// A number with a physical dimension. Values of the same dimension add and compare, scale by
/// plain numbers and divide to a plain number; products and quotients of different dimensions
/// exist only where they mean something (below). The stored number is in SI base units: seconds,
/// bytes, floating-point operations and their rates.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  [[nodiscard]] constexpr double count() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, double factor) {
    return Quantity(a.value_ * factor);
  }
  friend constexpr Quantity operator*(double factor, Quantity a) { return a * factor; }
  friend constexpr Quantity operator/(Quantity a, double divisor) {
    return Quantity(a.value_ / divisor);
  }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  double value_ = 0.0;
};

using Seconds = Quantity<struct SecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using Flops = Quantity<struct FlopsTag>;  ///< floating-point operations, not a rate
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
  return Seconds(amount.count() / rate.count());
}
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) {
  return BytesPerSecond(amount.count() / time.count());
}
constexpr Bytes operator*(BytesPerSecond rate, Seconds time) {
  return Bytes(rate.count() * time.count());
}
constexpr Bytes operator*(Seconds time, BytesPerSecond rate) { return rate * time; }

constexpr Seconds operator/(Flops work, FlopsPerSecond rate) {
  return Seconds(work.count() / rate.count());
}
constexpr FlopsPerSecond operator/(Flops work, Seconds time) {
  return FlopsPerSecond(work.count() / time.count());
}
constexpr Flops operator*(FlopsPerSecond rate, Seconds time) {
  return Flops(rate.count() * time.count());
}

template <class Tag>
[[nodiscard]] constexpr Quantity<Tag> max(Quantity<Tag> a, Quantity<Tag> b) {
  return a < b ? b : a;
}
template <class Tag>
[[nodiscard]] constexpr Quantity<Tag> min(Quantity<Tag> a, Quantity<Tag> b) {
  return b < a ? b : a;
}
template <class Tag>
[[nodiscard]] inline bool is_finite(Quantity<Tag> a) {
  return std::isfinite(a.count());
}

/// Unit suffixes. `GB` is 1e9 bytes, `GiB` is 2^30; `Gbps` counts bits, `GBps` bytes.
inline namespace literals {

/// A unit is times / per: dividing by a power of ten keeps 3_us the double nearest to 3e-6,
/// which is also what the text "3 us" means.
#define HEADWAY_UNIT_LITERAL(type, suffix, times, per)           \
  constexpr auto operator""_##suffix(long double value) {        \
    return type(static_cast<double>(value) * (times) / (per));   \
  }                                                              \
  constexpr auto operator""_##suffix(unsigned long long value) { \
    return type(static_cast<double>(value) * (times) / (per));   \
  }

HEADWAY_UNIT_LITERAL(Seconds, s, 1.0, 1.0)
HEADWAY_UNIT_LITERAL(Seconds, ms, 1.0, 1e3)
HEADWAY_UNIT_LITERAL(Seconds, us, 1.0, 1e6)
HEADWAY_UNIT_LITERAL(Seconds, ns, 1.0, 1e9)
HEADWAY_UNIT_LITERAL(Bytes, B, 1.0, 1.0)
HEADWAY_UNIT_LITERAL(Bytes, KB, 1e3, 1.0)
HEADWAY_UNIT_LITERAL(Bytes, MB, 1e6, 1.0)
HEADWAY_UNIT_LITERAL(Bytes, GB, 1e9, 1.0)
HEADWAY_UNIT_LITERAL(Bytes, KiB, 1024.0, 1.0)
HEADWAY_UNIT_LITERAL(Bytes, MiB, 1024.0 * 1024.0, 1.0)
HEADWAY_UNIT_LITERAL(Bytes, GiB, 1024.0 * 1024.0 * 1024.0, 1.0)
HEADWAY_UNIT_LITERAL(BytesPerSecond, MBps, 1e6, 1.0)
HEADWAY_UNIT_LITERAL(BytesPerSecond, GBps, 1e9, 1.0)
HEADWAY_UNIT_LITERAL(BytesPerSecond, TBps, 1e12, 1.0)
HEADWAY_UNIT_LITERAL(BytesPerSecond, Mbps, 1e6, 8.0)
HEADWAY_UNIT_LITERAL(BytesPerSecond, Gbps, 1e9, 8.0)
HEADWAY_UNIT_LITERAL(Flops, GFLOP, 1e9, 1.0)
HEADWAY_UNIT_LITERAL(Flops, TFLOP, 1e12, 1.0)
HEADWAY_UNIT_LITERAL(FlopsPerSecond, GFLOPps, 1e9, 1.0)
HEADWAY_UNIT_LITERAL(FlopsPerSecond, TFLOPps, 1e12, 1.0)

#undef HEADWAY_UNIT_LITERAL

}  // namespace literals
}  // namespace headway
