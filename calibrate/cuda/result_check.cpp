#include "calibrate/cuda/result_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "calibrate/cuda/checked_numbers.h"
#include "calibrate/cuda/event_wait.h"
#include "calibrate/cuda/product_check.h"
#include "kernels/cpu_kernels.h"
#include "kernels/device_kernels.h"

namespace headway {
namespace {

/// Elements that a kernel is checked on: six rows, no multiple of the rows of a block, or two of
/// what it takes whole multiples of.
std::size_t checked_elements(MemoryKernel kernel) {
  const std::size_t whole = whole_elements(kernel);
  return whole == kKernelRow ? 6 * kKernelRow : 2 * whole;
}

/// Operands of the kernels, on the device and off it.
struct Operands {
  explicit Operands(std::size_t count) : elements(count) {}
  std::size_t elements;
  std::vector<float> x = numbers(elements, 1);
  std::vector<float> y = numbers(elements, 2);
  std::vector<float> w = numbers(elements, 3);
  std::vector<float> m = numbers(elements, 4);
  std::vector<float> v = std::vector<float>(elements, 0.25F);
  std::vector<std::int32_t> index = {3, 0, 5, 1, 4, 2};
};

/// What a kernel makes of them by its twin: z, and where it has a second result that too.
struct Results {
  std::vector<float> z;
  std::vector<float> second = {};
};

void turn(const std::vector<float>& x, std::vector<float>& z) {
  const std::size_t half = kKernelRow / 2;
  std::vector<float> cosine(half);
  std::vector<float> sine(half);
  for (std::size_t row = 0; row < x.size() / kKernelRow; ++row) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(row) *
                           std::pow(10000.0, -2.0 * static_cast<double>(i) / kKernelRow);
      cosine[i] = static_cast<float>(std::cos(angle));
      sine[i] = static_cast<float>(std::sin(angle));
    }
    // The twin's row is the position in its tables, one position each.
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t at = row * kKernelRow + 2 * i;
      z[at] = x[at] * cosine[i] - x[at + 1] * sine[i];
      z[at + 1] = x[at] * sine[i] + x[at + 1] * cosine[i];
    }
  }
}

/// A power of two, by which multiplying and dividing are the same.
constexpr float kCastScale = 0.0078125F;

Results by_twin(MemoryKernel kernel, const Operands& o) {
  const std::size_t n = o.elements;
  Results r{std::vector<float>(n)};
  const float* x = o.x.data();
  const float* y = o.y.data();
  float* z = r.z.data();
  switch (kernel) {
    case MemoryKernel::residual_add:
      cpu_residual_add(x, y, z, n);
      break;
    case MemoryKernel::layer_norm:
      cpu_layer_norm(x, z, n, kKernelRow);
      break;
    case MemoryKernel::rms_norm:
      cpu_rms_norm(x, z, n, kKernelRow);
      break;
    case MemoryKernel::softmax:
      cpu_softmax(x, z, n, kKernelRow);
      break;
    case MemoryKernel::layer_norm_backward:
      cpu_layer_norm_backward(x, y, z, n, kKernelRow);
      break;
    case MemoryKernel::softmax_backward:
      cpu_softmax_backward(x, y, z, n, kKernelRow);
      break;
    case MemoryKernel::gelu:
      cpu_gelu(x, z, n);
      break;
    case MemoryKernel::gelu_backward:
      cpu_gelu_backward(x, y, z, n);
      break;
    case MemoryKernel::swiglu:
      cpu_swiglu(x, y, z, n);
      break;
    case MemoryKernel::rotary:
      turn(o.x, r.z);
      break;
    case MemoryKernel::cross_entropy:
      cpu_cross_entropy(x, o.index.data(), z, n, kKernelRow);
      break;
    case MemoryKernel::embedding_gather:
      cpu_embedding_gather(x, o.index.data(), z, n, kKernelRow);
      break;
    case MemoryKernel::adam: {
      std::vector<float> m = o.m;
      std::vector<float> v = o.v;
      r.z = o.w;
      cpu_adam(r.z.data(), m.data(), v.data(), x, AdamRates{}, n);
      r.second = m;
      break;
    }
    case MemoryKernel::quantise: {
      std::vector<std::int8_t> q(n);
      r.second.resize(n / kKernelRow);
      cpu_quantise(x, q.data(), r.second.data(), n, kKernelRow);
      for (std::size_t i = 0; i < n; ++i) r.z[i] = q[i];
      break;
    }
    case MemoryKernel::sparsify:
      r.second.resize(n);
      cpu_sparsify(x, 0.45F, z, r.second.data(), n);
      break;
    case MemoryKernel::vocabulary_loss:
      cpu_cross_entropy(x, o.index.data(), z, n, kVocabularyRow);
      break;
    case MemoryKernel::cast_transpose: {
      std::vector<std::uint8_t> q(n);
      std::vector<std::uint8_t> transposed(n);
      cpu_cast_transpose(x, kCastScale, q.data(), transposed.data(), n, kKernelRow);
      r.z.assign(q.begin(), q.end());
      r.second.assign(transposed.begin(), transposed.end());
      break;
    }
  }
  return r;
}

void check_kernel(MemoryKernel kernel, cudaStream_t stream) {
  const Operands o(checked_elements(kernel));
  const std::size_t n = o.elements;
  const Uploaded x(rounded_bits(o.x));
  const Uploaded y(rounded_bits(o.y));
  const DevicePool z(2 * n);
  const Uploaded w(o.w);
  const Uploaded m(o.m);
  const Uploaded v(o.v);
  const Uploaded g(o.x);
  const Uploaded index(o.index);
  const DevicePool scale(n / kKernelRow * sizeof(float));
  DeviceOperands operands;
  operands.x = x.data();
  operands.y = y.data();
  operands.z = z.data();
  operands.w = static_cast<float*>(w.data());
  operands.m = static_cast<float*>(m.data());
  operands.v = static_cast<float*>(v.data());
  operands.g = static_cast<const float*>(g.data());
  operands.index = static_cast<const std::int32_t*>(index.data());
  operands.q = static_cast<std::int8_t*>(z.data());
  operands.scale = static_cast<float*>(scale.data());
  operands.bits = static_cast<std::uint8_t*>(z.data());
  operands.transposed = operands.bits + n;
  operands.inverse_scale = 1.0F / kCastScale;
  HEADWAY_CUDA(launch_memory_kernel(kernel, operands, n, stream));
  wait_for(stream);
  const Results expected = by_twin(kernel, o);
  const std::string name = fmt::format("kernel {}", memory_kernel_name(kernel));
  // bf16 keeps 8 bits: a result is off by up to 0.4 % of itself, and where it is a difference of
  // larger numbers by as much of those.
  constexpr double kTolerance = 0.02;
  if (kernel == MemoryKernel::adam) {
    compare(name, to_host<float>(w), expected.z, 1e-4);
    return compare(name + " (first moment)", to_host<float>(m), expected.second, 1e-4);
  }
  if (kernel == MemoryKernel::quantise) {
    std::vector<float> got;
    for (const std::int8_t q : to_host<std::int8_t>(z)) got.push_back(q);
    got.resize(n);
    for (std::size_t i = 0; i < n; ++i) {  // a tie may be rounded either way
      if (std::abs(got[i] - expected.z[i]) == 1.0F) got[i] = expected.z[i];
    }
    compare(name, got, expected.z, 0.0);
    return compare(name + " (scales)", to_host<float>(scale), expected.second, 1e-4);
  }
  if (kernel == MemoryKernel::cast_transpose) {
    const auto bits = to_host<std::uint8_t>(z);
    const auto half = bits.begin() + static_cast<std::ptrdiff_t>(n);
    compare(name, {bits.begin(), half}, expected.z, 0.0);
    return compare(name + " (transpose)", {half, bits.end()}, expected.second, 0.0);
  }
  if (kernel == MemoryKernel::vocabulary_loss) {  // over that of words that are all as likely
    const auto over_mean = [](std::vector<float> values) {
      for (float& value : values) value *= static_cast<float>(kVocabularyRow);
      return values;
    };
    return compare(name, over_mean(halves(z)), over_mean(expected.z), kTolerance);
  }
  compare(name, halves(z), expected.z, kTolerance);
  if (kernel == MemoryKernel::sparsify) {
    compare(name + " (rest)", halves(y), expected.second, kTolerance);
  }
}

}  // namespace

std::string checked_results(const Offer& offer) {
  std::vector<MemoryKernel> kernels(kMemoryKernels.begin(), kMemoryKernels.end());
  kernels.insert(kernels.end(),
                 {MemoryKernel::layer_norm_backward, MemoryKernel::softmax_backward});
  kernels.insert(kernels.end(), kDeviceMemoryKernels.begin(), kDeviceMemoryKernels.end());
  const DeviceStream stream;
  for (const MemoryKernel kernel : kernels) check_kernel(kernel, stream);

  std::vector<BatchedGemmPoint> products;
  const GemmShape shape{64, 96, 128};
  for (const Precision precision : offer.precisions) {
    for (const GemmLayout layout : {GemmLayout::nn, GemmLayout::nt, GemmLayout::tn}) {
      products.push_back({{shape, precision, layout}, 1});
    }
  }
  // More than a tile of scales each way.
  const GemmShape large{160, 144, 160};
  if (offer.block_scaled_fp8) {
    products.push_back({{large, Precision::fp8, GemmLayout::nt, true}, 1});
  }
  if (offer.block_scaled_fp8 &&
      std::count(offer.precisions.begin(), offer.precisions.end(), Precision::fp4) > 0) {
    products.push_back({{large, Precision::fp4, GemmLayout::nt}, 1});
  }
  if (offer.accumulated) {
    products.push_back({{shape, *offer.accumulated, GemmLayout::tn, false, true}, 1});
  }
  if (offer.experts) products.push_back({{shape, *offer.experts, GemmLayout::nt}, 2});
  std::size_t right = 0;
  std::string refused;
  for (const BatchedGemmPoint& product : products) {
    try {
      check_product(product, static_cast<std::uint32_t>(right + 1));
      ++right;
    } catch (const Refused& refusal) {
      if (refused.empty()) refused = fmt::format("; refused: {}", refusal.what());
    }
  }
  return fmt::format("{} kernels and {} products agree with plain C++{}", kernels.size(), right,
                     refused);
}

}  // namespace headway
