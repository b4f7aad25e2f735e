#pragma once

#include <vector>

#include "calibrate/ranks/rank_place.h"
#include "calibrate/suite/star_rendezvous.h"
#include "sim/base/units.h"

namespace headway {

/// Ranks that meet over TCP at rank 0, where no MPI stands between them. Every rank constructs one;
/// the constructor returns once all are there that know the secret of the place, and throws EnvironmentError after `deadline`, as all
/// calls do, or Interrupted.
class SocketRendezvous final : public StarRendezvous {
 public:
  /// Requires an address, unless this is the only rank.
  SocketRendezvous(const RankPlace& place, Seconds deadline);
  ~SocketRendezvous() override;
  SocketRendezvous(const SocketRendezvous&) = delete;
  SocketRendezvous& operator=(const SocketRendezvous&) = delete;

  [[nodiscard]] int rank() const override { return place_.rank; }
  [[nodiscard]] int size() const override { return place_.size; }

 private:
  void send(std::span<const std::byte> bytes, int to) override;
  void receive(std::span<std::byte> bytes, int from) override;
  void meet_the_others();
  void find_rank_0();
  void close_all();

  RankPlace place_;
  Seconds deadline_;
  std::vector<int> sockets_;  ///< by rank: rank 0 holds one to each other, they one to rank 0
};

}  // namespace headway
