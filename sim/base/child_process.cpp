#include "sim/base/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
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

#include "sim/base/diagnostic_bytes.h"

#ifdef HEADWAY_COVERAGE
extern "C" void __gcov_dump();
#endif

namespace headway {
namespace {

using Task = std::function<std::string(std::size_t)>;

constexpr std::size_t kStackBytes = std::size_t{1} << 30;  // reserved, touched only as far as used

bool process_is_child = false;
long long forked = 0;

/// What a child sends of each task: this, then the text.
struct AnswerHead {
  ChildOutcome::Status status = ChildOutcome::Status::done;
  bool needs_fresh_child = false;
  std::size_t size = 0;
};

struct ChildWork {
  const Task* task;
  int commands;  ///< numbers of tasks come here
  int answers;
};

bool write_all(int file, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t count = write(file, at, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

/// Returns the number of bytes, 0 at the end of the stream.
std::size_t read_once(int file, void* to, std::size_t size) {
  ssize_t count = -1;
  do {
    count = read(file, to, size);
  } while (count < 0 && errno == EINTR);
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

bool send_answer(int pipe, ChildOutcome::Status status, const std::string& text,
                 bool needs_fresh_child = false) {
  const AnswerHead head{status, needs_fresh_child, text.size()};
  return write_all(pipe, &head, sizeof head) && write_all(pipe, text.data(), text.size());
}

/// Runs a task and tells what became of it. Returns whether more can be run here: what an exception
/// leaves behind is not known.
bool run_task(const Task& task, std::size_t number, int answers) {
  using enum ChildOutcome::Status;
  try {
    return send_answer(answers, done, task(number));
  } catch (const FreshChildNeeded&) {
    send_answer(answers, internal_error, "a task finds even a fresh process in its way", true);
  } catch (const InputError& error) {
    send_answer(answers, input_error, bytes_of(error.diagnostics()));
  } catch (const EnvironmentError& error) {
    send_answer(answers, environment_error, error.what());
  } catch (const std::bad_alloc&) {
    send_answer(answers, environment_error, "there is not enough memory");
  } catch (const std::exception& error) {
    send_answer(answers, internal_error, error.what());
  }
  return false;
}

void* run_tasks(void* argument) {
  auto* work = static_cast<ChildWork*>(argument);
  std::size_t task = 0;
  while (read_once(work->commands, &task, sizeof task) == sizeof task) {
    if (!run_task(*work->task, task, work->answers)) break;
  }
  return nullptr;
}

/// Returns 0 or an error number.
int run_on_deep_stack(ChildWork& work) {
  pthread_attr_t attributes;
  pthread_t thread{};
  if (const int error = pthread_attr_init(&attributes)) return error;
  if (const int error = pthread_attr_setstacksize(&attributes, kStackBytes)) return error;
  if (const int error = pthread_create(&thread, &attributes, run_tasks, &work)) return error;
  return pthread_join(thread, nullptr);
}

[[noreturn]] void child_main(const Task& task, int commands, int answers) {
  process_is_child = true;
  ChildWork work{&task, commands, answers};
  if (const int error = run_on_deep_stack(work)) {
    const std::string text = fmt::format("cannot start a thread with a stack of {} MiB: {}",
                                         kStackBytes >> 20, std::strerror(error));
    send_answer(answers, ChildOutcome::Status::environment_error, text);
  }
#ifdef HEADWAY_COVERAGE
  __gcov_dump();
#endif
  _exit(0);  // no destructors: the objects are the parent's
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
  pid_t process = 0;
  int commands = -1;
  int answers = -1;
  std::size_t task = 0;  ///< that it works on
  std::size_t taken = 0;
  AnswerHead head;
  std::size_t head_bytes = 0;  ///< that have come
  std::string text;
  std::size_t text_bytes = 0;
};

using Pipe = std::array<int, 2>;

Pipe new_pipe() {
  Pipe ends{};
  if (pipe(ends.data()) != 0) {
    throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  return ends;
}

Pipe new_sockets() {
  Pipe ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    throw EnvironmentError(fmt::format("cannot make a pair of sockets: {}", std::strerror(errno)));
  }
  return ends;
}

void close_both(const Pipe& ends) {
  close(ends[0]);
  close(ends[1]);
}

/// Large answers go through in fewer turns. Where the system grants less it is only slower.
void widen(const Pipe& ends) {
  constexpr int kBytes = 1 << 20;
  static_cast<void>(fcntl(ends[1], F_SETPIPE_SZ, kBytes));
}

Child start_child(const Task& task, const std::vector<Child>& others) {
  const Pipe answers = new_pipe();
  const Pipe commands = new_sockets();
  widen(answers);
  std::fflush(nullptr);  // or the child would print buffered text a second time
  const pid_t process = fork();
  if (process < 0) {
    const int error = errno;
    close_both(commands);
    close_both(answers);
    throw EnvironmentError(fmt::format("cannot fork a simulation: {}", std::strerror(error)));
  }
  if (process == 0) {
    close(commands[1]);
    close(answers[0]);
    for (const Child& other : others) {
      close(other.commands);
      close(other.answers);
    }
    child_main(task, commands[0], answers[1]);
  }
  ++forked;
  close(commands[0]);
  close(answers[1]);
  return {.process = process, .commands = commands[1], .answers = answers[0]};
}

void hand_out(Child& child, std::size_t task) {
  child.task = task;
  ++child.taken;
  child.head_bytes = 0;
  child.text_bytes = 0;
  // A child that has died meanwhile cannot be told, which reading its answer finds out.
  static_cast<void>(send(child.commands, &task, sizeof task, MSG_NOSIGNAL));
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
      close(child.commands);
      close(child.answers);
      wait_for_end(child.process);
    }
  }
};

enum class Reading { more, whole, ended };

/// Reads what is there of an answer.
Reading read_some(Child& child) {
  if (child.head_bytes < sizeof child.head) {
    char* const to = reinterpret_cast<char*>(&child.head) + child.head_bytes;
    const std::size_t count = read_once(child.answers, to, sizeof child.head - child.head_bytes);
    if (count == 0) return Reading::ended;
    child.head_bytes += count;
    if (child.head_bytes < sizeof child.head) return Reading::more;
    child.text.resize(child.head.size);
    return child.text.empty() ? Reading::whole : Reading::more;
  }
  const std::size_t count = read_once(child.answers, child.text.data() + child.text_bytes,
                                      child.text.size() - child.text_bytes);
  if (count == 0) return Reading::ended;
  child.text_bytes += count;
  return child.text_bytes == child.text.size() ? Reading::whole : Reading::more;
}

/// Lets a child end, or hears how it did. Returns its status, as waitpid gives it.
int end_child(const Child& child) {
  close(child.commands);
  close(child.answers);
  return wait_for_end(child.process);
}

ChildOutcome outcome_of(Child& child) {
  const ChildOutcome::Status status = child.head.status;
  if (status == ChildOutcome::Status::done) {
    return {.status = status, .output = std::move(child.text)};
  }
  if (status != ChildOutcome::Status::input_error) {
    return {.status = status, .failure = std::move(child.text)};
  }
  std::vector<Diagnostic> problems = problems_of(child.text);
  return {
      .status = status, .failure = InputError(problems).what(), .problems = std::move(problems)};
}

}  // namespace

void run_each_in_children(std::size_t count, const Task& task, int jobs,
                          const std::function<void(std::size_t, ChildOutcome&)>& finished,
                          ChildLife life) {
  HEADWAY_CHECK(jobs >= 1, "at least one child at a time");
  RunningChildren children;
  std::vector<Child>& running = children.all;
  std::size_t next = 0;
  while (next < count || !running.empty()) {
    while (next < count && std::ssize(running) < jobs) {
      running.push_back(start_child(task, running));
      hand_out(running.back(), next++);
    }
    std::vector<pollfd> waiting;
    waiting.reserve(running.size());
    for (const Child& child : running) waiting.push_back({child.answers, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw EnvironmentError(fmt::format("cannot wait for simulations: {}", std::strerror(errno)));
    }
    for (std::size_t i = running.size(); i-- > 0;) {
      Child& child = running[i];
      if (waiting[i].revents == 0) continue;
      const Reading reading = read_some(child);
      if (reading == Reading::more) continue;
      const std::size_t number = child.task;
      if (reading == Reading::whole && child.head.needs_fresh_child && child.taken > 1) {
        end_child(child);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
        running.push_back(start_child(task, running));
        hand_out(running.back(), number);
        continue;
      }
      ChildOutcome outcome;
      if (reading == Reading::whole) outcome = outcome_of(child);
      const bool goes_on = life == ChildLife::many_tasks && reading == Reading::whole &&
                           outcome.status == ChildOutcome::Status::done && next < count;
      if (goes_on) {
        hand_out(child, next++);
      } else {
        const int status = end_child(child);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
        if (reading == Reading::ended) {
          outcome = {.status = ChildOutcome::Status::died, .failure = death_text(status)};
        }
      }
      finished(number, outcome);
    }
  }
}

std::vector<ChildOutcome> run_in_children(
    const std::vector<std::function<std::string()>>& tasks, int jobs,
    const std::function<void(std::size_t, ChildOutcome&)>& finished, ChildLife life) {
  std::vector<ChildOutcome> outcomes(tasks.size());
  run_each_in_children(
      tasks.size(), [&](std::size_t number) { return tasks[number](); }, jobs,
      [&](std::size_t number, ChildOutcome& outcome) {
        outcomes[number] = std::move(outcome);
        if (finished) finished(number, outcomes[number]);
      },
      life);
  return outcomes;
}

bool in_child() { return process_is_child; }

AsChild::AsChild() : before_(std::exchange(process_is_child, true)) {}
AsChild::~AsChild() { process_is_child = before_; }

long long children_forked() { return forked; }

std::string output_or_throw(ChildOutcome outcome) {
  switch (outcome.status) {
    case ChildOutcome::Status::done:
      return std::move(outcome.output);
    case ChildOutcome::Status::input_error:
      if (!outcome.problems.empty()) throw InputError(std::move(outcome.problems));
      throw InputError(Diagnostic{.message = outcome.failure});
    case ChildOutcome::Status::environment_error:
      throw EnvironmentError(outcome.failure);
    case ChildOutcome::Status::internal_error:
    case ChildOutcome::Status::died:
      break;
  }
  throw InternalError(outcome.failure);
}

}  // namespace headway
