#pragma once

#include <map>
#include <memory>
#include <string>

#include "calibrate/block/block_device.h"
#include "calibrate/cuda/cublaslt_plan.h"
#include "calibrate/cuda/device_resources.h"

namespace headway {

/// A transformer block on a device, whichever is current: products by cuBLASLt in bf16 (gradients of weights in
/// fp32), passes by our kernels, whose rows have kKernelRow elements, Adam in fp32 with the weights
/// rounded to bf16 afterwards.
class CudaBlockDevice final : public BlockDevice {
 public:
  explicit CudaBlockDevice(int device);
  [[nodiscard]] Precision precision() const override { return Precision::bf16; }
  [[nodiscard]] Tensor activation(const std::vector<float>& values) override;
  [[nodiscard]] Tensor empty_activation(std::size_t elements) override;
  [[nodiscard]] Tensor weight(const std::vector<float>& values) override;
  [[nodiscard]] Tensor gradient(Tensor weight) override { return states_.at(weight).gradient; }
  void product(const BlockProduct& product, Tensor a, Tensor b, Tensor c) override;
  void pass(MemoryKernel kernel, Tensor x, Tensor y, Tensor z, std::size_t row) override;
  void update(Tensor weight) override;
  void finish() override;
  [[nodiscard]] std::vector<float> values(Tensor tensor) override;

 private:
  struct Stored {
    std::unique_ptr<DevicePool> memory;
    std::size_t elements = 0;
    bool is_fp32 = false;
  };
  struct State {  ///< of a weight's optimizer, all fp32
    Tensor gradient = 0;
    std::unique_ptr<DevicePool> master;
    std::unique_ptr<DevicePool> first_moment;
    std::unique_ptr<DevicePool> second_moment;
  };
  [[nodiscard]] Tensor stored(std::size_t elements, bool is_fp32);
  [[nodiscard]] const CublasLtPlan& plan(const BlockProduct& product, bool result_is_fp32);

  int device_;
  DeviceStream stream_;
  std::vector<Stored> tensors_;
  std::map<Tensor, State> states_;
  std::map<std::string, CublasLtPlan> plans_;  ///< by all that a plan depends on
};

}  // namespace headway
