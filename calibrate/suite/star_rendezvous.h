#pragma once

#include "calibrate/suite/rendezvous.h"

namespace headway {

/// Ranks that meet by way of rank 0: slow for many, and independent of every collective that is
/// measured.
class StarRendezvous : public Rendezvous {
 public:
  void barrier() override { (void)all_gather(0.0); }
  [[nodiscard]] std::vector<double> all_gather(double value) override;
  void broadcast(std::span<std::byte> bytes) override;

 protected:
  /// Between rank 0 and the others alone, in the order of the calls.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual void receive(std::span<std::byte> bytes, int from) = 0;
};

}  // namespace headway
