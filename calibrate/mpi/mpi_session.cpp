#include "calibrate/mpi/mpi_session.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include "calibrate/cpu/thread_clock.h"
#include "calibrate/suite/interruption.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr int kTag = 7;

void check(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw EnvironmentError(fmt::format("{}: {}", call, text));
}

int length(std::size_t count) {
  HEADWAY_CHECK(count <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                "a message too long for MPI");
  return static_cast<int>(count);
}

/// Waits by asking again and again: waiting in MPI would spin on a core that a peer or a timer
/// needs, and would never come back from a rank that is gone.
struct Patience {
  Seconds deadline;
  bool has_a_core = false;  ///< to spin on for a while

  /// `what` says, at the deadline, who did not do what.
  void wait(std::span<MPI_Request> requests, const std::function<std::string()>& what) const {
    const Seconds start = steady_now();
    for (;;) {
      int done = 0;
      check(MPI_Testall(length(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
            "MPI_Testall");
      if (done != 0) return;
      throw_if_interrupted();
      const Seconds waited = steady_now() - start;
      if (waited > deadline) {
        throw EnvironmentError(fmt::format("{} within {:.0f} s", what(), deadline.count()));
      }
      if (has_a_core && waited < 100.0_us) continue;
      // Longer after a longer wait: ranks that take no part in a measurement leave the cores to
      // those that do, and nobody is late by more than a hundredth of its wait.
      const Seconds time = std::clamp(waited / 100.0, 20.0_us, 1.0_ms);
      const timespec pause{0, static_cast<long>(1e9 * time.count())};
      nanosleep(&pause, nullptr);
    }
  }
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm communicator, const Patience& patience)
      : communicator_(communicator), patience_(patience) {
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in,
                int from) override {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (!in.empty()) {
      check(MPI_Irecv(in.data(), length(in.size()), MPI_BYTE, from, kTag, communicator_,
                      &requests[0]),
            "MPI_Irecv");
    }
    if (!out.empty()) {
      check(MPI_Isend(out.data(), length(out.size()), MPI_BYTE, to, kTag, communicator_,
                      &requests[1]),
            "MPI_Isend");
    }
    patience_.wait(requests, [this, peer = in.empty() ? to : from] {
      return fmt::format("rank {} did not answer rank {}", peer, rank_);
    });
  }

 private:
  MPI_Comm communicator_;
  Patience patience_;
  int rank_ = 0;
  int size_ = 1;
};

class MpiCollectives final : public LibraryCollectives {
 public:
  explicit MpiCollectives(const Patience& patience) : patience_(patience) {}

  void all_reduce(std::span<float> data, int ranks) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(MPI_IN_PLACE, data.data(), length(data.size()), MPI_FLOAT, MPI_SUM,
                         first(ranks), &request),
          "MPI_Iallreduce");
    patience_.wait({&request, 1}, [ranks] {
      return fmt::format("the library's all-reduce among {} ranks did not end", ranks);
    });
  }

 private:
  /// The first ranks alone, of whom all and nobody else call.
  MPI_Comm first(int ranks) {
    const auto [found, is_new] = groups_.try_emplace(ranks, MPI_COMM_NULL);
    if (!is_new) return found->second;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    int range[1][3] = {{0, ranks - 1, 1}};
    check(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
    check(MPI_Group_range_incl(all, 1, range, &some), "MPI_Group_range_incl");
    check(MPI_Comm_create_group(MPI_COMM_WORLD, some, kTag, &found->second),
          "MPI_Comm_create_group");
    MPI_Comm_set_errhandler(found->second, MPI_ERRORS_RETURN);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return found->second;
  }

  Patience patience_;
  std::map<int, MPI_Comm> groups_;
};

}  // namespace

MpiSession::MpiSession() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) {
    throw EnvironmentError("MPI could not be initialised");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &local_size_);
  MPI_Comm_free(&node);
  prctl(PR_SET_TIMERSLACK, 1);  // else a sleep of 20 us takes 70
}

MpiSession::~MpiSession() { MPI_Finalize(); }

std::unique_ptr<Transport> MpiSession::transport(Seconds deadline) {
  MPI_Comm own = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &own), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  return std::make_unique<MpiTransport>(own, Patience{deadline, has_a_core()});
}

std::unique_ptr<LibraryCollectives> MpiSession::collectives(Seconds deadline) const {
  return std::make_unique<MpiCollectives>(Patience{deadline, has_a_core()});
}

bool MpiSession::has_a_core() const {
  return local_size_ > 1 && local_size_ <= sysconf(_SC_NPROCESSORS_ONLN);
}

void MpiSession::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

bool MpiSession::is_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

std::string MpiSession::library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text);
  return version.substr(0, version.find(','));
}

}  // namespace headway
