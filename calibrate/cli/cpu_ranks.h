#pragma once

#include <functional>

#include "calibrate/cli/calibrate.h"
#include "calibrate/cpu/library_collectives.h"
#include "calibrate/cpu/transport.h"

namespace headway {

/// A rank of the CPU backend: `main` and `network` carry messages apart from each other; null where
/// there is one process, for the reason `alone`.
struct CpuRank {
  Transport* main = nullptr;
  Transport* network = nullptr;
  LibraryCollectives* collectives = nullptr;
  std::string alone;
  std::string mpi;  ///< library and version
};

/// Whether mpirun or a compatible launcher started this process, and this build knows MPI.
[[nodiscard]] bool is_mpi_rank();
/// Runs `body` as one of the ranks that such a launcher started. Ends all ranks if one fails.
[[nodiscard]] int on_mpi_rank(const Options& options,
                              const std::function<int(const CpuRank&)>& body);

/// Runs `body` on every rank that the options ask for, each on a core of its own: as one of them if
/// a launcher started this process, else by becoming the launcher, else alone.
[[nodiscard]] int on_cpu_ranks(const Options& options,
                               const std::function<int(const CpuRank&)>& body);

}  // namespace headway
