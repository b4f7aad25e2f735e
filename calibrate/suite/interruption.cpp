#include "calibrate/suite/interruption.h"

#include <fmt/format.h>

#include <csignal>

namespace headway {
namespace {

volatile std::sig_atomic_t g_signal = 0;

void remember(int signal) { g_signal = signal; }

}  // namespace

void watch_for_interruption() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action{};
    action.sa_handler = remember;
    sigaction(signal, &action, nullptr);
  }
}

int interrupting_signal() { return g_signal; }

void throw_if_interrupted() {
  if (g_signal != 0) {
    throw Interrupted(fmt::format("interrupted by {}", g_signal == SIGINT ? "SIGINT" : "SIGTERM"));
  }
}

}  // namespace headway
