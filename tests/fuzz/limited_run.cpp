#include "tests/fuzz/limited_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace headway {
namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kBoundsMemory = false;
constexpr int kSlowdown = 10;
#else
constexpr bool kBoundsMemory = true;
constexpr int kSlowdown = 1;
#endif

std::string first_megabytes(const fs::path& path) {
  constexpr std::size_t kMost = std::size_t{8} << 20;
  std::ifstream stream(path, std::ios::binary);
  std::string text(kMost, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(kMost));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

void bound(int resource, rlim_t most) {
  const rlimit limit{most, most};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void redirect(const char* path, int flags, int to) {
  const int file = open(path, flags, 0600);
  if (file < 0 || dup2(file, to) < 0) _exit(126);
  close(file);
}

}  // namespace

std::string LimitedRun::ending() const {
  return signal != 0 ? fmt::format("signal {}", signal) : fmt::format("exit code {}", exit_code);
}

LimitedRun limited_run(const std::vector<std::string>& words, const fs::path& folder,
                       const RunBounds& bounds, const std::vector<std::string>& environment) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("cannot fork");
  if (process == 0) {
    if (chdir(folder.c_str()) != 0) _exit(126);
    for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(".stdout", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(".stderr", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    bound(RLIMIT_CPU, static_cast<rlim_t>(kSlowdown * bounds.cpu_seconds));
    if (kBoundsMemory) bound(RLIMIT_AS, bounds.memory_bytes);
    bound(RLIMIT_CORE, 0);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  LimitedRun run;
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
  run.output = first_megabytes(folder / ".stdout");
  run.errors = first_megabytes(folder / ".stderr");
  return run;
}

}  // namespace headway
