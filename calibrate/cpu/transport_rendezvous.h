#pragma once

#include "calibrate/cpu/transport.h"
#include "calibrate/suite/star_rendezvous.h"

namespace headway {

/// Ranks that meet over point-to-point messages. `transport` outlives this object.
class TransportRendezvous final : public StarRendezvous {
 public:
  explicit TransportRendezvous(Transport& transport) : transport_(transport) {}
  [[nodiscard]] int rank() const override { return transport_.rank(); }
  [[nodiscard]] int size() const override { return transport_.size(); }

 private:
  void send(std::span<const std::byte> bytes, int to) override { transport_.send(bytes, to); }
  void receive(std::span<std::byte> bytes, int from) override { transport_.receive(bytes, from); }

  Transport& transport_;
};

/// The largest value among the first `ranks` ranks, which all call it; returns when all have.
[[nodiscard]] double group_max(Transport& transport, int ranks, double value);

}  // namespace headway
