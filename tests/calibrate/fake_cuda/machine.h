#pragma once

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/calibrate/fake_cuda/device.h"

// What device.cpp (time) and runtime.cpp (CUDA's calls) share.

struct CUevent_st {
  int device = 0;
  double time = -1.0;
  int pending = 0;
};

namespace fake_cuda {

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
  int devices = 1;
  int first = 0;
  double memory = 0.0;
  int current = 0;
  cudaError_t last = cudaSuccess;
  cudaError_t sticky = cudaSuccess;
  std::string fault;
  long until_fault = 0;
  std::map<void*, std::pair<int, std::size_t>> allocations;  // device, bytes
  std::map<int, double> used;
  std::map<int, double> busy;
  std::map<int, double> unbroken;  ///< work since the last rest
  std::map<int, double> ended;     ///< when the last work did
  std::set<cudaStream_t> streams;
  std::set<std::pair<int, int>> peers;  ///< of which the first reaches the second's memory
  std::mt19937_64 random{7};

  Machine();  ///< as the environment says
};
[[nodiscard]] Machine& machine();

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Does all that streams can do by now.
void advance();
/// Whether the stream is of the current device, and nothing went wrong before.
cudaError_t checked(cudaStream_t stream, const char* what);
cudaError_t put(cudaStream_t stream, Operation operation, double host_seconds, const char* what);
/// A factor about 1.
[[nodiscard]] double noise();

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
