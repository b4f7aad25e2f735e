#include "calibrate/cuda/cuda_block_device.h"

#include <bit>
#include <cstdint>

#include "calibrate/cuda/block_product.h"
#include "calibrate/cuda/cuda_check.h"
#include "calibrate/cuda/event_wait.h"
#include "kernels/device_kernels.h"

namespace headway {
namespace {

/// Zeros. Everything is put on the device's own stream, which waits for no other.
std::unique_ptr<DevicePool> memory_of(std::size_t bytes, cudaStream_t stream) {
  auto memory = std::make_unique<DevicePool>(bytes);
  HEADWAY_CUDA(cudaMemsetAsync(memory->data(), 0, bytes, stream));
  return memory;
}

}  // namespace

CudaBlockDevice::CudaBlockDevice(int device) : device_(device), stream_(device) {}

BlockDevice::Tensor CudaBlockDevice::stored(std::size_t elements, bool is_fp32) {
  tensors_.push_back({memory_of(elements * (is_fp32 ? 4 : 2), stream_), elements, is_fp32});
  return tensors_.size() - 1;
}

BlockDevice::Tensor CudaBlockDevice::empty_activation(std::size_t elements) {
  const DeviceGuard guard(device_);
  return stored(elements, false);
}

BlockDevice::Tensor CudaBlockDevice::activation(const std::vector<float>& values) {
  const DeviceGuard guard(device_);
  const DevicePool exact(values.size() * sizeof(float));
  HEADWAY_CUDA(
      cudaMemcpyAsync(exact.data(), values.data(), exact.bytes(), cudaMemcpyHostToDevice, stream_));
  const Tensor tensor = empty_activation(values.size());
  HEADWAY_CUDA(launch_round_to_bf16(static_cast<const float*>(exact.data()),
                                    tensors_[tensor].memory->data(), values.size(), stream_));
  finish();  // before `exact` is gone
  return tensor;
}

BlockDevice::Tensor CudaBlockDevice::weight(const std::vector<float>& values) {
  const DeviceGuard guard(device_);
  const std::size_t bytes = values.size() * sizeof(float);
  State state{stored(values.size(), true), memory_of(bytes, stream_), memory_of(bytes, stream_),
              memory_of(bytes, stream_)};
  HEADWAY_CUDA(
      cudaMemcpyAsync(state.master->data(), values.data(), bytes, cudaMemcpyHostToDevice, stream_));
  const Tensor weight = activation(values);
  states_[weight] = std::move(state);
  return weight;
}

const CublasLtPlan& CudaBlockDevice::plan(const BlockProduct& product, bool result_is_fp32) {
  const std::string name = product_name(product, result_is_fp32);
  const auto found = plans_.find(name);
  if (found != plans_.end()) return found->second;
  try {
    return plans_.try_emplace(name, column_major(product, result_is_fp32)).first->second;
  } catch (const Refused& refusal) {
    throw EnvironmentError(fmt::format("{}: {}", name, refusal.what()));
  }
}

void CudaBlockDevice::product(const BlockProduct& product, Tensor a, Tensor b, Tensor c) {
  const DeviceGuard guard(device_);
  const auto at = [this](Tensor tensor, const MatrixPlace& place) {
    const Stored& stored = tensors_[tensor];
    return static_cast<std::byte*>(stored.memory->data()) +
           place.offset * (stored.is_fp32 ? 4U : 2U);
  };
  plan(product, tensors_[c].is_fp32)
      .run({at(b, product.b), at(a, product.a), at(c, product.c)}, product.scale, 0.0F, stream_);
}

void CudaBlockDevice::pass(MemoryKernel kernel, Tensor x, Tensor y, Tensor z, std::size_t row) {
  const DeviceGuard guard(device_);
  HEADWAY_CHECK(row == kKernelRow, "rows of another length than the kernels'");
  DeviceOperands operands;
  operands.x = tensors_[x].memory->data();
  operands.y = tensors_[y].memory->data();
  operands.z = tensors_[z].memory->data();
  HEADWAY_CUDA(launch_memory_kernel(kernel, operands, tensors_[x].elements, stream_));
}

void CudaBlockDevice::update(Tensor weight) {
  const DeviceGuard guard(device_);
  const State& state = states_.at(weight);
  const auto floats = [](const std::unique_ptr<DevicePool>& memory) {
    return static_cast<float*>(memory->data());
  };
  const Stored& rounded = tensors_[weight];
  DeviceOperands operands;
  operands.w = floats(state.master);
  operands.m = floats(state.first_moment);
  operands.v = floats(state.second_moment);
  operands.g = floats(tensors_[state.gradient].memory);
  HEADWAY_CUDA(launch_memory_kernel(MemoryKernel::adam, operands, rounded.elements, stream_));
  HEADWAY_CUDA(launch_round_to_bf16(operands.w, rounded.memory->data(), rounded.elements, stream_));
}

void CudaBlockDevice::finish() {
  const DeviceGuard guard(device_);
  wait_for(stream_);
}

std::vector<float> CudaBlockDevice::values(Tensor tensor) {
  const DeviceGuard guard(device_);
  finish();
  const Stored& stored = tensors_[tensor];
  std::vector<float> values(stored.elements);
  if (stored.is_fp32) {
    HEADWAY_CUDA(cudaMemcpy(values.data(), stored.memory->data(), 4 * stored.elements,
                            cudaMemcpyDeviceToHost));
    return values;
  }
  // The upper half of an fp32 number is its bf16.
  std::vector<std::uint16_t> halves(stored.elements);
  HEADWAY_CUDA(cudaMemcpy(halves.data(), stored.memory->data(), 2 * stored.elements,
                          cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::bit_cast<float>(std::uint32_t{halves[i]} << 16U);
  }
  return values;
}

}  // namespace headway
