#include "calibrate/cli/launch.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/cli/end_notice.h"
#include "calibrate/cpu/thread_clock.h"
#include "calibrate/ranks/own_processes.h"
#include "calibrate/suite/interruption.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access(folder.append("/").append(program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// One host a rank, reached over the network's cables alone.
void add_network(std::vector<std::string>& command, int ranks) {
  std::string hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts += fmt::format("{}r{}", rank > 0 ? "," : "", rank);
  const std::pair<const char*, const char*> settings[] = {
      {"plm", "rsh"},
      {"plm_rsh_agent", kRankShell},
      {"plm_rsh_no_tree_spawn", "1"},
      {"oob_tcp_if_include", kRankSubnet},
      {"btl_tcp_if_include", kRankSubnet},
      {"pml", "ob1"},
      {"btl", "self,tcp"},
      // Above the longest message of a calibration. Longer ones wait for the receiver's answer, and
      // where both directions are in use reach half the rate only.
      {"btl_tcp_eager_limit", "5000000"},
      {"btl_tcp_free_list_inc", "8"}};  // buffers of that size at a time
  command.insert(command.end(), {"--host", hosts});
  for (const auto& [name, value] : settings) command.insert(command.end(), {"--mca", name, value});
}

/// The process that a child waits for, or the child itself.
pid_t innermost(pid_t child) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", child));
  pid_t inner = child;
  return file >> inner ? inner : child;
}

/// Waits for the launcher; returns its exit code, or 128 and the signal's number if one killed it.
/// A launcher that has lost the way to a rank may wait for it for ever: it is killed some seconds
/// after a rank said that it is over, and the code is the rank's.
int code_of(pid_t launcher, const EndNotice& notice, bool is_wrapped) {
  constexpr Seconds kPatience = 10.0_s;
  int passed_on = 0;
  std::optional<Seconds> noticed;
  for (;;) {
    int status = 0;
    if (waitpid(launcher, &status, WNOHANG) == launcher) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    const int signal = interrupting_signal();
    if (signal != 0 && signal != passed_on) {
      kill(is_wrapped ? innermost(launcher) : launcher, passed_on = signal);
    }
    if (!noticed && notice.code()) noticed = steady_now();
    if (noticed && steady_now() - *noticed > kPatience) {
      kill(launcher, SIGKILL);
      (void)waitpid(launcher, &status, 0);
      return *notice.code();
    }
    const timespec pause{0, 50'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

int default_ranks() { return sysconf(_SC_NPROCESSORS_ONLN) >= 2 && is_on_path("mpirun") ? 2 : 1; }

int launch_ranks(int ranks, const std::optional<RankNetwork>& network) {
  std::vector<std::string> command = {
      "mpirun",          "-np", fmt::format("{}", ranks), "--bind-to", "none",
      "--oversubscribe", "-x",  EndNotice::kVariable};
  // mpirun refuses root unless told; whoever runs us as root has decided already, and whoever is
  // not becomes it in the network's namespace.
  if (network || geteuid() == 0) command.emplace_back("--allow-run-as-root");
  if (network) add_network(command, ranks);
  const std::vector<std::string> own = own_command();
  command.insert(command.end(), own.begin(), own.end());
  if (network) {
    check_rank_network(*network);
    command = inside(*network, command);
  }
  // Ranks measure one thread each; OpenBLAS would start one for every core as it is loaded.
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  const EndNotice notice;
  const pid_t launcher = started(command, network ? SIGKILL : SIGTERM);
  const int code = code_of(launcher, notice, network.has_value());
  // mpirun forgets that we interrupted it; the ranks do not.
  if (interrupting_signal() != 0 && notice.code()) return *notice.code();
  // What the ranks themselves end with (headway-calibrate --help); all else was done to them.
  for (const int own_code : {0, 2, 3, 70, 130}) {
    if (code == own_code) return code;
  }
  throw EnvironmentError(fmt::format(
      "the ranks did not end by themselves (mpirun: exit code {}); what they wrote is kept", code));
}

}  // namespace headway
