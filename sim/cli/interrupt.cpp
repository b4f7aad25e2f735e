#include "sim/cli/interrupt.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

#include "sim/cli/exit_codes.h"

namespace headway {
namespace {

// What a signal handler may touch: changed only while it cannot run.
std::string farewell_text;
std::string command_line;
pid_t forking_process = 0;

extern "C" void handle_interrupt(int /*signal*/) {
  // Nothing can be done about an error here.
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, farewell_text.data(), farewell_text.size());
  _exit(kExitInterrupted);
}

/// Children fork too, so the process that a child has to outlive changes.
extern "C" void prepare_fork() { forking_process = getpid(); }

/// Holds Ctrl-C back, or lets it through again.
void mask_interrupt(int how) {
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(how, &interrupt, nullptr);
}

/// SimGrid answers Ctrl-C with a status report of its own, so children must not get it.
extern "C" void prepare_child() {
  mask_interrupt(SIG_BLOCK);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != forking_process) _exit(kExitInterrupted);  // it ended before prctl
}

}  // namespace

void end_on_interrupt(const std::string& line) {
  command_line = line;
  farewell_text = "\ninterrupted; nothing was written. To start again: " + line + "\n";
  pthread_atfork(prepare_fork, nullptr, prepare_child);
  std::signal(SIGINT, handle_interrupt);
}

void keep_on_interrupt(const std::string& kept) {
  mask_interrupt(SIG_BLOCK);
  farewell_text = "\ninterrupted; " + kept + ". To go on: " + command_line + "\n";
  mask_interrupt(SIG_UNBLOCK);
}

}  // namespace headway
