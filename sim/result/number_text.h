#pragma once

#include <cstdint>
#include <string>

#include "sim/base/units.h"

namespace headway {

/// One unit for times that stand beside each other, so that a reader can compare them without
/// converting: seconds where the typical time is at least one, else ms, else us; hours from 10,000
/// s on, days from two on.
class TimeScale {
 public:
  explicit TimeScale(Seconds typical);

  [[nodiscard]] const std::string& unit() const { return unit_; }
  /// A time of about the typical length, to three digits of the typical one: "6.70".
  [[nodiscard]] std::string number(Seconds time) const;
  /// A part of the typical time, to about a thousandth of it: "0.05".
  [[nodiscard]] std::string part(Seconds time) const;
  [[nodiscard]] std::string with_unit(Seconds time) const { return number(time) + " " + unit_; }

 private:
  double units_per_second_ = 1.0;
  std::string unit_ = "s";
  int decimals_ = 2;
  int part_decimals_ = 2;
};

/// Three digits and the prefix of thousands that fits: "453 k", "1.20 M", "45.6". A unit follows
/// directly: "453 k" + " tokens/s".
[[nodiscard]] std::string prefixed_count(double value);

/// Parameters of a model as people say them: "124.4 M", "70.6 B", also "1026.4 B".
[[nodiscard]] std::string parameters_text(std::int64_t parameters);

/// "1024", "16,384": grouped from five digits on.
[[nodiscard]] std::string whole_number(long long value);

/// A share of 1 in percent, without the sign: "47.0".
[[nodiscard]] std::string percent(double share);

/// With its sign: "+5.0", "-0.6".
[[nodiscard]] std::string signed_percent(double share);

/// In GiB, without the unit: "14.9".
[[nodiscard]] std::string gib(Bytes bytes);

/// part / whole, 0 where the whole is 0.
[[nodiscard]] double share_of(Seconds part, Seconds whole);

}  // namespace headway
