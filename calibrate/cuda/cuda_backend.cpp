#include "calibrate/cuda/cuda_backend.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "calibrate/cuda/cublaslt_gemm.h"
#include "calibrate/cuda/device_operation.h"
#include "kernels/device_kernels.h"

namespace headway {
namespace {

/// Of each operand: twice the largest last-level caches (50 to 126 MB), and what the largest
/// product and pass need.
constexpr std::size_t kPoolBytes = std::size_t{1} << 30U;

/// Pinned memory of the host.
class HostBuffer {
 public:
  explicit HostBuffer(std::size_t bytes) { HEADWAY_CUDA(cudaMallocHost(&data_, bytes)); }
  ~HostBuffer() { (void)cudaFreeHost(data_); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// Memory of another device than the current one.
std::shared_ptr<DevicePool> on_device(int other, std::size_t bytes) {
  const DeviceGuard guard(other);
  return std::make_shared<DevicePool>(bytes);
}

}  // namespace

struct CudaBackend::Pools {
  DevicePool a{kPoolBytes};
  DevicePool b{kPoolBytes};
  DevicePool c{kPoolBytes};
  DevicePool d{kPoolBytes};
};

CudaBackend::CudaBackend(std::uint64_t seed, Rendezvous& rendezvous, int local_rank)
    : device_(rendezvous.size() == 1 ? 0 : local_rank % usable_devices()),
      group_(device_group(rendezvous, local_rank)),
      offer_(device_offer(device_, group_)),
      random_state_(static_cast<std::uint32_t>(seed)),
      rendezvous_(rendezvous),
      collectives_(rendezvous, group_.devices, device_) {
  HEADWAY_CUDA(cudaSetDevice(device_));
  char bus_id[32] = "";
  HEADWAY_CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device_));
  monitor_ = std::make_unique<DeviceMonitor>(installed_nvml(), bus_id);
  if (!monitor_->watches()) offer_.provenance["clocks"] = "not recorded: the driver has no NVML";
  pools_ = std::make_unique<Pools>();
  for (const DevicePool* pool : {&pools_->a, &pools_->b, &pools_->c, &pools_->d}) {
    fill_at_random(*pool);
  }
}

void CudaBackend::fill_at_random(const DevicePool& pool) {
  const DeviceStream stream;
  HEADWAY_CUDA(launch_random_bf16(pool.data(), pool.bytes() / 2, ++random_state_, stream));
  HEADWAY_CUDA(cudaStreamSynchronize(stream));
}

Enqueue CudaBackend::gemm_work(const BatchedGemmPoint& point) {
  const GemmBytes needed = gemm_bytes(point);
  const std::pair<DevicePool*, std::size_t> operands[] = {
      {&pools_->a, needed.a}, {&pools_->b, needed.b}, {&pools_->c, needed.c}};
  for (const auto& [pool, bytes] : operands) {
    if (bytes <= pool->bytes()) continue;
    pool->enlarge(bytes);
    fill_at_random(*pool);
  }
  return cublaslt_gemm(point, pools_->a, pools_->b, pools_->c);
}

CudaBackend::~CudaBackend() = default;

Enqueue CudaBackend::memory_work(const MemoryPoint& point) {
  const std::size_t n = point.elements;
  const std::size_t rows = n / kKernelRow;
  // Rows in an order far from their own; each stays below the length of a row, to be a target too.
  std::vector<std::int32_t> index(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    index[r] = static_cast<std::int32_t>(r * 7919 % std::min(rows, kKernelRow));
  }
  const auto indices = std::make_shared<DevicePool>(rows * sizeof(std::int32_t));
  const auto scale = std::make_shared<DevicePool>(rows * sizeof(float));
  HEADWAY_CUDA(cudaMemcpy(indices->data(), index.data(), indices->bytes(), cudaMemcpyHostToDevice));
  return [this, point, n, indices, scale](cudaStream_t stream) {
    DeviceOperands operands;
    operands.index = static_cast<const std::int32_t*>(indices->data());
    operands.scale = static_cast<float*>(scale->data());
    if (point.kernel == MemoryKernel::adam) {
      operands.g = static_cast<const float*>(pools_->a.take(n * sizeof(float)));
      operands.w = static_cast<float*>(pools_->b.take(n * sizeof(float)));
      operands.m = static_cast<float*>(pools_->c.take(n * sizeof(float)));
      operands.v = static_cast<float*>(pools_->d.take(n * sizeof(float)));
    } else {
      operands.x = pools_->a.take(2 * n);
      operands.y = pools_->b.take(2 * n);
      operands.z = pools_->c.take(2 * n);
      operands.q = static_cast<std::int8_t*>(operands.z);
    }
    HEADWAY_CUDA(launch_memory_kernel(point.kernel, operands, n, stream));
  };
}

FusedAttention& CudaBackend::attention() {
  if (attention_ == nullptr) attention_ = std::make_unique<FusedAttention>(++random_state_);
  return *attention_;
}

Enqueue CudaBackend::copy_work(const CopyPoint& point) {
  const std::size_t bytes = point.bytes;
  const bool to_host = point.kind == CopyKind::device_to_host;
  switch (point.kind) {
    case CopyKind::host_to_device:
    case CopyKind::device_to_host: {
      const auto host = std::make_shared<HostBuffer>(bytes);
      return [this, host, bytes, to_host](cudaStream_t stream) {
        void* const device = pools_->a.take(bytes);
        HEADWAY_CUDA(
            to_host ? cudaMemcpyAsync(host->data(), device, bytes, cudaMemcpyDeviceToHost, stream)
                    : cudaMemcpyAsync(device, host->data(), bytes, cudaMemcpyHostToDevice, stream));
      };
    }
    case CopyKind::device_to_device:
      return [this, bytes](cudaStream_t stream) {
        HEADWAY_CUDA(cudaMemcpyAsync(pools_->c.take(bytes), pools_->a.take(bytes), bytes,
                                     cudaMemcpyDeviceToDevice, stream));
      };
    case CopyKind::peer: {
      const int other = (device_ + 1) % usable_devices();
      const auto there = on_device(other, bytes);
      return [this, there, other, bytes](cudaStream_t stream) {
        HEADWAY_CUDA(cudaMemcpyPeerAsync(there->data(), other, pools_->a.take(bytes), device_,
                                         bytes, stream));
      };
    }
    case CopyKind::few_blocks:
      return [this, bytes](cudaStream_t stream) {
        HEADWAY_CUDA(
            launch_few_block_copy(pools_->a.take(bytes), pools_->d.take(bytes), bytes, stream));
      };
  }
  HEADWAY_CHECK(false, "unknown copy");
}

Enqueue CudaBackend::local_work(const ConcurrentPoint::Work& work) {
  if (const auto* gemm = std::get_if<GemmPoint>(&work)) return gemm_work({*gemm, 1});
  if (const auto* memory = std::get_if<MemoryPoint>(&work)) return memory_work(*memory);
  return copy_work(std::get<CopyPoint>(work));
}

std::unique_ptr<RepeatedWork> CudaBackend::repeated(const ConcurrentPoint::Work& work,
                                                    Seconds time) {
  if (const auto* collective = std::get_if<CollectivePoint>(&work)) {
    return collectives_.work(*collective, time);
  }
  return std::make_unique<CapturedWork>(local_work(work), time);
}

/// Beside a collective all devices work at once, each on its own product or pass where it has a
/// process of its own; a lone process has its first device work, which holds up all the others.
std::unique_ptr<Operation> CudaBackend::concurrent(const ConcurrentPoint& point) {
  const auto is_collective = [](const ConcurrentPoint::Work& work) {
    return std::holds_alternative<CollectivePoint>(work);
  };
  if (!point.beside) {
    if (is_collective(point.timed)) {
      return collectives_.prepare(std::get<CollectivePoint>(point.timed));
    }
    return device_operation(local_work(point.timed));
  }
  const bool is_shared = is_collective(point.timed) || is_collective(*point.beside);
  // Processes leave a rendezvous some tenths of a millisecond apart.
  auto timed = repeated(point.timed, is_shared ? 5.0_ms : 300.0_us);
  auto beside = repeated(*point.beside, 4.0 * timed->expected_time());
  return concurrent_operation(std::move(timed), std::move(beside),
                              is_shared ? rendezvous_ : alone_);
}

std::unique_ptr<Operation> CudaBackend::prepare(const Point& point) {
  const DeviceGuard guard(device_);
  if (const auto* collective = std::get_if<CollectivePoint>(&point)) {
    return collectives_.prepare(*collective);
  }
  if (const auto* launch = std::get_if<LaunchPoint>(&point)) {
    const Enqueue empty = [](cudaStream_t stream) { HEADWAY_CUDA(launch_empty_kernel(stream)); };
    return launch->in_graph ? device_operation(empty) : host_launch_operation(empty);
  }
  if (const auto* both = std::get_if<ConcurrentPoint>(&point)) {
    return concurrent(*both);
  }
  if (const auto* gemm = std::get_if<GemmPoint>(&point))
    return device_operation(gemm_work({*gemm, 1}));
  if (const auto* batched = std::get_if<BatchedGemmPoint>(&point)) {
    return device_operation(gemm_work(*batched));
  }
  if (const auto* attention_point = std::get_if<AttentionPoint>(&point)) {
    return device_operation(attention().work(*attention_point));
  }
  if (const auto* memory = std::get_if<MemoryPoint>(&point)) {
    return device_operation(memory_work(*memory));
  }
  return device_operation(copy_work(std::get<CopyPoint>(point)));
}

}  // namespace headway
