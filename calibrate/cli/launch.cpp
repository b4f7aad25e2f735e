#include "calibrate/cli/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// This process's own command line, byte for byte.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
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

}  // namespace

int default_ranks() { return sysconf(_SC_NPROCESSORS_ONLN) >= 2 && is_on_path("mpirun") ? 2 : 1; }

void launch_ranks(int ranks, const std::optional<RankNetwork>& network) {
  std::vector<std::string> command = {"mpirun",    "-np",  fmt::format("{}", ranks),
                                      "--bind-to", "none", "--oversubscribe"};
  // mpirun refuses root unless told; whoever runs us as root has decided already, and whoever is
  // not becomes it in the network's namespace.
  if (network || geteuid() == 0) command.emplace_back("--allow-run-as-root");
  if (network) add_network(command, ranks);
  command.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  const std::vector<std::string> own = own_arguments();
  if (!own.empty()) command.insert(command.end(), own.begin() + 1, own.end());
  if (network) {
    check_rank_network(*network);
    command = inside(*network, command);
  }
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  // Ranks measure one thread each; OpenBLAS would start one for every core as it is loaded.
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  execvp(arguments[0], arguments.data());
  throw EnvironmentError(fmt::format("cannot start {}: {}", command.front(), std::strerror(errno)));
}

}  // namespace headway
