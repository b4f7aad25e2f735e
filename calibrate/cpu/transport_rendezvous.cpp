#include "calibrate/cpu/transport_rendezvous.h"

#include <algorithm>

namespace headway {

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
