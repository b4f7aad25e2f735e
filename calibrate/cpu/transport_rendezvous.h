#pragma once

#include "calibrate/cpu/transport.h"
#include "calibrate/suite/rendezvous.h"

namespace headway {

/// Ranks that meet over point-to-point messages, by way of rank 0: slow for many, and independent
/// of every collective that is measured. `transport` outlives this object.
class TransportRendezvous final : public Rendezvous {
 public:
  explicit TransportRendezvous(Transport& transport) : transport_(transport) {}
  [[nodiscard]] int rank() const override { return transport_.rank(); }
  [[nodiscard]] int size() const override { return transport_.size(); }
  void barrier() override { (void)all_gather(0.0); }
  [[nodiscard]] std::vector<double> all_gather(double value) override;
  void broadcast(std::span<std::byte> bytes) override;

 private:
  Transport& transport_;
};

/// The largest value among the first `ranks` ranks, which all call it; returns when all have.
[[nodiscard]] double group_max(Transport& transport, int ranks, double value);

}  // namespace headway
