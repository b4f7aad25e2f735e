#include "calibrate/suite/star_rendezvous.h"

namespace headway {

std::vector<double> StarRendezvous::all_gather(double value) {
  std::vector<double> values(static_cast<std::size_t>(size()), value);
  if (rank() == 0) {
    for (int peer = 1; peer < size(); ++peer) {
      const std::span<double> one(&values[static_cast<std::size_t>(peer)], 1);
      receive(std::as_writable_bytes(one), peer);
    }
  } else {
    send(std::as_bytes(std::span(&value, 1)), 0);
  }
  broadcast(std::as_writable_bytes(std::span(values)));
  return values;
}

void StarRendezvous::broadcast(std::span<std::byte> bytes) {
  if (rank() != 0) return receive(bytes, 0);
  for (int peer = 1; peer < size(); ++peer) send(bytes, peer);
}

}  // namespace headway
