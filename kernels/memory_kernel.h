#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "sim/base/words.h"

namespace headway {

/// The kernels of training whose time is the memory's, not the arithmetic's.
enum class MemoryKernel {
  residual_add,         ///< z = x + y
  layer_norm,           ///< z = (x - mean) / sqrt(variance + eps), over rows
  rms_norm,             ///< z = x / sqrt(mean square + eps), over rows
  softmax,              ///< z = exp(x - max) / sum, over rows
  layer_norm_backward,  ///< z = (y - mean y - n mean(y n)) / sqrt(variance + eps), n normalised x
  softmax_backward,     ///< z = x (y - sum of x y), over rows
  gelu,                 ///< z = x / 2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  gelu_backward,        ///< z = y gelu'(x)
  swiglu,               ///< z = x sigmoid(x) y
  rotary,               ///< pairs of a row turned by their position's angle
  cross_entropy,        ///< gradient softmax(x) - one_hot(target), over rows
  embedding_gather,     ///< rows of x chosen by index
  adam,                 ///< w, m, v from the gradient
  quantise,             ///< 8-bit integers and one scale a row (the maximum of the row over 127)
  sparsify,             ///< z = x where |x| reaches a threshold, else 0; the rest stays in y
  vocabulary_loss,      ///< as cross_entropy, over rows of kVocabularyRow
  cast_transpose        ///< 8 bits (e4m3) of x / scale and of its transpose, one scale for all
};
template <>
inline constexpr Word<MemoryKernel> kWords<MemoryKernel>[] = {
    {"residual_add", MemoryKernel::residual_add},
    {"layer_norm", MemoryKernel::layer_norm},
    {"rms_norm", MemoryKernel::rms_norm},
    {"softmax", MemoryKernel::softmax},
    {"layer_norm_backward", MemoryKernel::layer_norm_backward},
    {"softmax_backward", MemoryKernel::softmax_backward},
    {"gelu", MemoryKernel::gelu},
    {"gelu_backward", MemoryKernel::gelu_backward},
    {"swiglu", MemoryKernel::swiglu},
    {"rotary", MemoryKernel::rotary},
    {"cross_entropy", MemoryKernel::cross_entropy},
    {"embedding_gather", MemoryKernel::embedding_gather},
    {"adam", MemoryKernel::adam},
    {"quantise", MemoryKernel::quantise},
    {"sparsify", MemoryKernel::sparsify},
    {"vocabulary_loss", MemoryKernel::vocabulary_loss},
    {"cast_transpose", MemoryKernel::cast_transpose}};

inline constexpr std::array kMemoryKernels = {
    MemoryKernel::residual_add,     MemoryKernel::layer_norm, MemoryKernel::rms_norm,
    MemoryKernel::softmax,          MemoryKernel::gelu,       MemoryKernel::gelu_backward,
    MemoryKernel::swiglu,           MemoryKernel::rotary,     MemoryKernel::cross_entropy,
    MemoryKernel::embedding_gather, MemoryKernel::adam,       MemoryKernel::quantise,
    MemoryKernel::sparsify};
/// What else training runs on accelerators: a loss over all words at once, inputs of 8-bit
/// products.
inline constexpr std::array kDeviceMemoryKernels = {MemoryKernel::vocabulary_loss,
                                                    MemoryKernel::cast_transpose};

[[nodiscard]] std::string_view memory_kernel_name(MemoryKernel kernel);

/// Elements of a row of the kernels that work on rows.
inline constexpr std::size_t kKernelRow = 1024;
/// Elements of a row of the loss over a vocabulary: about the 128,256 words of Llama 3.
inline constexpr std::size_t kVocabularyRow = 128 * kKernelRow;

/// Elements of which a device's kernel takes whole multiples.
[[nodiscard]] std::size_t whole_elements(MemoryKernel kernel);

/// What the kernel has to move for each element, when activations have `activation_bytes`: every
/// input read once, every output written once. Adam's state and gradient are fp32 everywhere:
/// reads w, m, v, g, writes w, m, v.
[[nodiscard]] double traffic_bytes_per_element(MemoryKernel kernel, double activation_bytes);

}  // namespace headway
