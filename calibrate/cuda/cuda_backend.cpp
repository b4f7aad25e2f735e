#include "calibrate/cuda/cuda_backend.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>
#include <vector>

#include "calibrate/cuda/cublaslt_gemm.h"
#include "calibrate/cuda/device_fill.h"
#include "calibrate/cuda/device_operation.h"
#include "calibrate/cuda/event_wait.h"
#include "calibrate/cuda/result_check.h"
#include "calibrate/measure/statistics.h"
#include "calibrate/suite/interruption.h"
#include "kernels/device_kernels.h"

namespace headway {
namespace {

/// The size of each operand's pool: twice the largest last-level caches (50 to 126 MB), and what
/// the largest product and pass need; less on a slice of a device.
std::size_t pool_bytes(const Offer& offer) {
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  return std::min(kMost, std::bit_floor(static_cast<std::size_t>(offer.memory_bytes / 8.0)));
}

/// Lets the current device reach the memory of another one: copies between them go by the host's
/// memory otherwise, at a tenth of the links' rate (CUDA Runtime API, "Peer Device Memory Access").
void enable_peer(int device, int other) {
  int can = 0;
  HEADWAY_CUDA(cudaDeviceCanAccessPeer(&can, device, other));
  if (can == 0) {
    throw Refused(
        fmt::format("device {} does not reach the memory of device {}: copies go by the "
                    "host's",
                    device, other));
  }
  const cudaError_t result = cudaDeviceEnablePeerAccess(other, 0);
  if (result == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();  // which would be the next call's error, too
    return;
  }
  HEADWAY_CUDA(result);
}

/// Memory of another device than the current one. One that takes no second process is Refused.
std::shared_ptr<DevicePool> on_device(int other, std::size_t bytes) {
  try {
    const DeviceGuard guard(other);
    return std::make_shared<DevicePool>(bytes);
  } catch (const Refused&) {
    throw;
  } catch (const EnvironmentError& error) {
    throw Refused(
        fmt::format("device {} takes no memory of this process: {}", other, error.what()));
  }
}

/// The monitor of a device that this process does not use yet: who else computes on it would be
/// measured too.
std::unique_ptr<DeviceMonitor> monitor_of(int device) {
  char bus_id[32] = "";
  HEADWAY_CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device));
  auto monitor = installed_monitor(bus_id);
  const int others = monitor == nullptr ? 0 : monitor->processes().value_or(0);
  if (others > 0) {
    throw EnvironmentError(fmt::format(
        "device {} ({}) is in use by {} other process{}, which would be measured too; `nvidia-smi` "
        "lists them, and CUDA_VISIBLE_DEVICES chooses other devices",
        device, bus_id, others, others == 1 ? "" : "es"));
  }
  return monitor;
}

}  // namespace

/// Products and passes read a and b, which keep their random numbers, and write c; d is the second
/// moment of Adam, which is never negative.
struct CudaBackend::Pools {
  explicit Pools(std::size_t bytes) : a(bytes), b(bytes), c(bytes), d(bytes) {}
  DevicePool a;
  DevicePool b;
  DevicePool c;
  DevicePool d;
  /// Scales of the blocks of both operands, all 1: made where they are needed, and as fast through
  /// as these.
  std::unique_ptr<DevicePool> scales;
  int scale_byte = 0;
  RandomFormat format = RandomFormat::bf16;  ///< of a and b
};

CudaBackend::CudaBackend(std::uint64_t seed, Rendezvous& rendezvous, int local_rank)
    : device_(rendezvous.size() == 1 ? 0 : local_rank % usable_devices()),
      group_(device_group(rendezvous, local_rank)),
      offer_(device_offer(device_, group_)),
      random_state_(static_cast<std::uint32_t>(seed)),
      monitor_(monitor_of(device_)),
      rendezvous_(rendezvous),
      collectives_(rendezvous, group_.devices, device_) {
  refuse_shared_devices(rendezvous, device_);
  // For good: guards give back what was current before, and since CUDA 12 that alone takes memory
  // of the device, which is another rank's.
  HEADWAY_CUDA(cudaSetDevice(device_));
  if (monitor_ == nullptr) {
    offer_.provenance["clocks"] =
        "not recorded: the driver's library (NVML, ROCm SMI) was not found";
  }
  offer_.provenance["results"] = checked_results(offer_);
  pools_ = std::make_unique<Pools>(pool_bytes(offer_));
  // Adam's weights and first moments, 8 bytes an element together, are of one pool.
  offer_.most_elements = std::min(offer_.most_elements, pool_bytes(offer_) / 8);
  fill(RandomFormat::bf16);
  fill_with(pools_->c.data(), 0, pools_->c.bytes());
  fill_with(pools_->d.data(), 0, pools_->d.bytes());
  warm_up();
  gap_ = measured_gap();
}

/// Clocks fall within a second or two of work to what lasts; memory and caches warm up as well.
void CudaBackend::warm_up() {
  constexpr Seconds kWarmUp = 2.0_s;
  constexpr int kSamples = 50;
  std::unique_ptr<Operation> product;
  GemmPoint point{{4096, 8192, 8192}, Precision::bf16};
  for (const Precision precision : offer_.precisions) {
    if (product != nullptr) break;
    point.precision = precision;
    try {
      product = prepare(point);
    } catch (const Refused&) {
      continue;  // the points of that precision say so themselves
    }
  }
  if (product == nullptr) return;
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> times;
  DeviceState boosted;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
         kWarmUp.count()) {
    throw_if_interrupted();
    times.push_back(product->repeat().time.count());
    if (times.size() == kSamples) boosted = state();
  }
  if (times.size() < 2 * kSamples) return;
  const DeviceState lasting = state();
  const auto text = [&point](const std::vector<double>& some, const DeviceState& at) {
    std::string line = fmt::format("{:.0f} TFLOP/s", 1e-12 * point.shape.flops() / median(some));
    if (at.clock_hz > 0.0) line += fmt::format(" at {:.0f} MHz", 1e-6 * at.clock_hz);
    if (at.watts > 0.0) line += fmt::format(" and {:.0f} W", at.watts);
    return line;
  };
  offer_.provenance["boost_and_sustained"] =
      fmt::format("{}: {} at first, {} after {:.0f} s", point_text(point),
                  text({times.begin(), times.begin() + kSamples}, boosted),
                  text({times.end() - kSamples, times.end()}, lasting), kWarmUp.count());
}

Seconds CudaBackend::measured_gap() {
  constexpr int kSamples = 11;
  std::vector<double> gaps;
  const auto operation = gap_operation();
  for (int i = 0; i < kSamples; ++i) gaps.push_back(operation->repeat().time.count());
  return Seconds(median(gaps));
}

/// Both operands with numbers as training has them, in the format that they are read in.
void CudaBackend::fill(RandomFormat format) {
  const DeviceStream stream;
  for (const DevicePool* pool : {&pools_->a, &pools_->b}) {
    HEADWAY_CUDA(launch_random(format, pool->data(), pool->bytes(), ++random_state_, stream));
  }
  wait_for(stream);
  pools_->format = format;
}

/// Scales of which each is one byte that means 1 in their format.
DevicePool* CudaBackend::scales(std::size_t bytes, int byte) {
  auto& pool = pools_->scales;
  bytes = std::max(bytes, pools_->a.bytes() / 4);
  if (pool == nullptr || pool->bytes() < bytes) {
    pool = std::make_unique<DevicePool>(bytes);
    pools_->scale_byte = -1;
  }
  if (pools_->scale_byte != byte) {
    fill_with(pool->data(), byte, pool->bytes());
    pools_->scale_byte = byte;
  }
  return pool.get();
}

Enqueue CudaBackend::gemm_work(const BatchedGemmPoint& point) {
  const GemmBytes needed = gemm_bytes(point);
  const std::pair<DevicePool*, std::size_t> operands[] = {
      {&pools_->a, needed.a}, {&pools_->b, needed.b}, {&pools_->c, needed.c}};
  const bool is_fp4 = point.gemm.precision == Precision::fp4;
  const RandomFormat format = is_fp4                                   ? RandomFormat::e2m1
                              : point.gemm.precision == Precision::fp8 ? RandomFormat::e4m3
                                                                       : RandomFormat::bf16;
  bool is_filled = format == pools_->format;
  for (const auto& [pool, bytes] : operands) {
    if (bytes <= pool->bytes()) continue;
    is_filled = false;  // also where there is not so much memory
    pools_->format = RandomFormat::bf16;
    pool->enlarge(bytes);
  }
  if (!is_filled) fill(format);
  GemmPools from{pools_->a, pools_->b, pools_->c};
  if (const std::size_t needs = needed.scales_of_a + needed.scales_of_b; needs > 0) {
    constexpr int kOneInE8m0 = 127;
    constexpr int kOneInE4m3 = 0x38;
    from.scales = scales(needs, is_fp4 ? kOneInE4m3 : kOneInE8m0);
  }
  return cublaslt_gemm(point, from);
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
  upload(indices->data(), index.data(), indices->bytes());
  if (pools_->format != RandomFormat::bf16) fill(RandomFormat::bf16);
  return [this, point, n, indices, scale](cudaStream_t stream) {
    DeviceOperands operands;
    operands.index = static_cast<const std::int32_t*>(indices->data());
    operands.scale = static_cast<float*>(scale->data());
    if (point.kernel == MemoryKernel::adam) {
      operands.g = static_cast<const float*>(pools_->a.take(n * sizeof(float)));
      operands.w = static_cast<float*>(pools_->c.take(n * sizeof(float)));
      operands.m = static_cast<float*>(pools_->c.take(n * sizeof(float)));
      operands.v = static_cast<float*>(pools_->d.take(n * sizeof(float)));
    } else {
      operands.x = pools_->a.take(2 * n);
      operands.y =
          point.kernel == MemoryKernel::sparsify ? pools_->c.take(2 * n) : pools_->b.take(2 * n);
      operands.z = pools_->c.take(2 * n);
      operands.q = static_cast<std::int8_t*>(operands.z);
      operands.bits = static_cast<std::uint8_t*>(operands.z);  // 1 byte each, of the 2 taken
      operands.transposed = operands.bits + n;
    }
    HEADWAY_CUDA(launch_memory_kernel(point.kernel, operands, n, stream));
  };
}

/// A library that does not start, as one of which parts are not found, refuses its points alone.
FusedAttention& CudaBackend::attention() {
  if (attention_ != nullptr) return *attention_;
  try {
    attention_ = std::make_unique<FusedAttention>(++random_state_);
  } catch (const EnvironmentError& error) {
    throw Refused(error.what());
  }
  return *attention_;
}

Enqueue CudaBackend::copy_work(const CopyPoint& point) {
  const std::size_t bytes = point.bytes;
  const bool to_host = point.kind == CopyKind::device_to_host;
  if (bytes > pools_->a.bytes()) throw Refused("a copy larger than a slice of the memory");
  switch (point.kind) {
    case CopyKind::host_to_device:
    case CopyKind::device_to_host: {
      const auto host = std::make_shared<HostBuffer>(bytes);
      return [this, host, bytes, to_host](cudaStream_t stream) {
        // a keeps its random numbers: products of anything else draw another power.
        void* const device = to_host ? pools_->a.take(bytes) : pools_->c.take(bytes);
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
      enable_peer(device_, other);
      const auto there = on_device(other, bytes);
      return [this, there, other, bytes](cudaStream_t stream) {
        HEADWAY_CUDA(cudaMemcpyPeerAsync(there->data(), other, pools_->a.take(bytes), device_,
                                         bytes, stream));
      };
    }
    case CopyKind::few_blocks:
      return [this, bytes](cudaStream_t stream) {
        HEADWAY_CUDA(
            launch_few_block_copy(pools_->a.take(bytes), pools_->c.take(bytes), bytes, stream));
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
    return collectives_.work(*collective, time, gap_);
  }
  const bool is_transfer = std::holds_alternative<CopyPoint>(work);
  return std::make_unique<CapturedWork>(
      local_work(work), time, gap_, is_transfer ? StreamPriority::urgent : StreamPriority::normal);
}

/// Beside a collective all devices work at once, each on its own product or pass where it has a
/// process of its own; a lone process has its first device work, which holds up all the others.
std::unique_ptr<Operation> CudaBackend::concurrent(const ConcurrentPoint& point) {
  const auto is_collective = [](const ConcurrentPoint::Work& work) {
    return std::holds_alternative<CollectivePoint>(work);
  };
  if (!point.beside) {
    if (is_collective(point.timed)) {
      return collectives_.prepare(std::get<CollectivePoint>(point.timed), gap_);
    }
    return device_operation(local_work(point.timed), gap_);
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
    return collectives_.prepare(*collective, gap_);
  }
  if (const auto* launch = std::get_if<LaunchPoint>(&point)) {
    const Enqueue empty = [](cudaStream_t stream) { HEADWAY_CUDA(launch_empty_kernel(stream)); };
    return launch->in_graph ? gap_operation() : host_launch_operation(empty);
  }
  if (const auto* both = std::get_if<ConcurrentPoint>(&point)) {
    return concurrent(*both);
  }
  if (const auto* gemm = std::get_if<GemmPoint>(&point))
    return device_operation(gemm_work({*gemm, 1}), gap_);
  if (const auto* batched = std::get_if<BatchedGemmPoint>(&point)) {
    return device_operation(gemm_work(*batched), gap_);
  }
  if (const auto* grouped = std::get_if<GroupedGemmPoint>(&point)) {
    return device_operation(gemm_work({grouped->gemm, grouped->experts}), gap_);
  }
  if (const auto* attention_point = std::get_if<AttentionPoint>(&point)) {
    return device_operation(attention().work(*attention_point), gap_);
  }
  if (const auto* memory = std::get_if<MemoryPoint>(&point)) {
    return device_operation(memory_work(*memory), gap_);
  }
  return device_operation(copy_work(std::get<CopyPoint>(point)), gap_);
}

}  // namespace headway
