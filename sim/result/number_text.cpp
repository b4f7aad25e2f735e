#include "sim/result/number_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sim/base/quantity_text.h"

namespace headway {
namespace {

/// Decimals that leave three digits of a number of this size.
int decimals_for_three_digits(double magnitude) {
  if (magnitude < 9.995) return 2;
  return magnitude < 99.95 ? 1 : 0;
}

}  // namespace

TimeScale::TimeScale(Seconds typical) {
  constexpr double kHour = 3600.0;
  constexpr double kDay = 24.0 * kHour;
  constexpr double kLongest = 1e4;  ///< in seconds: four digits can still be read
  const double seconds = std::abs(typical.count());
  // A time that three digits round up to a whole unit is written in that unit: 1.00 s, not 1000 ms.
  if (seconds > 0.0 && seconds < 0.9995e-3) {
    units_per_second_ = 1e6;
    unit_ = "us";
  } else if (seconds > 0.0 && seconds < 0.9995) {
    units_per_second_ = 1e3;
    unit_ = "ms";
  } else if (seconds >= 2.0 * kDay) {
    units_per_second_ = 1.0 / kDay;
    unit_ = "d";
  } else if (seconds >= kLongest) {
    units_per_second_ = 1.0 / kHour;
    unit_ = "h";
  }
  const double magnitude = seconds * units_per_second_;
  decimals_ = decimals_for_three_digits(magnitude);
  part_decimals_ = magnitude < 99.95 ? 2 : magnitude < 999.5 ? 1 : 0;
}

std::string TimeScale::number(Seconds time) const {
  return fmt::format("{:.{}f}", time.count() * units_per_second_, decimals_);
}

std::string TimeScale::part(Seconds time) const {
  return fmt::format("{:.{}f}", time.count() * units_per_second_, part_decimals_);
}

std::string prefixed_count(double value) {
  constexpr std::array kPrefixes{"", " k", " M", " G", " T"};
  const double magnitude = std::abs(value);
  if (magnitude < 0.995) return fmt::format("{:.3g}", value);
  std::size_t prefix = 0;
  double scale = 1.0;
  while (prefix + 1 < kPrefixes.size() && magnitude / scale >= 999.5) {
    ++prefix;
    scale *= 1e3;
  }
  return fmt::format("{:.{}f}{}", value / scale, decimals_for_three_digits(magnitude / scale),
                     kPrefixes[prefix]);
}

std::string parameters_text(std::int64_t parameters) {
  const auto value = static_cast<double>(parameters);
  return value < 1e9 ? fmt::format("{:.1f} M", value / 1e6) : fmt::format("{:.1f} B", value / 1e9);
}

std::string whole_number(long long value) {
  const bool is_short = value > -10000 && value < 10000;
  return is_short ? fmt::format("{}", value) : grouped_digits(value);
}

std::string percent(double share) { return fmt::format("{:.1f}", 100.0 * share); }

std::string signed_percent(double share) { return fmt::format("{:+.1f}", 100.0 * share); }

std::string gib(Bytes bytes) {
  constexpr double kGib = 1 << 30;
  return fmt::format("{:.1f}", bytes.count() / kGib);
}

double share_of(Seconds part, Seconds whole) { return whole > Seconds(0.0) ? part / whole : 0.0; }

}  // namespace headway
