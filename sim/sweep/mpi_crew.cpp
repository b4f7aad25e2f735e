#include "sim/sweep/mpi_crew.h"

#include <array>
#include <cstdint>
#include <cstdlib>

#include "sim/base/diagnostic.h"
#include "sim/base/parse_number.h"

#ifdef HEADWAY_WITH_MPI
#include <mpi.h>
#include <time.h>
#endif

namespace headway {
namespace {

/// That a variable of the environment has; 0 if it has none.
int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : parse_number<int>(text).value_or(0);
}

}  // namespace

bool MpiCrew::is_called_for() {
  // Open MPI; MPICH and Intel MPI; Slurm's srun with either.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"}) {
    if (number_in(name) > 1) return true;
  }
  return std::getenv("PMIX_RANK") != nullptr && number_in("SLURM_NTASKS") > 1;
}

#ifdef HEADWAY_WITH_MPI

namespace {

constexpr std::int64_t kNoMore = -1;
constexpr int kTaskTag = 1;
constexpr int kAnswerTag = 2;

/// What a follower says. The text of an answer follows; the first thing it says has none.
struct AnswerHead {
  std::int64_t task = kNoMore;  ///< its place
  std::int64_t status = 0;
};

int rank_here() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int followers() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size - 1;
}

/// Waits without keeping a core busy, as MPI_Recv would. Returns what has come.
MPI_Status awaited(int source, int tag) {
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 500'000};
  MPI_Status status{};
  int has_come = 0;
  while (true) {
    MPI_Iprobe(source, tag, MPI_COMM_WORLD, &has_come, &status);
    if (has_come != 0) return status;
    nanosleep(&kPause, nullptr);
  }
}

/// What the leader says: a place in its list of tasks, and what stands there.
using TaskMessage = std::array<std::int64_t, 2>;
constexpr TaskMessage kGoHome = {kNoMore, 0};

void send_task(int to, const TaskMessage& task) {
  MPI_Send(task.data(), 2, MPI_INT64_T, to, kTaskTag, MPI_COMM_WORLD);
}

std::string message_of(const AnswerHead& head, const std::string& text) {
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + text;
}

void send_answer(const std::string& message) {
  MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, 0, kAnswerTag,
           MPI_COMM_WORLD);
}

struct Answer {
  int from = 0;
  AnswerHead head;
  std::string text;
};

Answer next_answer() {
  const MPI_Status status = awaited(MPI_ANY_SOURCE, kAnswerTag);
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string message(static_cast<std::size_t>(size), '\0');
  MPI_Recv(message.data(), size, MPI_BYTE, status.MPI_SOURCE, kAnswerTag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  Answer answer{status.MPI_SOURCE, {}, message.substr(sizeof(AnswerHead))};
  message.copy(reinterpret_cast<char*>(&answer.head), sizeof answer.head);
  return answer;
}

}  // namespace

MpiCrew::MpiCrew() {
  MPI_Init(nullptr, nullptr);
  if (!leads()) send_answer(message_of({}, ""));
}

MpiCrew::~MpiCrew() {
  if (leads()) {
    for (const int follower : idle_) send_task(follower, kGoHome);
    // The others say something yet: that they are ready, or that a task is done.
    const int busy = followers() - static_cast<int>(idle_.size());
    for (int i = 0; i < busy; ++i) send_task(next_answer().from, kGoHome);
  }
  MPI_Finalize();
}

bool MpiCrew::leads() const { return rank_here() == 0; }

void MpiCrew::lead(const std::vector<std::int64_t>& tasks,
                   const std::function<void(std::size_t, ChildOutcome&)>& finished) {
  std::size_t next = 0;
  for (std::size_t done = 0; done < tasks.size();) {
    const Answer answer = next_answer();
    if (answer.head.task != kNoMore) {
      ChildOutcome outcome;
      outcome.status = static_cast<ChildOutcome::Status>(answer.head.status);
      const bool is_done = outcome.status == ChildOutcome::Status::done;
      (is_done ? outcome.output : outcome.failure) = answer.text;
      finished(static_cast<std::size_t>(answer.head.task), outcome);
      ++done;
    }
    if (next < tasks.size()) {
      send_task(answer.from, {static_cast<std::int64_t>(next), tasks[next]});
      ++next;
    } else {
      idle_.push_back(answer.from);
    }
  }
}

void MpiCrew::follow(const std::function<std::string(std::int64_t)>& task) {
  while (true) {
    awaited(0, kTaskTag);
    TaskMessage message = kGoHome;
    MPI_Recv(message.data(), 2, MPI_INT64_T, 0, kTaskTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const auto [place, number] = message;
    if (place == kNoMore) return;
    const ChildOutcome outcome = run_in_children({[&] { return task(number); }}, 1).front();
    const bool is_done = outcome.status == ChildOutcome::Status::done;
    send_answer(message_of({place, static_cast<std::int64_t>(outcome.status)},
                           is_done ? outcome.output : outcome.failure));
  }
}

#else

MpiCrew::MpiCrew() {
  throw EnvironmentError(
      "this was started as one of several processes, but Headway was built without MPI; use "
      "--shard I/N, or build it with libopenmpi-dev");
}
MpiCrew::~MpiCrew() = default;
bool MpiCrew::leads() const { return true; }
void MpiCrew::lead(const std::vector<std::int64_t>&,
                   const std::function<void(std::size_t, ChildOutcome&)>&) {}
void MpiCrew::follow(const std::function<std::string(std::int64_t)>&) {}

#endif

}  // namespace headway
