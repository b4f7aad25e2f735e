#include "sim/base/child_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

using Task = std::function<std::string()>;

constexpr std::size_t kStackBytes = std::size_t{1} << 30;  // reserved, touched only as far as used

/// First byte of what a child sends; the text follows.
constexpr char kDone = 'd';
constexpr char kEnvironmentError = 'e';
constexpr char kInternalError = 'i';

struct ChildWork {
  const Task* task;
  int pipe;
  bool delivered = false;
};

bool write_all(int file, const std::string& text) {
  const char* at = text.data();
  std::size_t left = text.size();
  while (left > 0) {
    const ssize_t count = write(file, at, left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    left -= static_cast<std::size_t>(count);
  }
  return true;
}

void* run_task(void* argument) {
  auto* work = static_cast<ChildWork*>(argument);
  std::string message;
  try {
    message = kDone + (*work->task)();
  } catch (const EnvironmentError& error) {
    message = kEnvironmentError + std::string(error.what());
  } catch (const std::bad_alloc&) {
    message = kEnvironmentError + std::string("there is not enough memory");
  } catch (const std::exception& error) {
    message = kInternalError + std::string(error.what());
  }
  work->delivered = write_all(work->pipe, message);
  return nullptr;
}

/// Returns 0 or an error number.
int run_on_deep_stack(ChildWork& work) {
  pthread_attr_t attributes;
  pthread_t thread{};
  if (const int error = pthread_attr_init(&attributes)) return error;
  if (const int error = pthread_attr_setstacksize(&attributes, kStackBytes)) return error;
  if (const int error = pthread_create(&thread, &attributes, run_task, &work)) return error;
  return pthread_join(thread, nullptr);
}

[[noreturn]] void child_main(const Task& task, int pipe) {
  ChildWork work{&task, pipe};
  if (const int error = run_on_deep_stack(work)) {
    const std::string text = fmt::format("cannot start a thread with a stack of {} MiB: {}",
                                         kStackBytes >> 20, std::strerror(error));
    work.delivered = write_all(pipe, kEnvironmentError + text);
  }
  _exit(work.delivered ? 0 : 1);  // no destructors: the objects are the parent's
}

std::string death_text(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("a simulation process was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return fmt::format("a simulation process exited with status {}", WEXITSTATUS(status));
}

/// Returns the status, as waitpid gives it.
int wait_for_end(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

struct Child {
  std::size_t task;
  pid_t process;
  int pipe;
  std::string received;
};

Child start_child(const std::vector<Task>& tasks, std::size_t index,
                  const std::vector<Child>& others) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  std::fflush(nullptr);  // or the child would print buffered text a second time
  const pid_t process = fork();
  if (process < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw EnvironmentError(fmt::format("cannot fork a simulation: {}", std::strerror(error)));
  }
  if (process == 0) {
    close(ends[0]);
    for (const Child& other : others) close(other.pipe);
    child_main(tasks[index], ends[1]);
  }
  close(ends[1]);
  return {index, process, ends[0], {}};
}

/// The children under way. Those that an exception leaves behind are killed.
struct RunningChildren {
  std::vector<Child> all;

  RunningChildren() = default;
  RunningChildren(const RunningChildren&) = delete;
  RunningChildren& operator=(const RunningChildren&) = delete;
  ~RunningChildren() {
    for (Child& child : all) {
      kill(child.process, SIGKILL);
      close(child.pipe);
      wait_for_end(child.process);
    }
  }
};

/// Reads what is there. Returns false at the end of the stream.
bool read_some(Child& child) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(child.pipe, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR;
  child.received.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

ChildOutcome reap(Child& child) {
  close(child.pipe);
  const int status = wait_for_end(child.process);
  const bool whole = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !child.received.empty();
  if (!whole) return {ChildOutcome::Status::died, {}, death_text(status)};
  std::string text = child.received.substr(1);
  switch (child.received.front()) {
    case kDone:
      return {ChildOutcome::Status::done, std::move(text), {}};
    case kEnvironmentError:
      return {ChildOutcome::Status::environment_error, {}, std::move(text)};
    default:
      return {ChildOutcome::Status::internal_error, {}, std::move(text)};
  }
}

}  // namespace

std::vector<ChildOutcome> run_in_children(
    const std::vector<Task>& tasks, int jobs,
    const std::function<void(std::size_t, ChildOutcome&)>& finished) {
  HEADWAY_CHECK(jobs >= 1, "at least one child at a time");
  std::vector<ChildOutcome> outcomes(tasks.size());
  RunningChildren children;
  std::vector<Child>& running = children.all;
  std::size_t next = 0;
  while (next < tasks.size() || !running.empty()) {
    while (next < tasks.size() && std::ssize(running) < jobs) {
      running.push_back(start_child(tasks, next++, running));
    }
    std::vector<pollfd> waiting;
    waiting.reserve(running.size());
    for (const Child& child : running) waiting.push_back({child.pipe, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw EnvironmentError(fmt::format("cannot wait for simulations: {}", std::strerror(errno)));
    }
    for (std::size_t i = running.size(); i-- > 0;) {
      if (waiting[i].revents == 0 || read_some(running[i])) continue;
      outcomes[running[i].task] = reap(running[i]);
      const std::size_t task = running[i].task;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      if (finished) finished(task, outcomes[task]);
    }
  }
  return outcomes;
}

std::string output_or_throw(ChildOutcome outcome) {
  switch (outcome.status) {
    case ChildOutcome::Status::done:
      return std::move(outcome.output);
    case ChildOutcome::Status::environment_error:
      throw EnvironmentError(outcome.failure);
    case ChildOutcome::Status::internal_error:
    case ChildOutcome::Status::died:
      break;
  }
  throw InternalError(outcome.failure);
}

}  // namespace headway
