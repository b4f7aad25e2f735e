#include <fmt/format.h>
#include <sched.h>

#include <vector>

#include "calibrate/cli/backends.h"
#include "calibrate/cli/cpu_ranks.h"
#include "calibrate/cpu/cpu_backend.h"
#include "calibrate/cpu/cpu_block_device.h"
#include "calibrate/cpu/rank_network.h"
#include "calibrate/cpu/transport_rendezvous.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"

namespace headway {
namespace {

/// Some hundredths of a second on a core, with products among those of the grid.
constexpr BlockShape kCpuBlock{.sequences = 2, .sequence = 256, .hidden = 256, .heads = 4};

}  // namespace

int calibrate_cpu(const Job& job, const PlanRules& rules) {
  return on_cpu_ranks(job.options, [&job, &rules](const CpuRank& rank) {
    CpuRules cpu;
    CpuBlockDevice core;
    std::optional<BlockTrial> block;
    if (job.options.block) block.emplace(core, kCpuBlock);
    cpu.no_collectives = rank.alone;
    cpu.seed = job.options.seed;
    if (rank.main == nullptr) {
      CpuBackend backend(cpu, nullptr);
      SingleRendezvous alone;
      return calibrate(job, rules, backend, alone, block);
    }
    cpu.seed += static_cast<unsigned>(4 * rank.main->rank());
    TransportRendezvous rendezvous(*rank.main);
    cpu.provenance["mpi"] = rank.mpi;
    const std::vector<double> cores = rendezvous.all_gather(sched_getcpu());
    cpu.provenance["cores"] =
        fmt::format("by rank {}", join_words(std::vector<int>(cores.begin(), cores.end()), ", "));
    if (job.options.net) {
      cpu.link_bytes_per_s = job.options.net->count();
      const RankNetwork network{rank.main->size(), *job.options.net};
      cpu.link_burst_bytes = network.burst().count();
      cpu.provenance["link_burst"] = exact_text(network.burst());
    }
    CpuBackend backend(cpu, rank.main, rank.collectives);
    return calibrate(job, rules, backend, rendezvous, block);
  });
}

}  // namespace headway
