#include "sim/sweep/mpi_crew.h"

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/parse_number.h"

#ifdef HEADWAY_WITH_MPI
#include <mpi.h>
#include <time.h>
#endif

namespace headway {
namespace {

/// The number that a variable of the environment has; 0 if it has none.
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

/// What the leader says, and what a follower answers; a text follows. The first thing that a
/// follower says is of no task, and so is the last that it hears.
struct MessageHead {
  std::int64_t task = kNoMore;  ///< its number
  std::int64_t status = 0;      ///< of an answer
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

struct CrewMessage {
  int from = 0;
  MessageHead head;
  std::string text;
};

void send_message(int to, int tag, const MessageHead& head, const std::string& text) {
  const std::string bytes = std::string(reinterpret_cast<const char*>(&head), sizeof head) + text;
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

CrewMessage next_message(int source, int tag) {
  const MPI_Status status = awaited(source, tag);
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CrewMessage message{status.MPI_SOURCE, {}, bytes.substr(sizeof(MessageHead))};
  bytes.copy(reinterpret_cast<char*>(&message.head), sizeof message.head);
  return message;
}

CrewMessage next_answer() { return next_message(MPI_ANY_SOURCE, kAnswerTag); }

void send_home(int follower) { send_message(follower, kTaskTag, {}, ""); }

}  // namespace

MpiCrew::MpiCrew() {
  MPI_Init(nullptr, nullptr);
  if (!leads()) send_message(0, kAnswerTag, {}, "");
}

MpiCrew::~MpiCrew() {
  if (leads()) {
    for (const int follower : idle_) send_home(follower);
    // The others say something yet: that they are ready, or that a task is done.
    const int busy = followers() - static_cast<int>(idle_.size());
    for (int i = 0; i < busy; ++i) send_home(next_answer().from);
  }
  MPI_Finalize();
}

bool MpiCrew::leads() const { return rank_here() == 0; }

void MpiCrew::lead(std::size_t count, const std::function<std::string(std::size_t)>& text,
                   const std::function<void(std::size_t, ChildOutcome&)>& finished) {
  std::size_t next = 0;
  const auto hand_out = [&](int follower) {
    send_message(follower, kTaskTag, {.task = static_cast<std::int64_t>(next)}, text(next));
    ++next;
  };
  while (next < count && !idle_.empty()) {
    hand_out(idle_.back());
    idle_.pop_back();
  }
  for (std::size_t done = 0; done < count;) {
    CrewMessage answer = next_answer();
    if (answer.head.task != kNoMore) {
      ChildOutcome outcome;
      outcome.status = static_cast<ChildOutcome::Status>(answer.head.status);
      const bool is_done = outcome.status == ChildOutcome::Status::done;
      (is_done ? outcome.output : outcome.failure) = std::move(answer.text);
      finished(static_cast<std::size_t>(answer.head.task), outcome);
      ++done;
    }
    if (next < count) {
      hand_out(answer.from);
    } else {
      idle_.push_back(answer.from);
    }
  }
}

void MpiCrew::follow(const std::function<std::string(const std::string&)>& task) {
  while (true) {
    const CrewMessage message = next_message(0, kTaskTag);
    if (message.head.task == kNoMore) return;
    const ChildOutcome outcome = run_in_children({[&] { return task(message.text); }}, 1).front();
    const bool is_done = outcome.status == ChildOutcome::Status::done;
    send_message(0, kAnswerTag, {message.head.task, static_cast<std::int64_t>(outcome.status)},
                 is_done ? outcome.output : outcome.failure);
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
void MpiCrew::lead(std::size_t, const std::function<std::string(std::size_t)>&,
                   const std::function<void(std::size_t, ChildOutcome&)>&) {}
void MpiCrew::follow(const std::function<std::string(const std::string&)>&) {}

#endif

}  // namespace headway
