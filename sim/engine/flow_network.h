#pragma once

#include <cstdint>
#include <functional>

#include "sim/programs/workload.h"

namespace headway {

/// Moves the bytes of flows, sharing links max-min fairly. Latency is the executor's business: a
/// flow given here starts at once.
class FlowNetwork {
 public:
  /// Called when the last byte of a flow has arrived; `token` is what `start` was given.
  using Finished = std::function<void(std::int32_t token, double now)>;

  virtual ~FlowNetwork() = default;

  /// Starts moving `amount` bytes (more than 0) along plan `plan` at time `now`, at a rate of
  /// `rate_cap` at most.
  virtual void start(std::int32_t plan, Bytes amount, BytesPerSecond rate_cap, std::int32_t token,
                     double now) = 0;

  /// Told of every flow that is under way: what `start` was given, and the bytes that have not
  /// arrived by `now`.
  using UnderWay = std::function<void(std::int32_t token, double bytes)>;
  virtual void tell_under_way(const UnderWay& tell, double now) const = 0;

  /// Called once all that happens at `now` has been said, before time goes on.
  virtual void settle(double now) = 0;
};

}  // namespace headway
