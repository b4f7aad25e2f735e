#include "calibrate/cpu/cpu_operations.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "calibrate/cpu/cpu_backend.h"
#include "calibrate/cpu/thread_clock.h"
#include "kernels/cpu_kernels.h"

namespace headway {
namespace {

/// A sample of a short operation is a batch of calls, so that the clock's own cost (tens of
/// nanoseconds) does not show.
constexpr double kShortestSample = 20e-6;

template <class Call>
class BatchedOperation final : public Operation {
 public:
  explicit BatchedOperation(Call call) : call_(std::move(call)) {
    const ThreadClock clock;
    call_();
    const double once = std::max(clock.elapsed().time.count(), 1e-8);
    calls_ = static_cast<int>(std::clamp(std::ceil(kShortestSample / once), 1.0, 2000.0));
  }
  Sample repeat() override {
    const ThreadClock clock;
    for (int i = 0; i < calls_; ++i) call_();
    Sample sample = clock.elapsed_computing();
    sample.time = sample.time / calls_;
    return sample;
  }

 private:
  Call call_;
  int calls_ = 1;
};

/// Calls as they come after a wait, one for each of a small network's layers.
template <class Call>
class OperationAfterWait final : public Operation {
 public:
  OperationAfterWait(Call call, Seconds wait) : call_(std::move(call)), wait_(wait) {}
  Sample repeat() override {
    constexpr int kCalls = 4;
    const timespec pause{0, static_cast<long>(1e9 * wait_.count())};
    nanosleep(&pause, nullptr);
    const ThreadClock clock;
    for (int i = 0; i < kCalls; ++i) call_();
    Sample sample = clock.elapsed_computing();
    sample.time = sample.time / kCalls;
    sample.besides = wait_ + (kCalls - 1.0) * sample.time;
    return sample;
  }

 private:
  Call call_;
  Seconds wait_;
};

template <class Call>
std::unique_ptr<Operation> batched(Call call) {
  return std::make_unique<BatchedOperation<Call>>(std::move(call));
}

std::size_t count(double a, double b) { return static_cast<std::size_t>(a * b); }

/// What a rank needs besides the streamed operands: indices and factors of a row.
struct SideData {
  explicit SideData(std::size_t elements)
      : row(std::min(elements, kKernelRow)), index(elements / row), scale(elements / row) {
    const std::size_t rows = index.size();
    // A step coprime to the number of rows visits each of them once, far apart.
    for (std::size_t r = 0; r < rows; ++r) index[r] = static_cast<std::int32_t>(r * 7919 % rows);
    for (std::size_t r = 0; r < rows; ++r) target.push_back(static_cast<std::int32_t>(r % row));
    for (std::size_t i = 0; i < row / 2; ++i) {
      cosine.push_back(std::cos(static_cast<float>(i)));
      sine.push_back(std::sin(static_cast<float>(i)));
    }
  }
  std::size_t row;
  std::vector<std::int32_t> index;
  std::vector<float> scale;
  std::vector<std::int32_t> target;
  std::vector<float> cosine;
  std::vector<float> sine;
};

void run_kernel(MemoryKernel kernel, std::size_t n, Operands& pools, SideData& side) {
  const float* x = pools.a.take(n).data();
  float* z = pools.c.take(n).data();
  const auto y = [&pools, n] { return pools.b.take(n).data(); };
  switch (kernel) {
    case MemoryKernel::residual_add:
      return cpu_residual_add(x, y(), z, n);
    case MemoryKernel::layer_norm:
      return cpu_layer_norm(x, z, n, side.row);
    case MemoryKernel::rms_norm:
      return cpu_rms_norm(x, z, n, side.row);
    case MemoryKernel::layer_norm_backward:
      return cpu_layer_norm_backward(x, y(), z, n, side.row);
    case MemoryKernel::softmax_backward:
      return cpu_softmax_backward(x, y(), z, n, side.row);
    case MemoryKernel::softmax:
      return cpu_softmax(x, z, n, side.row);
    case MemoryKernel::gelu:
      return cpu_gelu(x, z, n);
    case MemoryKernel::gelu_backward:
      return cpu_gelu_backward(x, y(), z, n);
    case MemoryKernel::swiglu:
      return cpu_swiglu(x, y(), z, n);
    case MemoryKernel::rotary:
      return cpu_rotary(x, side.cosine.data(), side.sine.data(), z, n, side.row);
    case MemoryKernel::cross_entropy:
      return cpu_cross_entropy(x, side.target.data(), z, n, side.row);
    case MemoryKernel::embedding_gather:
      return cpu_embedding_gather(x, side.index.data(), z, n, side.row);
    case MemoryKernel::adam:
      return cpu_adam(z, y(), pools.d.take(n).data(), x, {}, n);
    case MemoryKernel::quantise:
      return cpu_quantise(x, reinterpret_cast<std::int8_t*>(z), side.scale.data(), n, side.row);
    case MemoryKernel::sparsify:
      return cpu_sparsify(x, 0.45F, z, y(), n);
    case MemoryKernel::vocabulary_loss:
    case MemoryKernel::cast_transpose:
      HEADWAY_CHECK(false, "a kernel of accelerators only");
  }
}

}  // namespace

std::unique_ptr<Operation> cpu_batched_operation(const BatchedGemmPoint& point, Operands operands) {
  const GemmShape& shape = point.gemm.shape;
  const std::size_t a = count(shape.m, shape.k);
  const std::size_t b = count(shape.k, shape.n);
  const std::size_t c = count(shape.m, shape.n);
  return batched([point, operands, a, b, c] {
    for (int i = 0; i < point.batch; ++i) {
      cpu_gemm(point.gemm, operands.a.take(a).data(), operands.b.take(b).data(),
               operands.c.take(c).data());
    }
  });
}

std::unique_ptr<Operation> cpu_memory_operation(const MemoryPoint& point, Operands operands,
                                                Seconds wait) {
  auto side = std::make_shared<SideData>(point.elements);
  auto pass = [point, operands, side]() mutable {
    run_kernel(point.kernel, point.elements, operands, *side);
  };
  if (wait > Seconds(0.0)) {
    return std::make_unique<OperationAfterWait<decltype(pass)>>(std::move(pass), wait);
  }
  return batched(std::move(pass));
}

}  // namespace headway
