#pragma once

namespace headway {

/// 2 where there are as many cores and mpirun stands on the path, else 1.
[[nodiscard]] int default_ranks();

/// Becomes mpirun, which starts this very command line on `ranks` processes. Throws
/// EnvironmentError if it cannot be started.
[[noreturn]] void launch_ranks(int ranks);

}  // namespace headway
