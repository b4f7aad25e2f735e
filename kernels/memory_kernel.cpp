#include "kernels/memory_kernel.h"

#include "sim/base/diagnostic.h"

namespace headway {

std::string_view memory_kernel_name(MemoryKernel kernel) { return word_of(kernel); }

std::size_t whole_elements(MemoryKernel kernel) {
  constexpr std::size_t kTileRows = 64;
  if (kernel == MemoryKernel::vocabulary_loss) return kVocabularyRow;
  return kernel == MemoryKernel::cast_transpose ? kTileRows * kKernelRow : kKernelRow;
}

double traffic_bytes_per_element(MemoryKernel kernel, double activation_bytes) {
  switch (kernel) {
    case MemoryKernel::residual_add:
    case MemoryKernel::layer_norm_backward:
    case MemoryKernel::softmax_backward:
    case MemoryKernel::gelu_backward:
    case MemoryKernel::swiglu:
    case MemoryKernel::sparsify:
      return 3.0 * activation_bytes;
    case MemoryKernel::layer_norm:
    case MemoryKernel::rms_norm:
    case MemoryKernel::softmax:
    case MemoryKernel::gelu:
    case MemoryKernel::rotary:
    case MemoryKernel::cross_entropy:
    case MemoryKernel::embedding_gather:
    case MemoryKernel::vocabulary_loss:
      return 2.0 * activation_bytes;
    case MemoryKernel::adam:
      return 28.0;
    case MemoryKernel::quantise:
      return activation_bytes + 1.0;
    case MemoryKernel::cast_transpose:
      return activation_bytes + 2.0;
  }
  HEADWAY_CHECK(false, "unknown kernel");
}

}  // namespace headway
