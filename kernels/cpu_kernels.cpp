#include "kernels/cpu_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// One binary runs on every x86-64, each kernel in the widest vectors the processor has; otherwise
// the baseline's 16-byte vectors would be measured instead of the memory.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define HEADWAY_EVERY_VECTOR_WIDTH \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HEADWAY_EVERY_VECTOR_WIDTH
#endif

namespace headway {
namespace {

constexpr float kEpsilon = 1e-5F;
constexpr float kGeluScale = 0.7978845608F;  ///< sqrt(2 / pi)
constexpr float kGeluCubic = 0.044715F;

}  // namespace

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_residual_add(const float* x, const float* y, float* z, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) z[i] = x[i] + y[i];
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_layer_norm(const float* x, float* z, std::size_t elements, std::size_t row) {
  for (std::size_t start = 0; start < elements; start += row) {
    float sum = 0.0F;
    for (std::size_t i = start; i < start + row; ++i) sum += x[i];
    const float mean = sum / static_cast<float>(row);
    float squares = 0.0F;
    for (std::size_t i = start; i < start + row; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const float scale = 1.0F / std::sqrt(squares / static_cast<float>(row) + kEpsilon);
    for (std::size_t i = start; i < start + row; ++i) z[i] = (x[i] - mean) * scale;
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_rms_norm(const float* x, float* z, std::size_t elements, std::size_t row) {
  for (std::size_t start = 0; start < elements; start += row) {
    float squares = 0.0F;
    for (std::size_t i = start; i < start + row; ++i) squares += x[i] * x[i];
    const float scale = 1.0F / std::sqrt(squares / static_cast<float>(row) + kEpsilon);
    for (std::size_t i = start; i < start + row; ++i) z[i] = x[i] * scale;
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_softmax(const float* x, float* z, std::size_t elements, std::size_t row) {
  for (std::size_t start = 0; start < elements; start += row) {
    float most = x[start];
    for (std::size_t i = start; i < start + row; ++i) most = std::max(most, x[i]);
    float sum = 0.0F;
    for (std::size_t i = start; i < start + row; ++i) {
      z[i] = std::exp(x[i] - most);
      sum += z[i];
    }
    const float scale = 1.0F / sum;
    for (std::size_t i = start; i < start + row; ++i) z[i] *= scale;
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_layer_norm_backward(const float* x, const float* dz, float* dx, std::size_t elements,
                             std::size_t row) {
  const float length = static_cast<float>(row);
  for (std::size_t start = 0; start < elements; start += row) {
    float sum = 0.0F;
    float gradients = 0.0F;
    for (std::size_t i = start; i < start + row; ++i) {
      sum += x[i];
      gradients += dz[i];
    }
    const float mean = sum / length;
    float squares = 0.0F;
    float products = 0.0F;
    for (std::size_t i = start; i < start + row; ++i) {
      squares += (x[i] - mean) * (x[i] - mean);
      products += dz[i] * (x[i] - mean);
    }
    const float scale = 1.0F / std::sqrt(squares / length + kEpsilon);
    const float along = products / length * scale * scale;
    for (std::size_t i = start; i < start + row; ++i) {
      dx[i] = scale * (dz[i] - gradients / length - (x[i] - mean) * along);
    }
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_softmax_backward(const float* p, const float* dp, float* dx, std::size_t elements,
                          std::size_t row) {
  for (std::size_t start = 0; start < elements; start += row) {
    float sum = 0.0F;
    for (std::size_t i = start; i < start + row; ++i) sum += p[i] * dp[i];
    for (std::size_t i = start; i < start + row; ++i) dx[i] = p[i] * (dp[i] - sum);
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_gelu(const float* x, float* z, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    // tanh(u) = 1 - 2 / (exp(2u) + 1): one exponential, which vectorises.
    const float u = kGeluScale * (x[i] + kGeluCubic * x[i] * x[i] * x[i]);
    z[i] = x[i] * (1.0F - 1.0F / (std::exp(2.0F * u) + 1.0F));
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_gelu_backward(const float* x, const float* dz, float* dx, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    const float u = kGeluScale * (x[i] + kGeluCubic * x[i] * x[i] * x[i]);
    const float half = 1.0F - 1.0F / (std::exp(2.0F * u) + 1.0F);  // (1 + tanh u) / 2
    const float slope = kGeluScale * (1.0F + 3.0F * kGeluCubic * x[i] * x[i]);
    // d/dx [x h(u)] = h + x h' u', with h' = 2 h (1 - h)
    dx[i] = dz[i] * (half + 2.0F * x[i] * half * (1.0F - half) * slope);
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_swiglu(const float* x, const float* gate, float* z, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) z[i] = x[i] / (1.0F + std::exp(-x[i])) * gate[i];
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_rotary(const float* x, const float* cosine, const float* sine, float* z,
                std::size_t elements, std::size_t row) {
  for (std::size_t start = 0; start < elements; start += row) {
    for (std::size_t i = 0; i < row / 2; ++i) {
      const float even = x[start + 2 * i];
      const float odd = x[start + 2 * i + 1];
      z[start + 2 * i] = even * cosine[i] - odd * sine[i];
      z[start + 2 * i + 1] = even * sine[i] + odd * cosine[i];
    }
  }
}

void cpu_cross_entropy(const float* x, const std::int32_t* target, float* dx, std::size_t elements,
                       std::size_t row) {
  cpu_softmax(x, dx, elements, row);
  for (std::size_t r = 0; r < elements / row; ++r) {
    dx[r * row + static_cast<std::size_t>(target[r])] -= 1.0F;
  }
}

void cpu_embedding_gather(const float* table, const std::int32_t* index, float* z,
                          std::size_t elements, std::size_t row) {
  for (std::size_t r = 0; r < elements / row; ++r) {
    std::memcpy(z + r * row, table + static_cast<std::size_t>(index[r]) * row, row * sizeof(float));
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_sparsify(const float* x, float threshold, float* kept, float* rest, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    const bool keep = std::fabs(x[i]) >= threshold;
    kept[i] = keep ? x[i] : 0.0F;
    rest[i] = keep ? 0.0F : x[i];
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_quantise(const float* x, std::int8_t* q, float* scale, std::size_t elements,
                  std::size_t row) {
  for (std::size_t start = 0; start < elements; start += row) {
    float most = 0.0F;
    for (std::size_t i = start; i < start + row; ++i) most = std::max(most, std::fabs(x[i]));
    scale[start / row] = most / 127.0F;
    const float inverse = most > 0.0F ? 127.0F / most : 0.0F;
    for (std::size_t i = start; i < start + row; ++i) {
      const float scaled = x[i] * inverse;
      q[i] = static_cast<std::int8_t>(scaled + (scaled < 0.0F ? -0.5F : 0.5F));
    }
  }
}

std::uint8_t to_e4m3(float value) {
  const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
  const float size = std::min(std::fabs(value), 448.0F);
  // The exponent's number of ulp is 2^-9 below 2^-6, and 2^(e-3) from 2^e on.
  const int exponent = size < 0.015625F ? -6 : std::ilogb(size);
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(size, 3 - exponent)));
  // Eight steps are the leading bit, which a number below 2^-6 lacks; sixteen are the next power.
  return static_cast<std::uint8_t>(sign + (exponent + 6) * 8 + steps);
}

float from_e4m3(std::uint8_t bits) {
  const int exponent = bits >> 3U & 0xf;
  const auto fraction = static_cast<float>(bits & 7U);
  if ((bits & 0x7fU) == 0x7fU) return std::nanf("");
  const float size =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8.0F + fraction, exponent - 10);
  return (bits & 0x80U) != 0 ? -size : size;
}

void cpu_cast_transpose(const float* x, float scale, std::uint8_t* q, std::uint8_t* transposed,
                        std::size_t elements, std::size_t row) {
  const std::size_t rows = elements / row;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < row; ++i) {
      q[r * row + i] = transposed[i * rows + r] = to_e4m3(x[r * row + i] / scale);
    }
  }
}

HEADWAY_EVERY_VECTOR_WIDTH
void cpu_adam(float* w, float* m, float* v, const float* g, const AdamRates& rates,
              std::size_t elements) {
  const AdamRates r = rates;
  for (std::size_t i = 0; i < elements; ++i) {
    m[i] = r.beta1 * m[i] + (1.0F - r.beta1) * g[i];
    v[i] = r.beta2 * v[i] + (1.0F - r.beta2) * g[i] * g[i];
    w[i] -= r.rate * m[i] / (std::sqrt(v[i]) + r.epsilon);
  }
}

}  // namespace headway
