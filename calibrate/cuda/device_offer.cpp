#include "calibrate/cuda/device_offer.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/cuda/architecture.h"
#include "calibrate/cuda/cuda_check.h"
#include "calibrate/cuda/nccl_implementation.h"
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
  int nccl = 0;
  HEADWAY_CUDA(cudaDriverGetVersion(&driver));
  HEADWAY_CUDA(cudaRuntimeGetVersion(&runtime));
  HEADWAY_CUDA(ncclGetVersion(&nccl));
  offer.provenance["cuda"] = fmt::format("runtime {}.{}, driver for {}.{}", runtime / 1000,
                                         runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
  offer.provenance["cublaslt"] = fmt::format("{}", cublasLtGetVersion());
  offer.provenance["nccl"] = fmt::format("{}", nccl);
  offer.provenance["conditions"] =
      "random operands, not in the device's cache; clocks are not locked";
}

}  // namespace

int usable_devices() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) {
    throw EnvironmentError(
        fmt::format("no CUDA device can be used: {}", cudaGetErrorString(result)));
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

  const Architecture known = architecture(properties.major, properties.minor);
  offer.precisions = known.precisions;
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
    for (const auto& point : attention_points(offer.precisions.front(), 32, sequence, 128)) {
      offer.attention.push_back(point);
    }
  }
  offer.memory_kernels.assign(kMemoryKernels.begin(), kMemoryKernels.end());
  offer.most_elements = std::size_t{1} << 27U;
  offer.launches = true;
  offer.copies = {CopyKind::host_to_device, CopyKind::device_to_host, CopyKind::device_to_device};
  if (usable_devices() > 1) offer.copies.push_back(CopyKind::peer);
  // What training overlaps: a product and a pass that fill the device, with a collective's kernel
  // and with the copy engines.
  offer.concurrent =
      concurrent_points({GemmPoint{{4096, 4096, 4096}, offer.precisions.front(), GemmLayout::nn},
                         MemoryPoint{MemoryKernel::residual_add, std::size_t{1} << 26U}},
                        {CopyPoint{CopyKind::few_blocks, std::size_t{1} << 26U},
                         CopyPoint{CopyKind::host_to_device, std::size_t{1} << 26U}});
  if (group.devices < 2) {
    offer.no_collectives = "one device; a group of one measures no network";
  } else {
    for (const NcclImplementation& implementation : nccl_implementations()) {
      offer.collective_implementations.push_back(implementation.name);
      if (implementation.concurrent) offer.most_ranks[implementation.name] = group.devices / 2;
    }
    for (int ranks = 2; ranks < group.devices; ranks *= 2) offer.ranks.push_back(ranks);
    offer.ranks.push_back(group.devices);
    offer.ranks_per_node = group.devices_per_node;
    offer.most_message = std::size_t{1} << 30U;
  }
  add_software(offer);
  return offer;
}

}  // namespace headway
