#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace fake_cuda {

// A machine of some devices on a virtual clock. Every call costs the host some of it; work on a
// stream begins when the host has put it there and what stands before it has ended. Nothing waits
// in real time, but for other processes.
//
// Environment:
//   FAKE_CUDA_DEVICES  how many (1)
//   FAKE_CUDA_NAME     what the driver calls them ("NVIDIA H100 80GB HBM3")
//   FAKE_CUDA_MEMORY   bytes of each (84943700000)
//   FAKE_CUDA_FIRST    number of the first device, where processes see one each (0)
//   FAKE_CUDA_OTHERS   processes of other programs that compute on each of them (0)
//   FAKE_CUDA_FAULT    "WHAT:COUNT", what happens at that operation on a device: illegal_address,
//                      ecc, hang, exit or kill (of the process), no_memory (from then on), of one
//                      rank with "@RANK" behind; or from the first on refuse_bf16 (products), wrong
//                      (their results), no_connection (of a group), no_peers (that reach each
//                      other's memory), taken (each by its own process alone), not_ready (all of
//                      them), no_shared_memory (for a group), no_cudnn (that starts)
//   FAKE_CUDA_SHARED   a file that all processes of a job map, for their collectives

[[nodiscard]] double host_time();
void pass_host_time(double seconds);
/// Until one of the others wakes this process, or for a while: then `seconds` count for deadlines,
/// not for the devices.
void wait_for_others(double seconds);

/// What the processes of a job have in common: the latest clock with which one began to wait for
/// the others, by which all go on. Clocks of several processes on one core would drift apart.
[[nodiscard]] std::atomic<double>& common_clock();
/// How often something has come about that others may be waiting for.
[[nodiscard]] std::atomic<int>& meetings();
/// Counts one, and wakes them.
void wake_others();

/// "hang" in "hang:100".
[[nodiscard]] const std::string& fault();
/// The error that every call returns since an asynchronous fault; cudaSuccess before.
[[nodiscard]] cudaError_t sticky_error();
/// Keeps `error` for cudaGetLastError and returns it.
cudaError_t failed(cudaError_t error);

[[nodiscard]] int current_device();
/// By the name that the environment gives it.
[[nodiscard]] bool is_blackwell();
[[nodiscard]] bool is_cdna3();

/// What a collective of several members needs to begin: that all have come to it.
class Meeting {
 public:
  virtual ~Meeting() = default;
  /// Called, perhaps again and again, when a member's stream has come so far that the collective
  /// could begin at `ready` but for the others. The time at which all can, or a negative number.
  [[nodiscard]] virtual double begin(double ready) = 0;
};

/// Puts work on a stream; an error where it is of another device than the current one.
cudaError_t put_work(cudaStream_t stream, double duration, double host_seconds, const char* what,
                     unsigned long long* stamps = nullptr);
cudaError_t put_meeting(cudaStream_t stream, double duration, std::shared_ptr<Meeting> meeting);
[[nodiscard]] int device_of(cudaStream_t stream);
[[nodiscard]] bool is_captured(cudaStream_t stream);

/// What the device's clock is just now, and what it draws.
[[nodiscard]] double clock_hz(int device);
[[nodiscard]] double watts(int device);

/// Threads of a kernel on this core: those with shuffles as fibers in lockstep.
void run_threads(const Launch& kernel, bool as_fibers);

}  // namespace fake_cuda
