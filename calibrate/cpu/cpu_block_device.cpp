#include "calibrate/cpu/cpu_block_device.h"

#include "calibrate/cpu/cpu_backend.h"
#include "kernels/cpu_kernels.h"
#include "sim/base/diagnostic.h"

namespace headway {

BlockDevice::Tensor CpuBlockDevice::activation(const std::vector<float>& values) {
  tensors_.push_back(values);
  return tensors_.size() - 1;
}

BlockDevice::Tensor CpuBlockDevice::empty_activation(std::size_t elements) {
  return activation(std::vector<float>(elements));
}

BlockDevice::Tensor CpuBlockDevice::weight(const std::vector<float>& values) {
  const Tensor gradient = empty_activation(values.size());
  const Tensor weight = activation(values);
  states_[weight] = {gradient, std::vector<float>(values.size()),
                     std::vector<float>(values.size())};
  return weight;
}

void CpuBlockDevice::product(const BlockProduct& product, Tensor a, Tensor b, Tensor c) {
  const auto at = [this](Tensor tensor, const MatrixPlace& place, int i) {
    return tensors_[tensor].data() + place.offset + static_cast<std::size_t>(i * place.stride);
  };
  for (int i = 0; i < product.batch; ++i) {
    cpu_gemm(product.shape, product.layout, {at(a, product.a, i), product.a.leading},
             {at(b, product.b, i), product.b.leading}, {at(c, product.c, i), product.c.leading},
             product.scale, 0.0F);
  }
}

void CpuBlockDevice::pass(MemoryKernel kernel, Tensor x, Tensor y, Tensor z, std::size_t row) {
  const std::size_t n = tensors_[x].size();
  const float* const in = tensors_[x].data();
  const float* const other = tensors_[y].data();
  float* const out = tensors_[z].data();
  switch (kernel) {
    case MemoryKernel::residual_add:
      return cpu_residual_add(in, other, out, n);
    case MemoryKernel::layer_norm:
      return cpu_layer_norm(in, out, n, row);
    case MemoryKernel::layer_norm_backward:
      return cpu_layer_norm_backward(in, other, out, n, row);
    case MemoryKernel::softmax:
      return cpu_softmax(in, out, n, row);
    case MemoryKernel::softmax_backward:
      return cpu_softmax_backward(in, other, out, n, row);
    case MemoryKernel::gelu:
      return cpu_gelu(in, out, n);
    case MemoryKernel::gelu_backward:
      return cpu_gelu_backward(in, other, out, n);
    default:
      HEADWAY_CHECK(false, "a kernel that no block has");
  }
}

void CpuBlockDevice::update(Tensor weight) {
  State& state = states_.at(weight);
  cpu_adam(tensors_[weight].data(), state.first_moment.data(), state.second_moment.data(),
           tensors_[state.gradient].data(), {}, tensors_[weight].size());
}

}  // namespace headway
