#include "calibrate/cpu/transport_rendezvous.h"

#include <algorithm>

namespace headway {

std::vector<double> TransportRendezvous::all_gather(double value) {
  std::vector<double> values(static_cast<std::size_t>(size()), value);
  if (rank() == 0) {
    for (int peer = 1; peer < size(); ++peer) {
      const std::span<double> one(&values[static_cast<std::size_t>(peer)], 1);
      transport_.receive(std::as_writable_bytes(one), peer);
    }
  } else {
    transport_.send(std::as_bytes(std::span(&value, 1)), 0);
  }
  broadcast(std::as_writable_bytes(std::span(values)));
  return values;
}

void TransportRendezvous::broadcast(std::span<std::byte> bytes) {
  if (rank() != 0) {
    transport_.receive(bytes, 0);
    return;
  }
  for (int peer = 1; peer < size(); ++peer) transport_.send(bytes, peer);
}

double group_max(Transport& transport, int ranks, double value) {
  const std::span<double> mine(&value, 1);
  if (transport.rank() != 0) {
    transport.send(std::as_bytes(mine), 0);
    transport.receive(std::as_writable_bytes(mine), 0);
    return value;
  }
  for (int peer = 1; peer < ranks; ++peer) {
    double other = 0.0;
    transport.receive(std::as_writable_bytes(std::span(&other, 1)), peer);
    value = std::max(value, other);
  }
  for (int peer = 1; peer < ranks; ++peer) transport.send(std::as_bytes(mine), peer);
  return value;
}

}  // namespace headway
