#include "calibrate/cuda/product_check.h"

#include <algorithm>

#include "calibrate/cuda/checked_numbers.h"
#include "calibrate/cuda/cublaslt_gemm.h"
#include "calibrate/cuda/cublaslt_plan.h"
#include "calibrate/cuda/device_fill.h"
#include "calibrate/cuda/event_wait.h"
#include "kernels/cpu_kernels.h"
#include "kernels/device_kernels.h"

namespace headway {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

/// 1, 3, 5 and so on halves, of a bit of mantissa and two of exponent with bias 1.
float from_e2m1(unsigned bits) {
  constexpr float kSizes[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
  return (bits & 8U) != 0 ? -kSizes[bits & 7U] : kSizes[bits & 7U];
}

/// Element i of operands or results of a product.
float element(const Bytes8& bytes, Precision precision, std::size_t i) {
  const auto at = [&bytes]<class Bits>(std::size_t k, Bits bits) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(k * sizeof bits), sizeof bits,
                reinterpret_cast<std::uint8_t*>(&bits));
    return bits;
  };
  switch (precision) {
    case Precision::fp4:
      return from_e2m1(i % 2 == 0 ? bytes[i / 2] & 0xfU : bytes[i / 2] >> 4U);
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

/// The exponent of the scale of a row's block: a half, 1 or 2.
int scale_exponent(std::size_t row, std::size_t block) {
  return static_cast<int>((row + block) % 3) - 1;
}

/// The scales of `outer` rows of `blocks` blocks in the format of the point's precision.
Bytes8 scale_pattern(const GemmPoint& point, std::size_t outer, std::size_t blocks) {
  const bool is_e4m3 = point.precision == Precision::fp4;
  Bytes8 bytes(scale_bytes(outer, blocks));
  for (std::size_t row = 0; row < outer; ++row) {
    for (std::size_t block = 0; block < blocks; ++block) {
      const int exponent = scale_exponent(row, block);
      bytes[scale_place(blocks, row, block)] =
          static_cast<std::uint8_t>(is_e4m3 ? (7 + exponent) << 3 : 127 + exponent);
    }
  }
  return bytes;
}

RandomFormat random_format(Precision precision) {
  if (precision == Precision::fp4) return RandomFormat::e2m1;
  return precision == Precision::fp8 ? RandomFormat::e4m3 : RandomFormat::bf16;
}

}  // namespace

void check_product(const BatchedGemmPoint& point, std::uint32_t seed) {
  const GemmPoint& gemm = point.gemm;
  const GemmBytes bytes = gemm_bytes(point);
  DevicePool a(bytes.a);
  DevicePool b(bytes.b);
  DevicePool c(bytes.c);
  const auto m = static_cast<std::size_t>(gemm.shape.m);
  const auto n = static_cast<std::size_t>(gemm.shape.n);
  const auto k = static_cast<std::size_t>(gemm.shape.k);
  const std::size_t of_scale = elements_of_scale(gemm);
  const std::size_t blocks = of_scale == 0 ? 0 : (k + of_scale - 1) / of_scale;
  Bytes8
      scales;  // as the product takes them: of B, which a column-major library has first, then of A
  if (of_scale > 0) {
    scales = scale_pattern(gemm, n, blocks);
    const Bytes8 of_a = scale_pattern(gemm, m, blocks);
    scales.insert(scales.end(), of_a.begin(), of_a.end());
  }
  DevicePool uploaded(scales.size() + 1);
  if (of_scale > 0) upload(uploaded.data(), scales.data(), scales.size());
  const DeviceStream stream;
  const RandomFormat format = random_format(gemm.precision);
  HEADWAY_CUDA(launch_random(format, a.data(), a.bytes(), seed, stream));
  HEADWAY_CUDA(launch_random(format, b.data(), b.bytes(), seed + 1, stream));
  HEADWAY_CUDA(cudaMemsetAsync(c.data(), 0, c.bytes(), stream));
  const Enqueue product = cublaslt_gemm(point, {a, b, c, &uploaded});
  const int times = gemm.accumulates ? 2 : 1;
  for (int i = 0; i < times; ++i) product(stream);
  wait_for(stream);
  const auto of_a = to_host<std::uint8_t>(a);
  const auto of_b = to_host<std::uint8_t>(b);
  const auto of_c = to_host<std::uint8_t>(c);

  const bool is_narrow = bytes_per_element(gemm.precision) < 2.0;
  const bool a_transposed = gemm.layout == GemmLayout::tn && !is_narrow;
  const bool b_transposed = gemm.layout == GemmLayout::nt || is_narrow;
  const Precision narrow_result = is_narrow ? Precision::bf16 : gemm.precision;
  const Precision result = gemm.accumulates ? Precision::fp32 : narrow_result;
  const float unit = gemm.precision == Precision::fp8 ? fp8_format().unit : 1.0F;
  const auto sampled = [&](std::size_t matrix, std::size_t row, std::size_t column) {
    double sum = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < k; ++i) {
      const std::size_t at_a = matrix * m * k + (a_transposed ? i * m + row : row * k + i);
      const std::size_t at_b = matrix * k * n + (b_transposed ? column * k + i : i * n + column);
      double term = static_cast<double>(unit * element(of_a, gemm.precision, at_a)) * unit *
                    element(of_b, gemm.precision, at_b);
      if (of_scale > 0) {
        term = std::ldexp(term,
                          scale_exponent(row, i / of_scale) + scale_exponent(column, i / of_scale));
      }
      sum += times * term;
      size += times * std::abs(term);
    }
    // Relative to what is added up, which cancels.
    const float got = element(of_c, result, matrix * m * n + row * n + column);
    return static_cast<float>((got - sum) / size);
  };
  std::vector<float> off;
  for (std::size_t matrix = 0; matrix < static_cast<std::size_t>(point.batch); ++matrix) {
    for (std::size_t row = 0; row < m; row += 7) {
      for (std::size_t column = 0; column < n; column += 5) {
        off.push_back(sampled(matrix, row, column));
      }
    }
  }
  constexpr double kTolerance = 1.0;  // of a hundredth: see compare
  compare(point_text(point), off, std::vector<float>(off.size()), kTolerance);
}

}  // namespace headway
