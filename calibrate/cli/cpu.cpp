#include "calibrate/cli/backends.h"
#include "calibrate/cli/cpu_ranks.h"
#include "calibrate/cpu/cpu_backend.h"
#include "calibrate/cpu/transport_rendezvous.h"

namespace headway {

int calibrate_cpu(const Job& job, const PlanRules& rules) {
  return on_cpu_ranks(job.options, [&job, &rules](const CpuRank& rank) {
    CpuRules cpu;
    cpu.no_collectives = rank.alone;
    cpu.seed = job.options.seed;
    if (rank.main == nullptr) {
      CpuBackend backend(cpu, nullptr);
      SingleRendezvous alone;
      return calibrate(job, rules, backend, alone);
    }
    cpu.seed += static_cast<unsigned>(4 * rank.main->rank());
    cpu.provenance["mpi"] = rank.mpi;
    CpuBackend backend(cpu, rank.main);
    TransportRendezvous rendezvous(*rank.main);
    return calibrate(job, rules, backend, rendezvous);
  });
}

}  // namespace headway
