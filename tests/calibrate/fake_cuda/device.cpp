#include "tests/calibrate/fake_cuda/device.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "kernels/utility_kernels.cuh"
#include "tests/calibrate/fake_cuda/law.h"

struct CUevent_st {
  int device = 0;
  double time = -1.0;
  int pending = 0;
};

namespace fake_cuda {
namespace {

double setting(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atof(text);
}

struct Operation {
  enum class Kind { work, record, wait, hold, meeting };
  Kind kind = Kind::work;
  double issued = 0.0;
  double duration = 0.0;
  unsigned long long* stamps = nullptr;
  cudaEvent_t event = nullptr;
  const volatile int* flag = nullptr;
  volatile int* expired = nullptr;
  std::shared_ptr<Meeting> meeting;
};

struct Machine {
  double now = 1.0;
  double waited = 0.0;
  int devices = static_cast<int>(setting("FAKE_CUDA_DEVICES", 1));
  int first = static_cast<int>(setting("FAKE_CUDA_FIRST", 0));
  double memory = setting("FAKE_CUDA_MEMORY", 84943700000.0);
  int current = 0;
  cudaError_t last = cudaSuccess;
  cudaError_t sticky = cudaSuccess;
  std::string fault;
  long until_fault = 0;
  std::map<void*, std::pair<int, std::size_t>> allocations;  // device, bytes
  std::map<int, double> used;
  std::map<int, double> busy;
  std::set<cudaStream_t> streams;
  std::mt19937_64 random{7};

  Machine() {
    const char* const text = std::getenv("FAKE_CUDA_FAULT");
    if (text == nullptr) return;
    const std::string whole = text;
    fault = whole.substr(0, whole.find(':'));
    until_fault = whole.find(':') == std::string::npos ? 0 : std::atol(whole.c_str() + fault.size() + 1);
  }
};
Machine& machine() {
  static Machine one;
  return one;
}

double noise() {
  std::uniform_real_distribution<double> uniform(-1.7320508, 1.7320508);  // of deviation 1
  return 1.0 + kNoise * uniform(machine().random);
}

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace
}  // namespace fake_cuda

struct CUstream_st {
  int device = 0;
  double ready = 0.0;
  std::deque<fake_cuda::Operation> operations;
  bool is_captured = false;
  std::vector<fake_cuda::Operation> nodes;
};
struct CUgraph_st {
  std::vector<fake_cuda::Operation> nodes;
};
struct CUgraphExec_st : CUgraph_st {};

namespace fake_cuda {
namespace {

/// Does the first operation of a stream if it can be done by now.
bool has_done(CUstream_st& stream, Operation& next) {
  Machine& m = machine();
  const double earliest = std::max(stream.ready + kGap, next.issued + kStart);
  switch (next.kind) {
    case Operation::Kind::record:
      next.event->time = std::max(stream.ready, next.issued + 1e-6);
      --next.event->pending;
      return true;
    case Operation::Kind::wait:
      if (next.event->pending > 0) return false;
      stream.ready = std::max(stream.ready, next.event->time);
      return true;
    case Operation::Kind::hold: {
      constexpr double kMost = 0.2;
      if (*next.flag == 0 && m.now < earliest + kMost) return false;
      if (*next.flag == 0) *next.expired = 1;
      stream.ready = *next.flag == 0 ? earliest + kMost : std::max(earliest, m.now);
      return true;
    }
    case Operation::Kind::meeting: {
      const double begin = next.meeting->begin(earliest);
      if (begin < 0.0) return false;
      stream.ready = begin + next.duration;
      return true;
    }
    case Operation::Kind::work: {
      const bool is_boosted = m.busy[stream.device] < kBoostSeconds;
      const double duration = next.duration / (is_boosted ? kBoost : 1.0);
      stream.ready = earliest + duration;
      m.busy[stream.device] += duration;
      if (next.stamps != nullptr) {
        next.stamps[0] = static_cast<unsigned long long>(1e9 * earliest);
        next.stamps[1] = static_cast<unsigned long long>(1e9 * stream.ready);
      }
      return true;
    }
  }
  return true;
}

void advance() {
  for (bool any = true; any;) {
    any = false;
    for (CUstream_st* stream : machine().streams) {
      while (!stream->operations.empty() && has_done(*stream, stream->operations.front())) {
        stream->operations.pop_front();
        any = true;
      }
    }
  }
}

cudaError_t checked(cudaStream_t stream, const char* what) {
  Machine& m = machine();
  if (m.sticky != cudaSuccess) return failed(m.sticky);
  if (stream == nullptr || !m.streams.contains(stream)) {
    return failed(cudaErrorInvalidResourceHandle);
  }
  if (stream->device == m.current) return cudaSuccess;
  std::fprintf(stderr, "fake CUDA: %s on a stream of device %d while device %d is current\n", what,
               stream->device, m.current);
  return failed(cudaErrorInvalidResourceHandle);
}

/// Counts operations until the fault of the environment comes.
void count(Operation& operation) {
  Machine& m = machine();
  if (m.until_fault == 0 || --m.until_fault > 0) return;
  if (m.fault == "illegal_address") m.sticky = cudaErrorIllegalAddress;
  if (m.fault == "ecc") m.sticky = cudaErrorECCUncorrectable;
  if (m.fault == "hang") operation.duration = kNever;
  if (m.fault == "exit") _exit(1);
}

cudaError_t put(cudaStream_t stream, Operation operation, double host_seconds, const char* what) {
  const cudaError_t error = checked(stream, what);
  if (error != cudaSuccess) return error;
  if (stream->is_captured) {
    if (operation.kind != Operation::Kind::work) return failed(cudaErrorStreamCaptureUnsupported);
    pass_host_time(1e-6);
    stream->nodes.push_back(std::move(operation));
    return cudaSuccess;
  }
  pass_host_time(host_seconds);
  operation.issued = machine().now;
  if (operation.kind == Operation::Kind::work || operation.kind == Operation::Kind::meeting) {
    count(operation);
  }
  stream->operations.push_back(std::move(operation));
  return cudaSuccess;
}

void* reserved(std::size_t bytes) {
  void* const memory = mmap(nullptr, std::max<std::size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

double host_time() { return machine().now; }
void pass_host_time(double seconds) { machine().now += seconds; }
void wait_for_others(double seconds) {
  usleep(100);
  machine().waited += seconds;
}
const std::string& fault() { return machine().fault; }
cudaError_t sticky_error() { return machine().sticky; }
cudaError_t failed(cudaError_t error) { return machine().last = error; }
int current_device() { return machine().current; }
int device_of(cudaStream_t stream) { return stream->device; }
double clock_hz(int device) {
  return machine().busy[device] < kBoostSeconds ? 1.98e9 : 1.98e9 / kBoost;
}
double watts(int device) { return machine().busy[device] > 0.0 ? 690.0 : 75.0; }

cudaError_t put_work(cudaStream_t stream, double duration, double host_seconds, const char* what,
                     unsigned long long* stamps) {
  Operation operation;
  const bool is_captured = stream != nullptr && stream->is_captured;
  operation.duration = duration * (is_captured ? 1.0 : noise());  // else each launch has its own
  operation.stamps = stamps;
  return put(stream, std::move(operation), host_seconds, what);
}

cudaError_t put_meeting(cudaStream_t stream, double duration, std::shared_ptr<Meeting> meeting) {
  Operation operation;
  operation.kind = Operation::Kind::meeting;
  operation.duration = duration;
  operation.meeting = std::move(meeting);
  const int before = machine().current;
  machine().current = stream->device;  // NCCL knows the device of its communicator
  const cudaError_t error = put(stream, std::move(operation), 0.0, "a collective");
  machine().current = before;
  return error;
}

cudaError_t launch(const Launch& kernel, cudaStream_t stream) {
  const KernelLaw law = kernel_law(kernel);
  if (law.name.empty()) {
    std::fprintf(stderr, "fake CUDA: a kernel without a law\n");
    return failed(cudaErrorInvalidValue);
  }
  if (law.name == "hold") {
    Operation hold;
    hold.kind = Operation::Kind::hold;
    hold.flag = *static_cast<const volatile int**>(kernel.arguments[0]);
    hold.expired = *static_cast<volatile int**>(kernel.arguments[2]);
    return put(stream, std::move(hold), kLaunch, "hold");
  }
  unsigned long long* stamps = nullptr;
  if (law.name == "stamp") stamps = *static_cast<unsigned long long**>(kernel.arguments[1]);
  const cudaError_t error = put_work(stream, law.time, kLaunch, law.name.c_str(), stamps);
  // Work of graphs, and what is large, is timed and not done.
  constexpr std::size_t kMostThreads = 30'000;
  constexpr std::size_t kMostFibers = 1U << 12U;
  const std::size_t threads = std::size_t{kernel.grid} * kernel.threads;
  const bool is_run = error == cudaSuccess && !stream->is_captured && stamps == nullptr &&
                      law.time < 1e-5 &&
                      threads <= (law.has_shuffles ? kMostFibers : kMostThreads);
  if (is_run) run_threads(kernel, law.has_shuffles);
  return error;
}

}  // namespace fake_cuda

using namespace fake_cuda;

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
  properties->major = 9;
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
cudaError_t cudaMemcpyPeerAsync(void* /*to*/, int /*to_device*/, const void* /*from*/,
                                int /*from_device*/, std::size_t bytes, cudaStream_t stream) {
  return put_work(stream, peer_copy_time(bytes), 3e-6, "cudaMemcpyPeerAsync");
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (sticky_error() != cudaSuccess) return failed(sticky_error());
  pass_host_time(1e-5 + copy_time(bytes, kind));
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  if (sticky_error() != cudaSuccess) return failed(sticky_error());
  pass_host_time(1e-5);
  constexpr std::size_t kMost = 1U << 16U;  // the rest would only cost this machine's memory
  std::memset(memory, value, std::min(bytes, kMost));
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  const double time = 1.5e-6 + static_cast<double>(bytes) / kMemoryRate;
  const cudaError_t error = put_work(stream, time, 3e-6, "cudaMemsetAsync");
  constexpr std::size_t kMost = 1U << 16U;
  if (error == cudaSuccess && !stream->is_captured) {
    std::memset(memory, value, std::min(bytes, kMost));
  }
  return error;
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
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
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
