#include "calibrate/cpu/rank_network.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// $1 ranks, $2 bits a second, $3 bytes of burst; the rest is the command. /run is a folder of our
/// own, as `ip netns` keeps its names there and Open MPI the files it names after hosts and
/// processes, which are called the same in two networks at once. The congestion control is the same
/// on all machines where it can be chosen: some probe the bandwidth, others fill it. Packets, which
/// the kernel makes up to 64 KiB long, stay well below the bucket: it would cut larger ones into
/// frames, at a cost in processor time that halved the rate of eight ranks on two cores.
constexpr const char* kSetUp = R"(
ranks=$1 rate=$2 burst=$3
shift 3
mount -t tmpfs none /run
mkdir /run/netns /run/tmp
export TMPDIR=/run/tmp
printf '%s\n' '#!/bin/sh' 'host=$1; shift' \
  'exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"' >/run/headway-rank-shell
chmod +x /run/headway-rank-shell
ip link set lo up
ip link add ranks type bridge
ip addr add 10.99.255.254/16 dev ranks
ip link set ranks up
i=0
while [ $i -lt $ranks ]; do
  ip netns add r$i
  ip link add cable$i type veth peer name cable netns r$i
  ip link set cable$i master ranks up
  ip -n r$i addr add 10.99.$((i / 250)).$((i % 250 + 1))/16 dev cable
  ip -n r$i link set cable gso_max_size 16384 up
  ip link set cable$i gso_max_size 16384
  ip -n r$i link set lo up
  ip netns exec r$i sysctl -qw net.ipv4.tcp_congestion_control=cubic 2>/dev/null || true
  tc -n r$i qdisc add dev cable root tbf rate ${rate}bit burst $burst latency 50ms
  tc qdisc add dev cable$i root tbf rate ${rate}bit burst $burst latency 50ms
  i=$((i + 1))
done
exec "$@")";

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace

Bytes RankNetwork::burst() const { return max(32.0_KiB, rate * 2.5_ms); }

std::vector<std::string> inside(const RankNetwork& network,
                                const std::vector<std::string>& command) {
  // Processes in a namespace of their own end with the first of them.
  std::vector<std::string> all = {"unshare", "--net",        "--mount",     "--pid",
                                  "--fork",  "--kill-child", "--mount-proc"};
  // Whoever is not root becomes it inside of a namespace of users.
  if (geteuid() != 0) all.insert(all.end(), {"--user", "--map-root-user"});
  all.insert(all.end(), {"sh", "-e", "-c", kSetUp, "rank-network", fmt::format("{}", network.ranks),
                         fmt::format("{:.0f}", 8.0 * network.rate.count()),
                         fmt::format("{:.0f}", network.burst().count())});
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

Ended run_command(const std::vector<std::string>& command) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) {
    throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    throw EnvironmentError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    execvp(arguments[0], arguments.data());
    dprintf(STDERR_FILENO, "%s: %s\n", arguments[0], std::strerror(errno));
    _exit(127);
  }
  close(pipe_ends[1]);
  Ended ended;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = read(pipe_ends[0], buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    ended.errors.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

void check_rank_network(const RankNetwork& network, const RunCommand& run) {
  const Ended ended = run(inside(network, {"true"}));
  if (ended.code == 0) return;
  throw EnvironmentError(fmt::format(
      "--net cannot give the ranks links of their own here: {}; it needs unshare, ip and tc "
      "(Debian: util-linux, iproute2) and a kernel that lets this user make network namespaces",
      last_line(ended.errors)));
}

}  // namespace headway
