#include "calibrate/cpu/cpu_backend.h"

#include <cblas.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>

#include "calibrate/cpu/cpu_operations.h"
#include "calibrate/suite/attention_points.h"
#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"

namespace headway {
namespace {

/// The size of each operand's pool: more than most last-level caches' share of a core, less than
/// what makes every access a miss, which training is not either.
constexpr std::size_t kPoolFloats = 1U << 23U;

/// How long a rank waits for the others' gradients before it updates its weights. A core that
/// waited moves data several times slower for some milliseconds: its clock and its memory's have
/// gone down.
constexpr Seconds kWait = 20.0_ms;

/// What a slow link carries in 0.15 s: longer messages take long to measure and say nothing new.
std::size_t most_message(double link_bytes_per_s) {
  std::size_t most = 1U << 23U;
  while (link_bytes_per_s > 0.0 && static_cast<double>(most) > 0.15 * link_bytes_per_s) most /= 2;
  return most;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

CpuBackend::CpuBackend(const CpuRules& rules, Transport* transport, LibraryCollectives* library)
    : transport_(transport),
      library_(library),
      a_(kPoolFloats, rules.seed),
      b_(kPoolFloats, rules.seed + 1),
      c_(kPoolFloats, rules.seed + 2),
      d_(kPoolFloats, rules.seed + 3) {
  use_one_blas_thread();
  const int ranks = transport == nullptr ? 1 : transport->size();
  offer_.device = processor_name() + ", one core";
  offer_.accelerator = "cpu-core";
  offer_.devices = ranks;
  offer_.memory_bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE)) / ranks;
  offer_.precisions = {Precision::fp32};
  offer_.gemm_batch = {64, 128, 256, 512};
  offer_.gemm_width = {256, 512, 1024};
  offer_.most_gemm_flops = 1.2e9;
  for (const int sequence : {256, 512}) {
    for (const auto& point : attention_points(Precision::fp32, 4, sequence, 64)) {
      offer_.attention.push_back(point);
    }
  }
  offer_.no_fused_attention = "the CPU backend has no kernel for it";
  offer_.memory_kernels.assign(kMemoryKernels.begin(), kMemoryKernels.end());
  offer_.provenance = rules.provenance;
  offer_.provenance["blas"] = openblas_get_config();
  offer_.provenance["conditions"] =
      fmt::format("{} rank{} at once, one thread each; random operands, not in the inner caches{}",
                  ranks, ranks == 1 ? "" : "s",
                  ranks == 1 ? "" : "; the optimizer after " + exact_text(kWait) + " of waiting");
  offer_.no_collectives = rules.no_collectives;
  if (transport == nullptr) return;
  offer_.collective_implementations = {"ring", "tree"};
  if ((ranks & (ranks - 1)) == 0) offer_.collective_implementations.push_back("recursive_doubling");
  if (library != nullptr) offer_.collective_implementations.push_back(kLibraryImplementation);
  for (int group = 2; group < ranks; group *= 2) offer_.ranks.push_back(group);
  offer_.ranks.push_back(ranks);
  offer_.most_message = most_message(rules.link_bytes_per_s);
  offer_.ranks_per_node = rules.link_bytes_per_s > 0.0 ? 1 : ranks;
  offer_.link_bytes_per_s = rules.link_bytes_per_s;
  offer_.link_burst_bytes = rules.link_burst_bytes;
}

std::unique_ptr<Operation> CpuBackend::prepare(const Point& point) {
  const Operands operands{a_, b_, c_, d_};
  if (const auto* gemm = std::get_if<GemmPoint>(&point)) {
    return cpu_batched_operation({*gemm, 1}, operands);
  }
  if (const auto* batched = std::get_if<BatchedGemmPoint>(&point)) {
    return cpu_batched_operation(*batched, operands);
  }
  if (const auto* memory = std::get_if<MemoryPoint>(&point)) {
    // Where there are ranks to wait for, the optimizer runs after a wait.
    const bool waits = memory->kernel == MemoryKernel::adam && transport_ != nullptr;
    return cpu_memory_operation(*memory, operands, waits ? kWait : Seconds(0.0));
  }
  const auto* collective = std::get_if<CollectivePoint>(&point);
  HEADWAY_CHECK(collective != nullptr && transport_ != nullptr, "a point that was not offered");
  return cpu_collective_operation(*collective, *transport_, library_,
                                  offer_.link_bytes_per_s > 0.0);
}

void pin_to_core(int core) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  CPU_SET(core, &allowed);
  // Where the core does not belong to us, the scheduler's own choice has to do.
  (void)sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace headway
