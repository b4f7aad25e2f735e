// CUDA's calls, and the host's clock.
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/calibrate/fake_cuda/law.h"
#include "tests/calibrate/fake_cuda/machine.h"

using namespace fake_cuda;

namespace {

void* reserved(std::size_t bytes) {
  void* const memory = mmap(nullptr, std::max<std::size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

/// The host's clock is the machine's; what the calendar says stays true.
extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  if (clock != CLOCK_MONOTONIC) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const double now = machine().now + machine().waited;
  time->tv_sec = static_cast<time_t>(now);
  time->tv_nsec = static_cast<long>((now - static_cast<double>(time->tv_sec)) * 1e9);
  return 0;
}

/// Waits for other processes in real time, a fifth of what passes on the host's clock.
extern "C" int poll(pollfd* waiting, nfds_t count, int milliseconds) {
  std::atomic<double>& clock = common_clock();
  for (double seen = clock.load(); seen < machine().now;) {
    if (clock.compare_exchange_weak(seen, machine().now)) break;
  }
  const int result = static_cast<int>(
      syscall(SYS_poll, waiting, count, milliseconds > 0 ? (milliseconds + 4) / 5 : milliseconds));
  if (result == 0 && milliseconds > 0) wait_for_others(1e-3 * milliseconds);
  machine().now = std::max(machine().now, clock.load());
  return result;
}

extern "C" {
cudaError_t cudaGetDeviceCount(int* count) {
  *count = machine().devices;
  if (fault() == "not_ready") return failed(cudaErrorSystemNotReady);
  return machine().devices == 0 ? failed(cudaErrorNoDevice) : cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (sticky_error() != cudaSuccess) return failed(sticky_error());
  if (device < 0 || device >= machine().devices) return failed(cudaErrorInvalidDevice);
  machine().current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = machine().current;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  const char* const name = std::getenv("FAKE_CUDA_NAME");
  std::snprintf(properties->name, sizeof properties->name, "%s",
                name == nullptr ? "NVIDIA H100 80GB HBM3" : name);
  properties->uuid.bytes[7] = static_cast<char>(machine().first + device + 1);
  properties->major = is_blackwell() ? 10 : 9;
  properties->multiProcessorCount = 132;
  properties->totalGlobalMem = static_cast<std::size_t>(machine().memory);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*device*/) {
  *value = attribute == cudaDevAttrClockRate         ? 1980000
           : attribute == cudaDevAttrMemoryClockRate ? 2619000
                                                     : 5120;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer && fault() != "no_peers" ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned /*flags*/) {
  const bool is_new = machine().peers.emplace(machine().current, peer).second;
  return is_new ? cudaSuccess : failed(cudaErrorPeerAccessAlreadyEnabled);
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", machine().first + device);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  pass_host_time(120e-6);
  const auto found = machine().allocations.find(memory);
  if (found == machine().allocations.end()) return failed(cudaErrorInvalidValue);
  const auto [device, bytes] = found->second;
  if (device >= 0) machine().used[device] -= static_cast<double>(bytes);
  munmap(memory, std::max<std::size_t>(bytes, 1));
  machine().allocations.erase(found);
  return sticky_error();
}
cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const cudaError_t error = put_work(stream, copy_time(bytes, kind), 3e-6, "cudaMemcpyAsync");
  constexpr std::size_t kMost = 1U << 24U;
  if (error == cudaSuccess && !stream->is_captured && bytes <= kMost) std::memcpy(to, from, bytes);
  return error;
}
cudaError_t cudaMemcpyPeerAsync(void* /*to*/, int to_device, const void* /*from*/, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  const bool is_direct = machine().peers.contains({from_device, to_device});
  const double time = is_direct ? peer_copy_time(bytes)
                                : copy_time(bytes, cudaMemcpyDeviceToHost) +
                                      copy_time(bytes, cudaMemcpyHostToDevice);
  return put_work(stream, time, 3e-6, "cudaMemcpyPeerAsync");
}
/// From the device only: what goes there may not have come when the call returns.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (sticky_error() != cudaSuccess) return failed(sticky_error());
  if (kind != cudaMemcpyDeviceToHost) {
    std::fprintf(stderr, "fake CUDA: cudaMemcpy to the device, for which no stream waits\n");
    return failed(cudaErrorInvalidValue);
  }
  pass_host_time(1e-5 + copy_time(bytes, kind));
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  const double time = 1.5e-6 + static_cast<double>(bytes) / kMemoryRate;
  const cudaError_t error = put_work(stream, time, 3e-6, "cudaMemsetAsync");
  constexpr std::size_t kMost = 1U << 16U;  // the rest would only cost this machine's memory
  if (error == cudaSuccess && !stream->is_captured) {
    std::memset(memory, value, std::min(bytes, kMost));
  }
  return error;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* most) {
  *least = 0;
  *most = -5;
  return cudaSuccess;
}
/// Kernels of all streams share the device evenly here, whatever their priorities.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int /*priority*/) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  if (sticky_error() != cudaSuccess) return failed(sticky_error());
  pass_host_time(1e-5);
  *stream = new CUstream_st;
  (*stream)->device = machine().current;
  machine().streams.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  advance();
  for (const Operation& left : stream->operations) {
    if (left.event != nullptr && left.kind == Operation::Kind::record) --left.event->pending;
  }
  machine().streams.erase(stream);
  delete stream;
  return sticky_error();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  Operation wait;
  wait.kind = Operation::Kind::wait;
  wait.event = event;
  return put(stream, std::move(wait), 0.6e-6, "cudaStreamWaitEvent");
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  const cudaError_t error = checked(stream, "cudaStreamBeginCapture");
  if (error != cudaSuccess) return error;
  pass_host_time(3e-6);
  stream->is_captured = true;
  stream->nodes.clear();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  pass_host_time(5e-6);
  stream->is_captured = false;
  *graph = new CUgraph_st{std::move(stream->nodes)};
  return sticky_error();
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long /*flags*/) {
  pass_host_time(3e-5 + 2e-6 * static_cast<double>(graph->nodes.size()));
  *executable = new CUgraphExec_st{*graph};
  return sticky_error();
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const auto nodes = static_cast<double>(executable->nodes.size());
  pass_host_time(kGraphLaunch + kGraphNode * nodes);
  for (Operation node : executable->nodes) {
    node.duration *= noise();
    const cudaError_t error = put(stream, std::move(node), 0.0, "cudaGraphLaunch");
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  if (sticky_error() != cudaSuccess) return failed(sticky_error());
  pass_host_time(1e-6);
  *event = new CUevent_st;
  (*event)->device = machine().current;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  advance();
  delete event;
  return sticky_error();
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event->device != stream->device) {
    std::fprintf(stderr, "fake CUDA: an event of device %d on a stream of device %d\n",
                 event->device, stream->device);
    return failed(cudaErrorInvalidResourceHandle);
  }
  Operation record;
  record.kind = Operation::Kind::record;
  record.event = event;
  const cudaError_t error = put(stream, std::move(record), 0.6e-6, "cudaEventRecord");
  if (error == cudaSuccess) ++event->pending;
  return error;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  advance();
  if (sticky_error() != cudaSuccess) return failed(sticky_error());
  pass_host_time(0.4e-6);
  Machine& m = machine();
  if (event->pending == 0 && m.now >= event->time) return cudaSuccess;
  if (event->pending == 0 && event->time < kNever) {
    m.now = event->time;
  } else if (event->pending == 0) {
    m.now += 0.5;  // it never comes
  } else {
    wait_for_others(5e-3);  // this process cannot do anything any more
  }
  return cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (start->pending > 0 || end->pending > 0) return failed(cudaErrorNotReady);
  *milliseconds = static_cast<float>(1e3 * (end->time - start->time));
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return std::exchange(machine().last, sticky_error()); }
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorDevicesUnavailable:
      return "cudaErrorDevicesUnavailable";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorECCUncorrectable:
      return "cudaErrorECCUncorrectable";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    default:
      return "cudaError";
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorDevicesUnavailable:
      return "CUDA-capable device(s) is/are busy or unavailable";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorSystemNotReady:
      return "system not yet initialized";
    case cudaErrorECCUncorrectable:
      return "uncorrectable ECC error encountered";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    default:
      return "an error";
  }
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
}

cudaError_t fake_malloc(void** memory, std::size_t bytes) {
  Machine& m = machine();
  if (m.sticky != cudaSuccess) return failed(m.sticky);
  pass_host_time(150e-6);
  *memory = nullptr;
  if (m.fault == "taken" && m.current > 0) return failed(cudaErrorDevicesUnavailable);
  if (m.used[m.current] + static_cast<double>(bytes) > m.memory) {
    return failed(cudaErrorMemoryAllocation);
  }
  *memory = reserved(bytes);
  m.allocations[*memory] = {m.current, bytes};
  m.used[m.current] += static_cast<double>(bytes);
  return cudaSuccess;
}
cudaError_t fake_malloc_host(void** memory, std::size_t bytes) {
  if (sticky_error() != cudaSuccess) return failed(sticky_error());
  pass_host_time(5e-4 + static_cast<double>(bytes) * 2.5e-10);
  *memory = reserved(bytes);
  machine().allocations[*memory] = {-1, bytes};
  return cudaSuccess;
}

extern "C" double fake_cuda_clock_hz(int device) { return clock_hz(device); }
extern "C" double fake_cuda_watts(int device) { return watts(device); }
