#include "calibrate/cuda/result_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "calibrate/cuda/cublaslt_gemm.h"
#include "calibrate/cuda/event_wait.h"
#include "kernels/cpu_kernels.h"
#include "kernels/device_kernels.h"

namespace headway {
namespace {

constexpr std::size_t kRows = 6;  // not a multiple of the rows of a block
constexpr std::size_t kElements = kRows * kKernelRow;

std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}
float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }

float from_fp16(std::uint16_t bits) {
  const int exponent = bits >> 10U & 0x1f;
  const auto fraction = static_cast<float>(bits & 0x3ffU);
  const float size = exponent == 0 ? std::ldexp(fraction, -24)
                                   : std::ldexp(1024.0F + fraction, exponent - 25);
  return (bits & 0x8000U) != 0 ? -size : size;
}

float from_e4m3(std::uint8_t bits) {
  const int exponent = bits >> 3U & 0xf;
  const auto fraction = static_cast<float>(bits & 7U);
  const float size =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8.0F + fraction, exponent - 10);
  return (bits & 0x80U) != 0 ? -size : size;
}

/// Random numbers that bf16 holds.
std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const double uniform = static_cast<double>(random()) / 4294967296.0;
    value = from_bf16(bf16_bits(static_cast<float>(4.0 * uniform - 2.0)));
  }
  return values;
}

class Uploaded : public DevicePool {
 public:
  template <class Value>
  explicit Uploaded(const std::vector<Value>& values) : DevicePool(values.size() * sizeof(Value)) {
    HEADWAY_CUDA(cudaMemcpy(data(), values.data(), bytes(), cudaMemcpyHostToDevice));
  }
};
template <class Value>
std::vector<Value> to_host(const DevicePool& memory) {
  std::vector<Value> values(memory.bytes() / sizeof(Value));
  HEADWAY_CUDA(cudaMemcpy(values.data(), memory.data(), memory.bytes(), cudaMemcpyDeviceToHost));
  return values;
}
std::vector<std::uint16_t> rounded_bits(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) bits.push_back(bf16_bits(value));
  return bits;
}
std::vector<float> halves(const DevicePool& memory) {
  std::vector<float> values;
  for (const std::uint16_t bits : to_host<std::uint16_t>(memory)) values.push_back(from_bf16(bits));
  return values;
}

/// Off by more than `tolerance` of a number, or of a hundredth where it is smaller; NaN is.
void compare(const std::string& what, const std::vector<float>& got,
             const std::vector<float>& expected, double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(static_cast<double>(got[i]) - expected[i]);
    if (off <= tolerance * (std::abs(static_cast<double>(expected[i])) + 1e-2)) continue;
    throw EnvironmentError(fmt::format(
        "{} gives {} where {} is right (element {}): the device or its libraries compute wrongly",
        what, got[i], expected[i], i));
  }
}

/// Operands of the kernels, on the device and off it.
struct Operands {
  std::vector<float> x = numbers(kElements, 1);
  std::vector<float> y = numbers(kElements, 2);
  std::vector<float> w = numbers(kElements, 3);
  std::vector<float> m = numbers(kElements, 4);
  std::vector<float> v = std::vector<float>(kElements, 0.25F);
  std::vector<std::int32_t> index = {3, 0, 5, 1, 4, 2};
};

/// What a kernel makes of them by its twin: z, and where it has a second result that too.
struct Results {
  std::vector<float> z = std::vector<float>(kElements);
  std::vector<float> second = {};
};

void turn(const std::vector<float>& x, std::vector<float>& z) {
  const std::size_t half = kKernelRow / 2;
  std::vector<float> cosine(half);
  std::vector<float> sine(half);
  for (std::size_t row = 0; row < kRows; ++row) {
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

Results by_twin(MemoryKernel kernel, const Operands& o) {
  Results r;
  const float* x = o.x.data();
  const float* y = o.y.data();
  float* z = r.z.data();
  switch (kernel) {
    case MemoryKernel::residual_add:
      cpu_residual_add(x, y, z, kElements);
      break;
    case MemoryKernel::layer_norm:
      cpu_layer_norm(x, z, kElements, kKernelRow);
      break;
    case MemoryKernel::rms_norm:
      cpu_rms_norm(x, z, kElements, kKernelRow);
      break;
    case MemoryKernel::softmax:
      cpu_softmax(x, z, kElements, kKernelRow);
      break;
    case MemoryKernel::layer_norm_backward:
      cpu_layer_norm_backward(x, y, z, kElements, kKernelRow);
      break;
    case MemoryKernel::softmax_backward:
      cpu_softmax_backward(x, y, z, kElements, kKernelRow);
      break;
    case MemoryKernel::gelu:
      cpu_gelu(x, z, kElements);
      break;
    case MemoryKernel::gelu_backward:
      cpu_gelu_backward(x, y, z, kElements);
      break;
    case MemoryKernel::swiglu:
      cpu_swiglu(x, y, z, kElements);
      break;
    case MemoryKernel::rotary:
      turn(o.x, r.z);
      break;
    case MemoryKernel::cross_entropy:
      cpu_cross_entropy(x, o.index.data(), z, kElements, kKernelRow);
      break;
    case MemoryKernel::embedding_gather:
      cpu_embedding_gather(x, o.index.data(), z, kElements, kKernelRow);
      break;
    case MemoryKernel::adam: {
      std::vector<float> m = o.m;
      std::vector<float> v = o.v;
      r.z = o.w;
      cpu_adam(r.z.data(), m.data(), v.data(), x, AdamRates{}, kElements);
      r.second = m;
      break;
    }
    case MemoryKernel::quantise: {
      std::vector<std::int8_t> q(kElements);
      r.second.resize(kRows);
      cpu_quantise(x, q.data(), r.second.data(), kElements, kKernelRow);
      for (std::size_t i = 0; i < kElements; ++i) r.z[i] = q[i];
      break;
    }
    case MemoryKernel::sparsify:
      r.second.resize(kElements);
      cpu_sparsify(x, 0.45F, z, r.second.data(), kElements);
      break;
  }
  return r;
}

void check_kernel(MemoryKernel kernel, const Operands& o, cudaStream_t stream) {
  const Uploaded x(rounded_bits(o.x));
  const Uploaded y(rounded_bits(o.y));
  const DevicePool z(2 * kElements);
  const Uploaded w(o.w);
  const Uploaded m(o.m);
  const Uploaded v(o.v);
  const Uploaded g(o.x);
  const Uploaded index(o.index);
  const DevicePool scale(kRows * sizeof(float));
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
  HEADWAY_CUDA(launch_memory_kernel(kernel, operands, kElements, stream));
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
    got.resize(kElements);
    for (std::size_t i = 0; i < kElements; ++i) {  // a tie may be rounded either way
      if (std::abs(got[i] - expected.z[i]) == 1.0F) got[i] = expected.z[i];
    }
    compare(name, got, expected.z, 0.0);
    return compare(name + " (scales)", to_host<float>(scale), expected.second, 1e-4);
  }
  compare(name, halves(z), expected.z, kTolerance);
  if (kernel == MemoryKernel::sparsify) {
    compare(name + " (rest)", halves(y), expected.second, kTolerance);
  }
}

/// Element i of operands or results of a product.
float element(const std::vector<std::uint8_t>& bytes, Precision precision, std::size_t i) {
  const auto at = [&bytes]<class Bits>(std::size_t k, Bits bits) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(k * sizeof bits), sizeof bits,
                reinterpret_cast<std::uint8_t*>(&bits));
    return bits;
  };
  switch (precision) {
    case Precision::fp8:
      return from_e4m3(bytes[i]);
    case Precision::fp16:
      return from_fp16(at(i, std::uint16_t{}));
    case Precision::bf16:
      return from_bf16(at(i, std::uint16_t{}));
    default:
      return at(i, 0.0F);
  }
}

void check_product(const GemmPoint& point, std::uint32_t seed) {
  const BatchedGemmPoint batched{point, 1};
  const GemmBytes bytes = gemm_bytes(batched);
  DevicePool a(bytes.a);
  DevicePool b(bytes.b);
  DevicePool c(bytes.c);
  const DeviceStream stream;
  const bool is_fp8 = point.precision == Precision::fp8;
  const RandomFormat format = is_fp8 ? RandomFormat::e4m3 : RandomFormat::bf16;
  HEADWAY_CUDA(launch_random(format, a.data(), a.bytes(), seed, stream));
  HEADWAY_CUDA(launch_random(format, b.data(), b.bytes(), seed + 1, stream));
  cublaslt_gemm(batched, a, b, c)(stream);
  wait_for(stream);
  const auto of_a = to_host<std::uint8_t>(a);
  const auto of_b = to_host<std::uint8_t>(b);
  const auto of_c = to_host<std::uint8_t>(c);
  const auto m = static_cast<std::size_t>(point.shape.m);
  const auto n = static_cast<std::size_t>(point.shape.n);
  const auto k = static_cast<std::size_t>(point.shape.k);
  const bool a_transposed = point.layout == GemmLayout::tn && !is_fp8;
  const bool b_transposed = point.layout == GemmLayout::nt || is_fp8;
  const Precision result = is_fp8 ? Precision::bf16 : point.precision;
  std::vector<float> got;
  std::vector<float> expected;
  for (std::size_t row = 0; row < m; row += 7) {
    for (std::size_t column = 0; column < n; column += 5) {
      double sum = 0.0;
      double size = 0.0;
      for (std::size_t i = 0; i < k; ++i) {
        const double term =
            static_cast<double>(element(of_a, point.precision, a_transposed ? i * m + row : row * k + i)) *
            element(of_b, point.precision, b_transposed ? column * k + i : i * n + column);
        sum += term;
        size += std::abs(term);
      }
      // Relative to what is added up, which cancels.
      got.push_back(static_cast<float>((element(of_c, result, row * n + column) - sum) / size));
      expected.push_back(0.0F);
    }
  }
  constexpr double kTolerance = 1.0;  // of a hundredth: see compare
  compare(point_text(point), got, expected, kTolerance);
}

}  // namespace

std::string checked_results(const Offer& offer) {
  constexpr std::array kAll = {
      MemoryKernel::residual_add,        MemoryKernel::layer_norm,       MemoryKernel::rms_norm,
      MemoryKernel::softmax,             MemoryKernel::layer_norm_backward,
      MemoryKernel::softmax_backward,    MemoryKernel::gelu,             MemoryKernel::gelu_backward,
      MemoryKernel::swiglu,              MemoryKernel::rotary,           MemoryKernel::cross_entropy,
      MemoryKernel::embedding_gather,    MemoryKernel::adam,             MemoryKernel::quantise,
      MemoryKernel::sparsify};
  const Operands operands;
  const DeviceStream stream;
  for (const MemoryKernel kernel : kAll) check_kernel(kernel, operands, stream);
  int products = 0;
  std::string refused;
  for (const Precision precision : offer.precisions) {
    for (const GemmLayout layout : {GemmLayout::nn, GemmLayout::nt, GemmLayout::tn}) {
      const GemmPoint point{{64, 96, 128}, precision, layout};
      try {
        check_product(point, static_cast<std::uint32_t>(++products));
      } catch (const Refused& refusal) {
        --products;
        if (refused.empty()) refused = fmt::format("; refused: {}", refusal.what());
      }
    }
  }
  return fmt::format("{} kernels and {} products agree with plain C++{}", kAll.size(), products,
                     refused);
}

}  // namespace headway
