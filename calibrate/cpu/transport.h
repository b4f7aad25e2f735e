#pragma once

#include <cstddef>
#include <span>

namespace headway {

/// Point-to-point messages between ranks. Messages of one pair arrive in the order they were sent.
/// A call that waits too long for its peer throws EnvironmentError.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Sends `out` to rank `to` and receives `in`, of exactly its size, from rank `from`, both at
  /// once. An empty span neither sends nor receives.
  virtual void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in,
                        int from) = 0;

  void send(std::span<const std::byte> out, int to) { exchange(out, to, {}, rank()); }
  void receive(std::span<std::byte> in, int from) { exchange({}, rank(), in, from); }
};

}  // namespace headway
