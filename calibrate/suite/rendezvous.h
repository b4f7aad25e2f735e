#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headway {

/// How the ranks of a calibration meet, apart from the collectives that they measure. Every call is
/// made by all ranks in the same order; one that waits for a rank which does not come throws
/// EnvironmentError after a deadline.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  virtual void barrier() = 0;
  /// Every rank's value, by rank.
  [[nodiscard]] virtual std::vector<double> all_gather(double value) = 0;
  /// Rank 0's bytes, to everybody.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
};

/// One process.
class SingleRendezvous final : public Rendezvous {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void barrier() override {}
  [[nodiscard]] std::vector<double> all_gather(double value) override { return {value}; }
  void broadcast(std::span<std::byte> /*bytes*/) override {}
};

}  // namespace headway
