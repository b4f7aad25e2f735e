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

/// Runs `body` on every rank that the options ask for: as one of them if a launcher started this
/// process, else by becoming the launcher, else alone. Ends all ranks if one fails.
[[nodiscard]] int on_cpu_ranks(const Options& options,
                               const std::function<int(const CpuRank&)>& body);

}  // namespace headway
