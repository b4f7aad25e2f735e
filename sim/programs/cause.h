#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "sim/base/units.h"

namespace headway {

/// What a moment of a rank's iteration is spent on.
enum class Cause {
  compute,
  recompute,
  tensor_parallel,
  context_parallel,
  expert_parallel,
  embedding_exchange,
  pipeline_bubble,
  pipeline_transfer,
  data_parallel_exposed,
  optimizer,
  straggler_wait,
  server_wait,
  data_loading,
  other
};
inline constexpr std::size_t kCauses = 14;

/// As result files spell it: "tensor_parallel".
[[nodiscard]] std::string_view cause_name(Cause cause);
/// As people read it: "exposed tensor-parallel".
[[nodiscard]] std::string_view cause_title(Cause cause);

/// An amount of time by cause.
class TimeByCause {
 public:
  [[nodiscard]] Seconds& operator[](Cause cause) { return parts_[static_cast<std::size_t>(cause)]; }
  [[nodiscard]] Seconds operator[](Cause cause) const {
    return parts_[static_cast<std::size_t>(cause)];
  }
  [[nodiscard]] Seconds total() const;
  /// What takes longer on a slower device: all but what a host does, and the pauses that it leaves.
  [[nodiscard]] Seconds of_device() const { return total() - (*this)[Cause::other]; }
  TimeByCause& operator+=(const TimeByCause& other);
  friend TimeByCause operator+(TimeByCause a, const TimeByCause& b) { return a += b; }
  friend TimeByCause operator*(double factor, TimeByCause a);

 private:
  std::array<Seconds, kCauses> parts_{};
};

}  // namespace headway
