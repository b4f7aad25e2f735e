#include "calibrate/ranks/own_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "calibrate/suite/interruption.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// A file that is closed at the end; others that are started do not see it.
class OwnFile {
 public:
  OwnFile(int file, const char* what) : file_(file) {
    if (file < 0) {
      throw EnvironmentError(fmt::format("cannot make {}: {}", what, std::strerror(errno)));
    }
  }
  ~OwnFile() { close(file_); }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;
  operator int() const { return file_; }  // NOLINT: it is one

 private:
  int file_;
};

/// 128 random bits, in hexadecimal digits.
std::string new_secret() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw EnvironmentError("the system gives no random numbers");
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// Listens at a free port of the loopback interface, and says which.
int listen_at_loopback(int socket, int most) {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof here;
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  if (bind(socket, address, length) != 0 || listen(socket, most) != 0 ||
      getsockname(socket, address, &length) != 0) {
    throw EnvironmentError(
        fmt::format("the ranks cannot meet at a port of 127.0.0.1: {}", std::strerror(errno)));
  }
  return ntohs(here.sin_port);
}

void write_whole(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) {
      throw EnvironmentError(fmt::format("cannot keep the input: {}", std::strerror(errno)));
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
}

/// Ranks that run, and what those that ended did.
class Ranks {
 public:
  ~Ranks() {
    send(SIGKILL);
    for (const Rank& rank : processes_) {
      if (!rank.code) (void)waitpid(rank.process, nullptr, 0);
    }
  }
  void add(pid_t process) { processes_.push_back({process, std::nullopt}); }
  void send(int signal) const {
    for (const Rank& rank : processes_) {
      if (!rank.code) kill(rank.process, signal);
    }
  }
  /// Takes note of those that have ended since.
  void look() {
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      Rank& rank = processes_[i];
      int status = 0;
      if (rank.code || waitpid(rank.process, &status, WNOHANG) != rank.process) continue;
      rank.code = WIFEXITED(status) ? WEXITSTATUS(status) : 3;
      if (WIFSIGNALED(status)) {
        fmt::print(stderr, "rank {} was ended by signal {}\n", i, WTERMSIG(status));
      }
      if (code_ == 0) code_ = *rank.code;
    }
  }
  [[nodiscard]] bool all_ended() const {
    return std::all_of(processes_.begin(), processes_.end(),
                       [](const Rank& rank) { return rank.code.has_value(); });
  }
  [[nodiscard]] int code() const { return code_; }

 private:
  struct Rank {
    pid_t process;
    std::optional<int> code;
  };
  std::vector<Rank> processes_;
  int code_ = 0;
};

}  // namespace

std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> command;
  for (std::string argument; std::getline(file, argument, '\0');) command.push_back(argument);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  if (command.empty()) command.emplace_back();
  command.front() = program;
  return command;
}

pid_t started(std::vector<std::string> command, int end_signal,
              const std::vector<std::pair<std::string, std::string>>& variables,
              ChildFiles files) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw EnvironmentError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, end_signal);  // ranks do not outlive who waits for them
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  if (files.inherited >= 0) fcntl(files.inherited, F_SETFD, 0);
  if (files.input >= 0) {
    // Opened anew, so that each child reads it from the beginning.
    const std::string path = fmt::format("/proc/self/fd/{}", files.input);
    dup2(open(path.c_str(), O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  }
  execvp(arguments[0], arguments.data());
  dprintf(STDERR_FILENO, "error: cannot start %s: %s\n", arguments[0], std::strerror(errno));
  _exit(3);
}

int run_as_ranks(int count, const std::string& input, Seconds deadline) {
  const OwnFile listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "a socket");
  const int port = listen_at_loopback(listener, count);
  const OwnFile kept(memfd_create("input", MFD_CLOEXEC), "a file in memory");
  write_whole(kept, input);
  const std::string secret = new_secret();
  Ranks ranks;
  for (int rank = 0; rank < count; ++rank) {
    const std::string number = fmt::format("{}", rank);
    std::vector<std::pair<std::string, std::string>> variables = {
        {"RANK", number},
        {"LOCAL_RANK", number},
        {"WORLD_SIZE", fmt::format("{}", count)},
        {"MASTER_ADDR", "127.0.0.1"},
        {"MASTER_PORT", fmt::format("{}", port)},
        {"HEADWAY_RUN_SECRET", secret}};
    ChildFiles files{.input = kept};
    if (rank == 0) {
      files.inherited = listener;
      variables.emplace_back("HEADWAY_LISTENER", fmt::format("{}", int(listener)));
    }
    ranks.add(started(own_command(), SIGTERM, variables, files));
  }
  constexpr std::chrono::milliseconds kPause(20);
  const double patience = deadline.count() + 10.0;
  double waited = 0.0;  // since one of them failed
  for (int passed_on = 0; !ranks.all_ended(); ranks.look()) {
    const int signal = interrupting_signal();
    if (signal != 0 && signal != passed_on) ranks.send(passed_on = signal);
    if (ranks.code() != 0) waited += 1e-3 * static_cast<double>(kPause.count());
    if (waited > patience) ranks.send(SIGKILL);
    std::this_thread::sleep_for(kPause);
  }
  return ranks.code();
}

}  // namespace headway
