#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/memory_kernel.h"

namespace headway {

/// Plain C++ twins of the CUDA kernels, in fp32: what the CPU backend measures and trains with, and
/// what the device kernels are checked against. Buffers do not overlap; `elements` is a multiple of
/// `row` where there are rows.

void cpu_residual_add(const float* x, const float* y, float* z, std::size_t elements);
void cpu_layer_norm(const float* x, float* z, std::size_t elements, std::size_t row);
void cpu_rms_norm(const float* x, float* z, std::size_t elements, std::size_t row);
void cpu_softmax(const float* x, float* z, std::size_t elements, std::size_t row);
/// The gradient of the normalised row is `dz`; that of x, n being x normalised and r the row's
/// 1 / sqrt(variance + eps), is r (dz - mean(dz) - n mean(dz n)) (Ba et al. 2016, by the chain
/// rule).
void cpu_layer_norm_backward(const float* x, const float* dz, float* dx, std::size_t elements,
                             std::size_t row);
/// `p` is what the softmax gave and `dp` its gradient: dx = p (dp - sum(p dp)).
void cpu_softmax_backward(const float* p, const float* dp, float* dx, std::size_t elements,
                          std::size_t row);
void cpu_gelu(const float* x, float* z, std::size_t elements);
/// `dz` is the gradient of the result; the gradient of x goes to `dx`.
void cpu_gelu_backward(const float* x, const float* dz, float* dx, std::size_t elements);
void cpu_swiglu(const float* x, const float* gate, float* z, std::size_t elements);
/// Row r is position r; elements 2i and 2i+1 of it turn by r * 10000^(-2i/row) (Su et al. 2021).
/// `cosine` and `sine` hold the row/2 factors of one position each.
void cpu_rotary(const float* x, const float* cosine, const float* sine, float* z,
                std::size_t elements, std::size_t row);
/// The gradient of -log softmax(x)[target] for each row.
void cpu_cross_entropy(const float* x, const std::int32_t* target, float* dx, std::size_t elements,
                       std::size_t row);
void cpu_embedding_gather(const float* table, const std::int32_t* index, float* z,
                          std::size_t elements, std::size_t row);
void cpu_sparsify(const float* x, float threshold, float* kept, float* rest, std::size_t elements);
/// scale[r] = max |x| of row r / 127; q = round(x / scale).
void cpu_quantise(const float* x, std::int8_t* q, float* scale, std::size_t elements,
                  std::size_t row);

/// q = the 8 bits (e4m3) nearest to x / scale, and the same of the transposed matrix, whose rows
/// have `elements / row` numbers.
void cpu_cast_transpose(const float* x, float scale, std::uint8_t* q, std::uint8_t* transposed,
                        std::size_t elements, std::size_t row);
/// The number nearest to `value` of 4 bits of exponent with bias 7 and 3 of mantissa (Micikevicius
/// et al. 2022): ties to even, no infinity, 448 at most.
[[nodiscard]] std::uint8_t to_e4m3(float value);
[[nodiscard]] float from_e4m3(std::uint8_t bits);

/// Adam (Kingma and Ba 2015) without bias correction, as fused kernels run it between the first
/// steps and the last: m = b1 m + (1-b1) g, v = b2 v + (1-b2) g^2, w -= rate m / (sqrt(v) + eps).
struct AdamRates {
  float rate = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
};
void cpu_adam(float* w, float* m, float* v, const float* g, const AdamRates& rates,
              std::size_t elements);

}  // namespace headway
