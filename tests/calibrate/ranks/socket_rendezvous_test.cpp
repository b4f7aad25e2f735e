#include "calibrate/ranks/socket_rendezvous.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// A port that nobody used a moment ago.
int free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  EXPECT_EQ(bind(probe, reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length), 0);
  close(probe);
  return ntohs(address.sin_port);
}

/// What went wrong on each rank, run as threads; empty where nothing did.
std::vector<std::string> problems(int ranks, Seconds deadline,
                                  const std::function<void(Rendezvous&)>& body,
                                  std::optional<int> absent = {}) {
  const int port = free_port();
  std::vector<std::string> result(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == absent) continue;
    threads.emplace_back([&, rank] {
      try {
        SocketRendezvous rendezvous({rank, ranks, rank, "127.0.0.1", port}, deadline);
        body(rendezvous);
      } catch (const EnvironmentError& error) {
        result[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return result;
}

TEST(SocketRendezvous, WhoDoesNotKnowTheSecretIsNoRank) {
  const int port = free_port();
  std::string of_stranger;
  std::thread stranger([&] {
    try {
      RankPlace place{1, 2, 1, "127.0.0.1", port};
      place.secret = "another";
      SocketRendezvous rendezvous(place, 60.0_s);
      rendezvous.barrier();
    } catch (const EnvironmentError& error) {
      of_stranger = error.what();
    }
  });
  RankPlace place{0, 2, 0, "127.0.0.1", port};
  place.secret = "0123456789abcdef0123456789abcdef";
  try {
    SocketRendezvous rendezvous(place, 2.0_s);
    FAIL() << "a stranger was let in";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()),
              "1 of 2 ranks did not come to port " + std::to_string(port) + " within 2 s");
  }
  stranger.join();
  EXPECT_EQ(of_stranger, "rank 0 is gone");
}

TEST(SocketRendezvous, GathersAndBroadcasts) {
  const auto failed = problems(3, 60.0_s, [](Rendezvous& rendezvous) {
    EXPECT_EQ(rendezvous.size(), 3);
    rendezvous.barrier();
    EXPECT_EQ(rendezvous.all_gather(10.0 + rendezvous.rank()),
              (std::vector<double>{10.0, 11.0, 12.0}));
    std::vector<int> data(100000, rendezvous.rank() == 0 ? 42 : 0);
    rendezvous.broadcast(std::as_writable_bytes(std::span(data)));
    EXPECT_EQ(data, std::vector<int>(100000, 42));
  });
  EXPECT_EQ(failed, std::vector<std::string>(3));
}

TEST(SocketRendezvous, OfOneRankNeedsNoAddress) {
  SocketRendezvous alone({}, 1.0_s);
  EXPECT_EQ(alone.all_gather(3.0), std::vector<double>{3.0});
  alone.barrier();
}

TEST(SocketRendezvous, WithoutAnAddressSaysWhatToSet) {
  try {
    SocketRendezvous nowhere({1, 2, 1, "", 29500}, 1.0_s);
    FAIL() << "met nobody";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("set MASTER_ADDR"), std::string::npos);
  }
}

TEST(SocketRendezvous, EndsAtItsDeadlineWithoutARank) {
  const auto failed = problems(3, 0.3_s, [](Rendezvous& rendezvous) { rendezvous.barrier(); }, 2);
  EXPECT_NE(failed[0].find(" of 3 ranks did not come to port"), std::string::npos) << failed[0];
  EXPECT_NE(failed[1].find("rank 0"), std::string::npos) << failed[1];
}

TEST(SocketRendezvous, ARankThatEndsIsNoticedAtOnce) {
  const auto failed = problems(2, 60.0_s, [](Rendezvous& rendezvous) {
    if (rendezvous.rank() == 1) return;
    rendezvous.barrier();
  });
  EXPECT_EQ(failed[0], "rank 1 is gone");
}

TEST(SocketRendezvous, StrangersAtThePortAreSentAway) {
  const int port = free_port();
  std::thread first([port] {
    SocketRendezvous rendezvous({0, 2, 0, "127.0.0.1", port}, 60.0_s);
    EXPECT_EQ(rendezvous.all_gather(1.0), (std::vector<double>{1.0, 2.0}));
  });
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int stranger = -1;
  do {
    if (stranger >= 0) close(stranger);
    stranger = socket(AF_INET, SOCK_STREAM, 0);
  } while (connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0);
  const std::string request = "GET / HTTP/1.1\r\nHost: rank0\r\n\r\n";
  EXPECT_GT(send(stranger, request.data(), request.size(), MSG_NOSIGNAL), 0);
  SocketRendezvous rendezvous({1, 2, 1, "localhost", port}, 60.0_s);
  EXPECT_EQ(rendezvous.all_gather(2.0), (std::vector<double>{1.0, 2.0}));
  first.join();
  close(stranger);
}

}  // namespace
}  // namespace headway
