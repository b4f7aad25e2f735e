#include <cstdlib>

#include "calibrate/cli/backends.h"
#include "calibrate/cuda/cuda_backend.h"
#include "calibrate/cuda/cuda_block_device.h"
#include "calibrate/cuda/device_offer.h"
#include "calibrate/ranks/own_processes.h"
#include "calibrate/ranks/rank_place.h"
#include "calibrate/ranks/socket_rendezvous.h"
#ifdef HEADWAY_WITH_MPI
#include "calibrate/cli/cpu_ranks.h"
#include "calibrate/cpu/transport_rendezvous.h"
#endif

namespace headway {
namespace {

/// Some milliseconds on a device; rows are as long as the kernels'.
constexpr BlockShape kCudaBlock{.sequences = 8, .sequence = 1024, .hidden = 1024, .heads = 16};

int calibrate_among(const Job& job, const PlanRules& rules, Rendezvous& rendezvous,
                    int local_rank) {
  CudaBackend backend(job.options.seed, rendezvous, local_rank);
  std::optional<CudaBlockDevice> device;
  std::optional<BlockTrial> block;
  if (job.options.block) block.emplace(device.emplace(backend.device()), kCudaBlock);
  return calibrate(job, rules, backend, rendezvous, block);
}

}  // namespace

/// Ranks meet over MPI where mpirun started them and nothing says otherwise, else over TCP. Started
/// by nobody, a process starts one for each device: all of them compute at once, as in training, and
/// no thread of the host drives more than one.
int calibrate_cuda(const Job& job, const PlanRules& rules) {
  const auto place = rank_place([](const char* name) { return std::getenv(name); });
  const int local_rank = place ? place->local_rank : 0;
#ifdef HEADWAY_WITH_MPI
  if (is_mpi_rank() && (!place || place->address.empty())) {
    return on_mpi_rank(job.options, [&](const CpuRank& rank) {
      TransportRendezvous rendezvous(*rank.main);
      return calibrate_among(job, rules, rendezvous, local_rank);
    });
  }
#endif
  if (!place && !job.options.is_single_process && usable_devices() > 1) {
    return run_as_ranks(usable_devices(), job.input, job.options.deadline);
  }
  SocketRendezvous rendezvous(place.value_or(RankPlace{}), job.options.deadline);
  return calibrate_among(job, rules, rendezvous, local_rank);
}

}  // namespace headway
