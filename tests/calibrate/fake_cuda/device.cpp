#include "tests/calibrate/fake_cuda/device.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "tests/calibrate/fake_cuda/law.h"
#include "tests/calibrate/fake_cuda/machine.h"

namespace fake_cuda {
namespace {

double setting(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atof(text);
}

/// Of the device's clock, over what lasts with pauses.
double speed(int device) {
  Machine& m = machine();
  if (m.busy[device] < kBoostSeconds) return kBoost;
  return m.unbroken[device] < kHeatSeconds ? 1.0 : kHot;
}

/// Whether the name that the environment gives begins so.
bool is_named(std::string_view beginning) {
  const char* const name = std::getenv("FAKE_CUDA_NAME");
  return name != nullptr && std::string_view(name).starts_with(beginning);
}

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
      double& unbroken = m.unbroken[stream.device];
      double& ended = m.ended[stream.device];
      if (earliest - ended > kRest) unbroken = 0.0;
      const double duration = next.duration / speed(stream.device);
      stream.ready = earliest + duration;
      ended = std::max(ended, stream.ready);
      m.busy[stream.device] += duration;
      unbroken += duration;
      if (next.stamps != nullptr) {
        next.stamps[0] = static_cast<unsigned long long>(1e9 * earliest);
        next.stamps[1] = static_cast<unsigned long long>(1e9 * stream.ready);
      }
      return true;
    }
  }
  return true;
}

/// Counts operations until the fault of the environment comes.
void count(Operation& operation) {
  Machine& m = machine();
  if (m.until_fault == 0 || --m.until_fault > 0) return;
  if (m.fault == "illegal_address") m.sticky = cudaErrorIllegalAddress;
  if (m.fault == "ecc") m.sticky = cudaErrorECCUncorrectable;
  // Another program takes what is free, and what is given back next.
  if (m.fault == "no_memory") m.memory = m.used[m.current] - (1U << 26U);
  if (m.fault == "hang") operation.duration = kNever;
  if (m.fault == "exit") _exit(1);
  if (m.fault == "kill") kill(getpid(), SIGKILL);
}

}  // namespace

Machine::Machine()
    : devices(static_cast<int>(setting("FAKE_CUDA_DEVICES", 1))),
      first(static_cast<int>(setting("FAKE_CUDA_FIRST", 0))),
      memory(setting("FAKE_CUDA_MEMORY", 84943700000.0)) {
  const char* const text = std::getenv("FAKE_CUDA_FAULT");
  if (text == nullptr) return;
  std::string whole = text;
  const std::size_t at = whole.find('@');
  if (at != std::string::npos) {
    const char* const rank = std::getenv("RANK");
    if (rank == nullptr || whole.substr(at + 1) != rank) return;
    whole.resize(at);
  }
  fault = whole.substr(0, whole.find(':'));
  until_fault =
      whole.find(':') == std::string::npos ? 0 : std::atol(whole.c_str() + fault.size() + 1);
}

Machine& machine() {
  static Machine one;
  return one;
}

double noise() {
  std::uniform_real_distribution<double> uniform(-1.7320508, 1.7320508);  // of deviation 1
  return 1.0 + kNoise * uniform(machine().random);
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

double host_time() { return machine().now; }
void pass_host_time(double seconds) { machine().now += seconds; }
void wait_for_others(double seconds) {
  // A meeting since the last look, which was before this process found something undone, may be
  // just what it waits for.
  static int seen = meetings().load();
  const timespec while_nobody_wakes{0, 400'000};
  const long result = syscall(SYS_futex, &meetings(), FUTEX_WAIT, seen, &while_nobody_wakes);
  if (result != 0 && errno == ETIMEDOUT) machine().waited += seconds;
  seen = meetings().load();
}
void wake_others() {
  meetings().fetch_add(1);
  syscall(SYS_futex, &meetings(), FUTEX_WAKE, INT_MAX);
}
const std::string& fault() { return machine().fault; }
cudaError_t sticky_error() { return machine().sticky; }
cudaError_t failed(cudaError_t error) { return machine().last = error; }
bool is_blackwell() { return is_named("NVIDIA B"); }
bool is_cdna3() { return is_named("AMD Instinct MI30"); }
int current_device() { return machine().current; }
int device_of(cudaStream_t stream) { return stream->device; }
bool is_captured(cudaStream_t stream) { return stream->is_captured; }
double clock_hz(int device) { return 1.98e9 / kBoost * speed(device); }
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
                      law.time < 1e-5 && threads <= (law.has_shuffles ? kMostFibers : kMostThreads);
  if (is_run) run_threads(kernel, law.has_shuffles);
  return error;
}

}  // namespace fake_cuda
