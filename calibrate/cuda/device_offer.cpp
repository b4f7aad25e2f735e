#include "calibrate/cuda/device_offer.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/cuda/architecture.h"
#include "calibrate/cuda/cublaslt_plan.h"
#include "calibrate/cuda/cuda_check.h"
#include "calibrate/cuda/device_collectives.h"
#include "calibrate/cuda/fused_attention.h"
#include "calibrate/suite/attention_points.h"
#include "calibrate/suite/concurrent_points.h"

namespace headway {
namespace {

double attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  HEADWAY_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

void add_software(Offer& offer) {
  int driver = 0;
  int runtime = 0;
  HEADWAY_CUDA(cudaDriverGetVersion(&driver));
  HEADWAY_CUDA(cudaRuntimeGetVersion(&runtime));
  offer.provenance["cuda"] = fmt::format("runtime {}.{}, driver for {}.{}", runtime / 1000,
                                         runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
  offer.provenance["cublaslt"] = product_library();
  if (DeviceCollectives::lacks().empty()) offer.provenance["nccl"] = DeviceCollectives::version();
  offer.provenance["conditions"] =
      "operands about normal, not in the device's cache; two seconds of products before the first; "
      "clocks are not locked";
}

/// Compute of 16 bits is what cuDNN fuses.
void add_fused_attention(Offer& offer) {
  offer.no_fused_attention = FusedAttention::lacks();
  const auto& known = offer.precisions;
  if (offer.no_fused_attention.empty() &&
      std::find(known.begin(), known.end(), Precision::bf16) == known.end()) {
    offer.no_fused_attention = "the device does not compute in bf16";
  }
  if (!offer.no_fused_attention.empty()) return;
  offer.provenance["cudnn"] = FusedAttention::version();
  offer.fused_attention = AttentionGrid{.query_heads = 32,
                                        .key_heads = {32, 8},
                                        .sequences = {1, 4},
                                        .lengths = {1024, 4096, 16384},
                                        .head_sizes = {64, 128}};
}

void add_collectives(Offer& offer, const DeviceGroup& group) {
  offer.no_collectives = DeviceCollectives::lacks();
  if (group.devices < 2) offer.no_collectives = "one device; a group of one measures no network";
  if (!offer.no_collectives.empty()) {
    offer.no_collectives += "; so no compute is timed beside one either";
    return;
  }
  for (const auto& implementation : DeviceCollectives::implementations()) {
    offer.collective_implementations.push_back(implementation.name);
    if (implementation.concurrent) offer.most_ranks[implementation.name] = group.devices / 2;
  }
  for (int ranks = 2; ranks < group.devices; ranks *= 2) offer.ranks.push_back(ranks);
  offer.ranks.push_back(group.devices);
  offer.ranks_per_node = group.devices_per_node;
  offer.provenance["processes"] = group.processes == 1
                                      ? "one, which drives all devices; only the first computes"
                                      : fmt::format("{}, one for each device", group.processes);
  offer.most_message = std::size_t{1} << 30U;
}

/// What training overlaps: a product and a pass that fill the device, with kernels like a
/// collective's, with the copy engines, and with collectives themselves.
void add_concurrent(Offer& offer, const DeviceGroup& group) {
  constexpr std::size_t kTransfer = std::size_t{64} << 20U;
  std::vector<ConcurrentPoint::Work> transfers = {CopyPoint{CopyKind::few_blocks, kTransfer},
                                                  CopyPoint{CopyKind::host_to_device, kTransfer}};
  if (!offer.collective_implementations.empty()) {
    transfers.emplace_back(CollectivePoint{CollectiveKind::all_reduce,
                                           offer.collective_implementations.front(), kTransfer,
                                           group.devices});
  }
  offer.concurrent =
      concurrent_points({GemmPoint{{4096, 4096, 4096}, offer.precisions.front(), GemmLayout::nn},
                         MemoryPoint{MemoryKernel::residual_add, std::size_t{1} << 26U}},
                        transfers);
}

}  // namespace

int usable_devices() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) {
    throw EnvironmentError(fmt::format("no CUDA device can be used: {}{}",
                                       cudaGetErrorString(result), device_remedy(result)));
  }
  if (count == 0) throw EnvironmentError("no CUDA device can be used: none is there");
  return count;
}

DeviceGroup device_group(Rendezvous& rendezvous, int local_rank) {
  if (rendezvous.size() == 1) {
    const int all = usable_devices();
    return {1, all, all};
  }
  const auto local_ranks = rendezvous.all_gather(local_rank);
  const double most = *std::max_element(local_ranks.begin(), local_ranks.end());
  return {rendezvous.size(), rendezvous.size(), static_cast<int>(most) + 1};
}

void refuse_shared_devices(Rendezvous& rendezvous, int device) {
  if (rendezvous.size() == 1) return;
  cudaDeviceProp properties{};
  HEADWAY_CUDA(cudaGetDeviceProperties(&properties, device));
  // Ranks tell each other numbers; of the 16 random bytes 6 are enough to tell devices apart.
  double number = 0.0;
  for (int i = 0; i < 6; ++i) {
    number = 256.0 * number + static_cast<unsigned char>(properties.uuid.bytes[i + 2]);
  }
  const auto all = rendezvous.all_gather(number);
  for (std::size_t one = 0; one < all.size(); ++one) {
    for (std::size_t other = one + 1; other < all.size(); ++other) {
      if (all[one] != all[other]) continue;
      throw EnvironmentError(fmt::format(
          "ranks {} and {} have the same device; start a process for each device of a node", one,
          other));
    }
  }
}

Offer device_offer(int device, const DeviceGroup& group) {
  cudaDeviceProp properties{};
  HEADWAY_CUDA(cudaGetDeviceProperties(&properties, device));
  Offer offer;
  offer.device = properties.name;
  offer.accelerator = accelerator_name(properties.name);
  offer.devices = group.processes;  // of a lone process one is measured but for collectives
  offer.memory_bytes = static_cast<double>(properties.totalGlobalMem);
  offer.activation_bytes = 2.0;
  offer.multiprocessors = properties.multiProcessorCount;

  const Architecture known = architecture(compute_target(properties));
  offer.precisions = known.precisions;
  offer.block_scaled_fp8 = known.has_block_scales && kHasBlockScales;
  if (!kHasBlockScales) std::erase(offer.precisions, Precision::fp4);
  offer.accumulated = offer.experts = offer.precisions.front();
  const double clock_hz = 1e3 * attribute(cudaDevAttrClockRate, device);
  for (const auto& [precision, flops] : known.flops_per_clock) {
    offer.peak_flops[precision] = flops * clock_hz * properties.multiProcessorCount;
  }
  // Both edges of the memory's clock carry data.
  offer.memory_bytes_per_s = 2.0 * 1e3 * attribute(cudaDevAttrMemoryClockRate, device) *
                             attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8.0;

  offer.gemm_batch = {64, 256, 1024, 4096, 16384};
  offer.gemm_width = {512, 1024, 2048, 4096, 8192, 16384};
  offer.most_gemm_flops = 4e12;
  for (const int sequence : {1024, 2048, 4096}) {
    for (const int head_size : {64, 128}) {
      for (const auto& point :
           attention_points(offer.precisions.front(), 32, sequence, head_size)) {
        offer.attention.push_back(point);
      }
    }
  }
  add_fused_attention(offer);
  offer.memory_kernels.assign(kMemoryKernels.begin(), kMemoryKernels.end());
  offer.memory_kernels.insert(offer.memory_kernels.end(), kDeviceMemoryKernels.begin(),
                              kDeviceMemoryKernels.end());
  offer.most_elements = std::size_t{1} << 27U;
  offer.sustained = 60.0_s;
  offer.launches = true;
  offer.copies = {CopyKind::host_to_device, CopyKind::device_to_host, CopyKind::device_to_device};
  if (usable_devices() > 1) offer.copies.push_back(CopyKind::peer);
  add_collectives(offer, group);
  add_concurrent(offer, group);
  add_software(offer);
  return offer;
}

}  // namespace headway
