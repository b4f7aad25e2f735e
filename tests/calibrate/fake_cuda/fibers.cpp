#include <ucontext.h>

#include <vector>

#include "tests/calibrate/fake_cuda/device.h"

namespace fake_cuda {
namespace {

/// The threads of a block, each on a stack of its own, run in turn from one shuffle to the next.
struct Block {
  ucontext_t scheduler;
  std::vector<ucontext_t> threads;
  std::vector<std::vector<char>> stacks;
  std::vector<bool> has_ended;
  std::vector<float> values;  ///< that threads give each other
  unsigned current = 0;
  const std::function<void()>* body = nullptr;
};
Block& block() {
  static Block one;
  return one;
}

void yield() {
  Block& b = block();
  const unsigned mine = b.current;
  swapcontext(&b.threads[mine], &b.scheduler);
  threadIdx.x = mine;
}

void enter() {
  Block& b = block();
  (*b.body)();
  b.has_ended[b.current] = true;
  swapcontext(&b.threads[b.current], &b.scheduler);
}

void run_block(unsigned threads) {
  constexpr std::size_t kStack = 1U << 16U;
  Block& b = block();
  b.threads.resize(threads);
  b.stacks.resize(threads);
  b.values.resize(threads);
  b.has_ended.assign(threads, false);
  for (unsigned t = 0; t < threads; ++t) {
    b.stacks[t].resize(kStack);
    getcontext(&b.threads[t]);
    b.threads[t].uc_stack.ss_sp = b.stacks[t].data();
    b.threads[t].uc_stack.ss_size = kStack;
    b.threads[t].uc_link = nullptr;
    makecontext(&b.threads[t], enter, 0);
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned t = 0; t < threads; ++t) {
      if (b.has_ended[t]) continue;
      b.current = threadIdx.x = t;
      swapcontext(&b.scheduler, &b.threads[t]);
      any = true;
    }
  }
}

}  // namespace

void run_threads(const Launch& kernel, bool as_fibers) {
  gridDim.x = kernel.grid;
  blockDim.x = kernel.threads;
  block().body = &kernel.body;
  for (blockIdx.x = 0; blockIdx.x < kernel.grid; ++blockIdx.x) {
    if (as_fibers) {
      run_block(kernel.threads);
      continue;
    }
    for (threadIdx.x = 0; threadIdx.x < kernel.threads; ++threadIdx.x) kernel.body();
  }
}

}  // namespace fake_cuda

float __shfl_xor_sync(unsigned /*mask*/, float value, int lanes) {
  auto& b = fake_cuda::block();
  const unsigned mine = b.current;
  b.values[mine] = value;
  fake_cuda::yield();
  const float theirs = b.values[mine ^ static_cast<unsigned>(lanes)];
  fake_cuda::yield();
  return theirs;
}
void __syncthreads() { fake_cuda::yield(); }
long long clock64() { return static_cast<long long>(1.8e9 * fake_cuda::host_time()); }
