#pragma once

#include <map>

#include "calibrate/block/block_device.h"

namespace headway {

/// A transformer block on one core, in fp32: products by OpenBLAS, passes by the kernels' C++
/// twins. Everything is done when a call returns.
class CpuBlockDevice final : public BlockDevice {
 public:
  [[nodiscard]] Precision precision() const override { return Precision::fp32; }
  [[nodiscard]] Tensor activation(const std::vector<float>& values) override;
  [[nodiscard]] Tensor empty_activation(std::size_t elements) override;
  [[nodiscard]] Tensor weight(const std::vector<float>& values) override;
  [[nodiscard]] Tensor gradient(Tensor weight) override { return states_.at(weight).gradient; }
  void product(const BlockProduct& product, Tensor a, Tensor b, Tensor c) override;
  void pass(MemoryKernel kernel, Tensor x, Tensor y, Tensor z, std::size_t row) override;
  void update(Tensor weight) override;
  void finish() override {}
  [[nodiscard]] std::vector<float> values(Tensor tensor) override { return tensors_[tensor]; }

 private:
  struct State {  ///< of a weight's optimizer
    Tensor gradient = 0;
    std::vector<float> first_moment;
    std::vector<float> second_moment;
  };
  std::vector<std::vector<float>> tensors_;
  std::map<Tensor, State> states_;
};

}  // namespace headway
