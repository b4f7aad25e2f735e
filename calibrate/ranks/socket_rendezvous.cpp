#include "calibrate/ranks/socket_rendezvous.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "calibrate/suite/interruption.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

using Clock = std::chrono::steady_clock;

/// What a rank says first; another program that finds the port does not, and a rank of another run
/// has another secret.
struct Greeting {
  std::array<char, 8> name = {'h', 'e', 'a', 'd', 'w', 'a', 'y', '2'};
  std::array<char, 32> secret = {};
  std::int32_t rank = 0;
  std::int32_t size = 0;
};

Greeting greeting_of(const RankPlace& place) {
  Greeting greeting;
  std::copy_n(place.secret.begin(), std::min(place.secret.size(), greeting.secret.size()),
              greeting.secret.begin());
  greeting.rank = place.rank;
  greeting.size = place.size;
  return greeting;
}

class TimeLeft {
 public:
  explicit TimeLeft(Seconds deadline)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(deadline.count()))) {}
  [[nodiscard]] bool is_over() const { return Clock::now() >= end_; }

 private:
  Clock::time_point end_;
};

/// Waits until a socket can be used for `events`; false when the time is over.
bool is_ready(int socket, short events, const TimeLeft& time) {
  while (!time.is_over()) {
    throw_if_interrupted();
    pollfd waiting{socket, events, 0};
    if (poll(&waiting, 1, 100) > 0) return true;
  }
  return false;
}

enum class Moved { all, ended, late };

/// Sends or receives all of `bytes` by `call`, send or recv.
template <class Call, class Byte>
Moved moved(int socket, short events, std::span<Byte> bytes, const TimeLeft& time, Call call) {
  while (!bytes.empty()) {
    if (!is_ready(socket, events, time)) return Moved::late;
    const ssize_t count = call(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return Moved::ended;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return Moved::all;
}
Moved sent(int socket, std::span<const std::byte> bytes, const TimeLeft& time) {
  return moved(socket, POLLOUT, bytes, time, ::send);
}
Moved received(int socket, std::span<std::byte> bytes, const TimeLeft& time) {
  return moved(socket, POLLIN, bytes, time, ::recv);
}

void send_at_once(int socket) {
  const int on = 1;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// A socket that all of this machine's addresses lead to, IPv4's too.
int listening_socket(int port, int most) {
  const int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  const int off = 0;
  (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  (void)setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(static_cast<std::uint16_t>(port));
  if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&any), sizeof any) != 0 ||
      listen(listener, most) != 0) {
    const std::string why = std::strerror(errno);
    if (listener >= 0) close(listener);
    throw EnvironmentError(
        fmt::format("rank 0 cannot wait for the others at port {}: {}; set "
                    "MASTER_PORT on all ranks to one that is free",
                    port, why));
  }
  return listener;
}

/// A connection to an address, or -1: nobody there, or not yet.
int connected_socket(const addrinfo& addresses) {
  for (const addrinfo* one = &addresses; one != nullptr; one = one->ai_next) {
    const int type = one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK;
    const int candidate = socket(one->ai_family, type, one->ai_protocol);
    if (candidate < 0) continue;
    if (connect(candidate, one->ai_addr, one->ai_addrlen) == 0) return candidate;
    // An address that does not answer must not outlast the deadline.
    int problem = errno;
    socklen_t length = sizeof problem;
    if (problem == EINPROGRESS && is_ready(candidate, POLLOUT, TimeLeft(1.0_s)) &&
        getsockopt(candidate, SOL_SOCKET, SO_ERROR, &problem, &length) == 0 && problem == 0) {
      return candidate;
    }
    close(candidate);
  }
  return -1;
}

}  // namespace

SocketRendezvous::SocketRendezvous(const RankPlace& place, Seconds deadline)
    : place_(place), deadline_(deadline) {
  if (place_.size == 1) return;
  if (place_.address.empty()) {
    throw EnvironmentError(
        "a launcher started ranks, but nothing tells where they meet: set MASTER_ADDR to the host "
        "of rank 0");
  }
  sockets_.assign(static_cast<std::size_t>(place_.size), -1);
  try {
    place_.rank == 0 ? meet_the_others() : find_rank_0();
  } catch (...) {
    close_all();
    throw;
  }
}

SocketRendezvous::~SocketRendezvous() { close_all(); }

void SocketRendezvous::close_all() {
  for (int& one : sockets_) {
    if (one >= 0) close(one);
    one = -1;
  }
}

void SocketRendezvous::meet_the_others() {
  const TimeLeft time(deadline_);
  const int listener =
      place_.listener >= 0 ? place_.listener : listening_socket(place_.port, place_.size);
  const std::unique_ptr<const int, void (*)(const int*)> closer(
      &listener, [](const int* one) { close(*one); });
  const Greeting own = greeting_of(place_);
  for (int missing = place_.size - 1; missing > 0;) {
    if (!is_ready(listener, POLLIN, time)) {
      throw EnvironmentError(fmt::format("{} of {} ranks did not come to port {} within {:.0f} s",
                                         missing, place_.size, place_.port, deadline_.count()));
    }
    const int peer = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) continue;
    Greeting heard;
    heard.name = {};
    const auto bytes = std::as_writable_bytes(std::span(&heard, 1));
    // A stranger gets a second, and does not hold the ranks up longer.
    const bool is_rank = received(peer, bytes, TimeLeft(1.0_s)) == Moved::all &&
                         heard.name == own.name && heard.secret == own.secret &&
                         heard.size == place_.size &&
                         heard.rank > 0 && heard.rank < place_.size &&
                         sockets_[static_cast<std::size_t>(heard.rank)] < 0;
    if (!is_rank) {
      close(peer);
      continue;
    }
    send_at_once(peer);
    sockets_[static_cast<std::size_t>(heard.rank)] = peer;
    --missing;
  }
}

void SocketRendezvous::find_rank_0() {
  const TimeLeft time(deadline_);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", place_.port);
  const int problem = getaddrinfo(place_.address.c_str(), port.c_str(), &hints, &found);
  if (problem != 0) {
    throw EnvironmentError(
        fmt::format("nobody knows rank 0's host {}: {}", place_.address, gai_strerror(problem)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  int& socket = sockets_.front();
  // Rank 0 may start later than we do.
  while ((socket = connected_socket(*addresses)) < 0) {
    throw_if_interrupted();
    if (time.is_over()) {
      throw EnvironmentError(fmt::format("rank {} found no rank 0 at {} port {} within {:.0f} s",
                                         place_.rank, place_.address, place_.port,
                                         deadline_.count()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  send_at_once(socket);
  const Greeting greeting = greeting_of(place_);
  send(std::as_bytes(std::span(&greeting, 1)), 0);
}

void SocketRendezvous::send(std::span<const std::byte> bytes, int to) {
  const Moved result = sent(sockets_[static_cast<std::size_t>(to)], bytes, TimeLeft(deadline_));
  if (result != Moved::all) throw EnvironmentError(fmt::format("rank {} is gone", to));
}

void SocketRendezvous::receive(std::span<std::byte> bytes, int from) {
  const Moved result =
      received(sockets_[static_cast<std::size_t>(from)], bytes, TimeLeft(deadline_));
  if (result == Moved::ended) throw EnvironmentError(fmt::format("rank {} is gone", from));
  if (result == Moved::late) {
    throw EnvironmentError(fmt::format("rank {} did not answer rank {} within {:.0f} s", from,
                                       place_.rank, deadline_.count()));
  }
}

}  // namespace headway
