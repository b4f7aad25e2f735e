#include "calibrate/mpi/mpi_session.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

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

/// Polls instead of waiting in MPI, which would spin on a core that a peer or a timer needs, and
/// would never come back from a rank that is gone.
class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm communicator, Seconds deadline, bool has_a_core)
      : communicator_(communicator), deadline_(deadline), has_a_core_(has_a_core) {
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
    wait(requests, in.empty() ? to : from);
  }

 private:
  [[nodiscard]] static int length(std::size_t bytes) {
    HEADWAY_CHECK(bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                  "a message too long for MPI");
    return static_cast<int>(bytes);
  }

  /// Longer after a longer wait: ranks that take no part in a measurement leave the cores to those
  /// that do, and nobody is late by more than a hundredth of its wait.
  static void sleep_for(Seconds time) {
    const timespec pause{0, static_cast<long>(1e9 * time.count())};
    nanosleep(&pause, nullptr);
  }

  void wait(MPI_Request* requests, int peer) const {
    const Seconds start = steady_now();
    for (;;) {
      int done = 0;
      check(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
      if (done != 0) return;
      throw_if_interrupted();
      const Seconds waited = steady_now() - start;
      if (waited > deadline_) {
        throw EnvironmentError(fmt::format("rank {} did not answer rank {} within {:.0f} s", peer,
                                           rank_, deadline_.count()));
      }
      if (has_a_core_ && waited < 100.0_us) continue;
      sleep_for(std::clamp(waited / 100.0, 20.0_us, 1.0_ms));
    }
  }

  MPI_Comm communicator_;
  Seconds deadline_;
  bool has_a_core_;  ///< to spin on for a while
  int rank_ = 0;
  int size_ = 1;
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
  MPI_Comm_rank(node, &local_rank_);
  MPI_Comm_size(node, &local_size_);
  MPI_Comm_free(&node);
  prctl(PR_SET_TIMERSLACK, 1);  // else a sleep of 20 us takes 70
}

MpiSession::~MpiSession() { MPI_Finalize(); }

std::unique_ptr<Transport> MpiSession::transport(Seconds deadline) {
  MPI_Comm own = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &own), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  const bool has_a_core = local_size_ > 1 && local_size_ <= sysconf(_SC_NPROCESSORS_ONLN);
  return std::make_unique<MpiTransport>(own, deadline, has_a_core);
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
