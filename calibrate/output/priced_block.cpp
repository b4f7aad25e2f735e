#include "calibrate/output/priced_block.h"

#include <fmt/format.h>

#include "sim/base/quantity_text.h"
#include "sim/costs/kernel_cost.h"

namespace headway {
namespace {

/// Runs nothing: adds up what each operation would cost.
class Prices final : public BlockDevice {
 public:
  Prices(const Profile& profile, Precision precision) : profile_(profile), precision_(precision) {}

  [[nodiscard]] const BlockCost& cost() const { return cost_; }

  [[nodiscard]] Precision precision() const override { return precision_; }
  [[nodiscard]] Tensor activation(const std::vector<float>& values) override {
    return empty_activation(values.size());
  }
  [[nodiscard]] Tensor empty_activation(std::size_t elements) override {
    elements_.push_back(static_cast<double>(elements));
    return elements_.size() - 1;
  }
  [[nodiscard]] Tensor weight(const std::vector<float>& values) override {
    return activation(values);
  }
  [[nodiscard]] Tensor gradient(Tensor weight) override { return weight; }

  void product(const BlockProduct& product, Tensor /*a*/, Tensor /*b*/, Tensor /*c*/) override {
    const DeviceCosts& device = profile_.device;
    if (product.batch == 1) {
      cost_.products += gemm_cost(device, product.shape, precision_).time;
      return;
    }
    // As unfused attention: the rate of products, less what small ones lose.
    const double rate = device.peak_flops.at(precision_).value *
                        device.gemm_efficiency.at(precision_).value *
                        device.batched_gemm_efficiency.value;
    cost_.attention += Seconds(product.batch * product.shape.flops() / rate);
  }
  void pass(MemoryKernel kernel, Tensor x, Tensor /*y*/, Tensor /*z*/,
            std::size_t /*row*/) override {
    const double bytes = traffic_bytes_per_element(kernel, bytes_per_element(precision_));
    cost_.passes += streamed(elements_[x] * bytes);
  }
  void update(Tensor weight) override {
    const double parameters = elements_[weight];
    cost_.update += update_cost(profile_.device, parameters).time;
    // Products in less than 4 bytes need the weights rounded: 4 bytes read, the others written.
    const double bytes = bytes_per_element(precision_);
    if (bytes < 4.0) cost_.update += streamed(parameters * (4.0 + bytes));
  }
  void finish() override {}
  [[nodiscard]] std::vector<float> values(Tensor tensor) override {
    return std::vector<float>(static_cast<std::size_t>(elements_[tensor]));
  }

 private:
  [[nodiscard]] Seconds streamed(double bytes) const {
    const KernelFamily& family = profile_.kernel_families.begin()->second;
    return memory_pass_cost(profile_.device, family, Bytes(bytes)).time;
  }

  const Profile& profile_;
  Precision precision_;
  std::vector<double> elements_;
  BlockCost cost_;
};

}  // namespace

BlockCost block_cost(const Profile& profile, const BlockShape& shape, Precision precision) {
  Prices prices(profile, precision);
  TransformerBlock block(prices, shape, 1);
  block.forward();
  block.backward();
  block.update();
  return prices.cost();
}

std::string block_text(const BlockRun& run, const BlockCost& cost) {
  const BlockShape& shape = run.shape;
  return fmt::format(
      "{} x {} positions, hidden {}, {} heads, {}, forward, backward and Adam: {} measured over {} "
      "steps (+- {:.1f} %), {} by this profile ({:+.1f} %): products {}, attention's {}, passes "
      "{}, "
      "update {}",
      shape.sequences, shape.sequence, shape.hidden, shape.heads, precision_name(run.precision),
      short_text(run.time), run.steps, 100.0 * run.spread, short_text(cost.total()),
      100.0 * (cost.total() / run.time - 1.0), short_text(cost.products),
      short_text(cost.attention), short_text(cost.passes), short_text(cost.update));
}

}  // namespace headway
