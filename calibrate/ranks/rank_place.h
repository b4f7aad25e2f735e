#pragma once

#include <functional>
#include <optional>
#include <string>

namespace headway {

/// Where a launcher has put this process among its ranks.
struct RankPlace {
  int rank = 0;
  int size = 1;
  int local_rank = 0;   ///< among those of its node: the device that is its own
  std::string address;  ///< where rank 0 waits for the others; empty: not told
  int port = 29500;     ///< as PyTorch chooses
  std::string secret;   ///< that all ranks of the run know; empty: they have none
  int listener = -1;    ///< rank 0's socket, where whoever started it has opened the port already
};

/// Reads an environment variable; null where it is not set.
using Environment = std::function<const char*(const char*)>;

/// The place by the variables of plain environments and torchrun (RANK, WORLD_SIZE, LOCAL_RANK), of
/// mpirun (OMPI_COMM_WORLD_*, PMI_*) or of srun (SLURM_*), the first that there are; nothing for a
/// process that no launcher started. MASTER_ADDR and MASTER_PORT name rank 0's address, as they do
/// for PyTorch; srun's ranks find it on the first of their nodes otherwise. HEADWAY_RUN_SECRET
/// is the secret. Throws EnvironmentError
/// for numbers that cannot be.
[[nodiscard]] std::optional<RankPlace> rank_place(const Environment& environment);

/// The first of a list of nodes as Slurm writes it: "gpu003" of "gpu[003-005,9],login".
[[nodiscard]] std::string first_node(const std::string& list);

}  // namespace headway
