#include "calibrate/cli/cpu_ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "calibrate/cpu/cpu_backend.h"
#include "calibrate/cpu/processor_load.h"
#include "calibrate/cpu/transport_rendezvous.h"
#include "calibrate/suite/interruption.h"
#include "sim/base/diagnostic.h"
#ifdef HEADWAY_WITH_MPI
#include "calibrate/cli/end_notice.h"
#include "calibrate/cli/launch.h"
#include "calibrate/mpi/mpi_session.h"
#endif

namespace headway {
#ifdef HEADWAY_WITH_MPI
bool is_mpi_rank() { return MpiSession::is_launched(); }

int on_mpi_rank(const Options& options, const std::function<int(const CpuRank&)>& body) {
  MpiSession session;
  const auto main = session.transport(options.deadline);
  const auto network = session.transport(options.deadline);
  const auto collectives = session.collectives(options.deadline);
  int code = 3;
  try {
    code = body({main.get(), network.get(), collectives.get(), "", MpiSession::library()});
  } catch (const Interrupted& interrupted) {
    fmt::print(stderr, "rank {}: {}\n", session.rank(), interrupted.what());
    code = 130;
  } catch (const EnvironmentError& error) {
    fmt::print(stderr, "rank {}: error: {}\n", session.rank(), error.what());
  }
  // The others may wait for a rank that is gone; only the launcher can end them. A negative answer
  // (1) is everybody's.
  if (code > 1) {
    EndNotice::give(code);
    MpiSession::abort(code);
  }
  return code;
}
#else
bool is_mpi_rank() { return false; }

int on_mpi_rank(const Options& /*options*/, const std::function<int(const CpuRank&)>& /*body*/) {
  throw EnvironmentError("this build was made without MPI");
}
#endif

int on_cpu_ranks(const Options& options, const std::function<int(const CpuRank&)>& body) {
  use_one_blas_thread();
#ifdef HEADWAY_WITH_MPI
  if (is_mpi_rank()) {
    return on_mpi_rank(options, [&body](const CpuRank& rank) {
      TransportRendezvous rendezvous(*rank.main);
      pin_to_core(rank_on_machine(rendezvous) % static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
      return body(rank);
    });
  }
  int ranks = options.ranks == 0 ? default_ranks() : options.ranks;
  if (options.net) ranks = std::max(ranks, 2);
  if (ranks > 1) {
    std::optional<RankNetwork> network;
    if (options.net) network = RankNetwork{ranks, *options.net};
    return launch_ranks(ranks, network);
  }
  return body({nullptr, nullptr, nullptr, "one process was measured; --ranks starts more", ""});
#else
  if (options.ranks > 1 || options.net) {
    throw EnvironmentError("this build cannot start ranks: it was made without MPI");
  }
  return body(
      {nullptr, nullptr, nullptr, "this build measures one process: it was made without MPI", ""});
#endif
}

}  // namespace headway
