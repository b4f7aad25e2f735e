#include "tests/calibrate/fake_cuda/law.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kernels/memory_kernel.h"
#include "kernels/utility_kernels.cuh"
#include "kernels/vocabulary_kernels.cuh"

namespace fake_cuda {
namespace {

using headway::MemoryKernel;
namespace device = headway::device;

template <class... P>
const void* address(void (*kernel)(P...)) {
  return reinterpret_cast<const void*>(kernel);
}

/// A kernel that moves `bytes` for each of the things that its argument number `count` counts.
struct Streaming {
  std::string name;
  double bytes = 0.0;
  int count = 0;
  bool has_shuffles = false;
};

Streaming pass(MemoryKernel kernel, int count, bool by_row,
               std::size_t of_row = headway::kKernelRow) {
  const double row = by_row ? static_cast<double>(of_row) : 1.0;
  return {std::string(memory_kernel_name(kernel)), row * traffic_bytes_per_element(kernel, 2.0),
          count, by_row};
}

const std::map<const void*, Streaming>& streaming() {
  static const std::map<const void*, Streaming> all = {
      {address(device::residual_add), pass(MemoryKernel::residual_add, 3, false)},
      {address(device::gelu), pass(MemoryKernel::gelu, 2, false)},
      {address(device::gelu_backward), pass(MemoryKernel::gelu_backward, 3, false)},
      {address(device::swiglu), pass(MemoryKernel::swiglu, 3, false)},
      {address(device::rotary), pass(MemoryKernel::rotary, 2, false)},
      {address(device::embedding_gather), pass(MemoryKernel::embedding_gather, 3, false)},
      {address(device::sparsify), pass(MemoryKernel::sparsify, 4, false)},
      {address(device::adam), pass(MemoryKernel::adam, 5, false)},
      {address(device::layer_norm), pass(MemoryKernel::layer_norm, 2, true)},
      {address(device::rms_norm), pass(MemoryKernel::rms_norm, 2, true)},
      {address(device::layer_norm_backward), pass(MemoryKernel::layer_norm_backward, 3, true)},
      {address(device::softmax_backward), pass(MemoryKernel::softmax_backward, 3, true)},
      {address(device::softmax), pass(MemoryKernel::softmax, 3, true)},
      {address(device::quantise), pass(MemoryKernel::quantise, 3, true)},
      {address(device::vocabulary_loss),
       pass(MemoryKernel::vocabulary_loss, 3, true, headway::kVocabularyRow)},
      {address(device::cast_transpose), pass(MemoryKernel::cast_transpose, 4, true)},
      {address(device::copy_words), {"copy_words", 16.0 * kMemoryRate / 190e9, 2}},
      {address(device::round_to_bf16), {"round_to_bf16", 48.0, 2}},
      {address(device::random_bf16), {"random_bf16", 2.0, 1}},
      {address(device::random_e4m3), {"random_e4m3", 1.0, 1}},
      {address(device::random_e2m1), {"random_e2m1", 1.0, 1}}};
  return all;
}

}  // namespace

double product_time(double m, double n, double k, double batch, cudaDataType type,
                    const ProductLaw& law) {
  struct Format {
    double peak;
    double bytes;
  };
  const Format format = type == CUDA_R_4F_E2M1 ? Format{4.0 * kPeak, 0.5625}
                        : type == CUDA_R_8F_E4M3 || type == kHipE4m3Fnuz ? Format{2.0 * kPeak, 1.0}
                        : type == CUDA_R_32F                             ? Format{200e12, 4.0}
                                                                         : Format{kPeak, 2.0};
  const bool is_mxfp8 = law.block_scaled && type == CUDA_R_8F_E4M3;
  const double peak = format.peak * (is_mxfp8 ? kBlockScaledRate : 1.0);
  const double element = format.bytes;
  const double down = std::ceil(m / 128.0);
  const double across = std::ceil(n / 256.0);
  const double tiles = down * across * batch;
  const double waves = std::ceil(tiles / 132.0) * 132.0 / tiles;
  const double compute =
      2.0 * down * 128.0 * across * 256.0 * k * batch * waves / (0.75 * peak) * (1.0 + 200.0 / k);
  const double traffic = batch * ((m * k + k * n) * element + m * n * 2.0);
  const double adding = law.accumulates ? batch * m * n * kAccumulationBytes / kMemoryRate : 0.0;
  return std::max(compute, traffic / kMemoryRate) + adding + 1.5e-6;
}

double attention_time(const AttentionLaw& a) {
  const double work = 4.0 * a.sequences * a.heads * a.length * a.length * a.head_size *
                      (a.is_causal ? 0.5 : 1.0) * (a.is_backward ? 2.5 / kAttentionBackward : 1.0);
  const double start = 1.0 + 300.0 / a.length;
  return work / (kPeak * kAttentionRate * std::pow(a.head_size / 128.0, 0.3)) * start + 2e-6;
}

KernelLaw kernel_law(const Launch& kernel) {
  const auto found = streaming().find(kernel.function);
  if (found != streaming().end()) {
    const Streaming& law = found->second;
    const auto count = *static_cast<std::size_t*>(kernel.arguments[law.count]);
    return {law.name, 1.5e-6 + static_cast<double>(count) * law.bytes / kMemoryRate,
            law.has_shuffles};
  }
  if (kernel.function == address(device::empty)) return {"empty", 1.2e-6};
  if (kernel.function == address(device::stamp)) return {"stamp", 5e-6};
  if (kernel.function == address(device::hold)) return {"hold", 0.0};
  return {};
}

double copy_time(std::size_t bytes, cudaMemcpyKind kind) {
  const double rate = kind == cudaMemcpyDeviceToDevice ? kMemoryRate / 2.0 : kHostRate;
  return 1.5e-6 + static_cast<double>(bytes) / rate;
}
double peer_copy_time(std::size_t bytes) { return 2e-6 + static_cast<double>(bytes) / 380e9; }

double collective_time(double bytes, double factor, double steps) {
  return 8e-6 + 0.8e-6 * steps + factor * bytes / kLinkRate;
}

}  // namespace fake_cuda
