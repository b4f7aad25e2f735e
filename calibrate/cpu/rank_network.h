#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace headway {

/// A network of the ranks' own: each in a network namespace, with a cable to a common bridge whose
/// rate is limited both ways by a token bucket. Everything stands in namespaces that belong to the
/// processes in them, and is gone with the last of these.
struct RankNetwork {
  int ranks = 2;
  BytesPerSecond rate;

  /// Bytes that a link which stood idle lets through at once: 2.5 ms of its rate. Smaller buckets
  /// do not reach the rate (the kernel refills them in steps of some milliseconds), larger ones
  /// make short messages look infinitely fast.
  [[nodiscard]] Bytes burst() const;
};

/// The command that runs `command` where the network stands, as the network's first process; its
/// ranks are the hosts "r0", "r1", ..., reached by the remote shell `kRankShell`.
[[nodiscard]] std::vector<std::string> inside(const RankNetwork& network,
                                              const std::vector<std::string>& command);
inline constexpr const char* kRankShell = "/run/headway-rank-shell";
inline constexpr const char* kRankSubnet = "10.99.0.0/16";

/// Runs a command to its end and returns its exit code and what it wrote to standard error.
struct Ended {
  int code = 0;
  std::string errors;
};
using RunCommand = std::function<Ended(const std::vector<std::string>&)>;
[[nodiscard]] Ended run_command(const std::vector<std::string>& command);

/// Sets the network up once, for nobody. Throws EnvironmentError saying why if the kernel does not
/// allow it or a program is missing.
void check_rank_network(const RankNetwork& network, const RunCommand& run = run_command);

}  // namespace headway
