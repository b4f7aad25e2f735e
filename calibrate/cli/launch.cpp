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

}  // namespace

int default_ranks() { return sysconf(_SC_NPROCESSORS_ONLN) >= 2 && is_on_path("mpirun") ? 2 : 1; }

void launch_ranks(int ranks) {
  std::vector<std::string> command = {"mpirun",    "-np",  fmt::format("{}", ranks),
                                      "--bind-to", "none", "--oversubscribe"};
  // mpirun refuses root unless told; whoever runs us as root has decided already.
  if (geteuid() == 0) command.emplace_back("--allow-run-as-root");
  command.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  const std::vector<std::string> own = own_arguments();
  if (!own.empty()) command.insert(command.end(), own.begin() + 1, own.end());

  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  // Ranks measure one thread each; OpenBLAS would start one for every core as it is loaded.
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  execvp(arguments[0], arguments.data());
  throw EnvironmentError(fmt::format("cannot start mpirun: {}", std::strerror(errno)));
}

}  // namespace headway
