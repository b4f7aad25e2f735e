#include "calibrate/train/stage.h"

#include <algorithm>
#include <cstdint>

#include "calibrate/cpu/cpu_backend.h"
#include "calibrate/cpu/operand_pool.h"
#include "kernels/cpu_kernels.h"

namespace headway {
namespace {

std::vector<float> random_floats(std::size_t count, std::uint64_t seed, float scale) {
  OperandPool pool(count, seed);
  const auto values = pool.take(count);
  std::vector<float> result(values.begin(), values.end());
  for (float& value : result) value *= scale;
  return result;
}

}  // namespace

Stage::Stage(const TrainingStep& step, Transport& network)
    : step_(step),
      network_(network),
      stage_(network.rank() % step.pipeline_stages),
      rows_(static_cast<double>(step.batch) / step.micro_batches) {
  const auto width = static_cast<std::size_t>(step.width);
  const std::size_t all = static_cast<std::size_t>(step.batch) * width;
  const std::size_t weights = width * width;
  const auto rank = static_cast<std::uint64_t>(network.rank());
  elements_ = all / static_cast<std::size_t>(step.micro_batches);
  for (int i = 0; i < step.layers / step.pipeline_stages; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    // The same weights on every replica, other inputs on every rank. 0.05: activations stay
    // moderate.
    layers_.push_back({random_floats(weights, seed, 0.05F), Floats(weights), Floats(weights),
                       Floats(weights, 1.0F), random_floats(all, seed + 1000U * rank, 1.0F),
                       Floats(all)});
  }
  output_ = Floats(all);
  target_ = random_floats(all, 77U + rank, 1.0F);
  output_gradient_ = Floats(elements_);
  input_gradient_ = Floats(all);
  sum_gradient_ = Floats(elements_);
}

std::span<float> Stage::part(Floats& data, int micro_batch) const {
  return std::span(data).subspan(static_cast<std::size_t>(micro_batch) * elements_, elements_);
}

void Stage::run(double factor, Reducer& reducer, Worker& sender) {
  factor_ = factor;
  clock_.start();
  for (int i = 0; i < step_.micro_batches; ++i) forward(i, sender);
  for (int i = step_.micro_batches - 1; i >= 0; --i) backward(i, reducer, sender);
  if (!step_.overlap) {
    sender.finish();  // messages first, then the gradients
    for (std::size_t i = layers_.size(); i-- > 0;) reducer.reduce(layers_[i].gradient);
  }
  reducer.finish();
  update();
  sender.finish();
}

void Stage::send(std::span<float> data, int to, Worker& sender) {
  sender.post([this, data, to] { network_.send(std::as_bytes(data), to); });
}

/// Compute that waited for its operands begins when they are there.
void Stage::receive(std::span<float> data, int from) {
  constexpr Seconds kWaited = 100.0_us;
  const Seconds start = steady_now();
  network_.receive(std::as_writable_bytes(data), from);
  if (steady_now() - start > kWaited) clock_.start();
}

void Stage::product(const GemmPoint& point, const float* a, const float* b, float* c,
                    bool accumulates) {
  if (!is_emulated()) return cpu_gemm(point, a, b, c, accumulates);
  clock_.wait(Seconds(factor_ * point.shape.flops() / step_.emulated_flops_per_s));
}

void Stage::forward(int micro_batch, Worker& sender) {
  const double d = step_.width;
  if (!is_first()) receive(part(layers_.front().input, micro_batch), network_.rank() - 1);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const auto sum = part(layer.sum, micro_batch);
    product({{rows_, d, d}, Precision::fp32, GemmLayout::nn}, part(layer.input, micro_batch).data(),
            layer.weight.data(), sum.data());
    Floats& next = i + 1 < layers_.size() ? layers_[i + 1].input : output_;
    if (!is_emulated()) cpu_gelu(sum.data(), part(next, micro_batch).data(), elements_);
  }
  if (!is_last()) send(part(output_, micro_batch), network_.rank() + 1, sender);
}

void Stage::backward(int micro_batch, Reducer& reducer, Worker& sender) {
  const double d = step_.width;
  if (!is_last()) {
    receive(output_gradient_, network_.rank() + 1);
  } else if (!is_emulated()) {
    // Mean squared error: the gradient is the difference, up to a factor.
    const auto output = part(output_, micro_batch);
    const auto target = part(target_, micro_batch);
    for (std::size_t i = 0; i < elements_; ++i) output_gradient_[i] = output[i] - target[i];
  }
  const bool is_whole = micro_batch == 0;  // the last one to be worked on completes the gradients
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Layer& layer = layers_[i];
    if (!is_emulated()) {
      cpu_gelu_backward(part(layer.sum, micro_batch).data(), output_gradient_.data(),
                        sum_gradient_.data(), elements_);
    }
    // As frameworks do: the gradient of the input first, which takes the place of the output's.
    if (i > 0 || !is_first()) {
      product({{rows_, d, d}, Precision::fp32, GemmLayout::nt}, sum_gradient_.data(),
              layer.weight.data(), output_gradient_.data());
    }
    product({{d, d, rows_}, Precision::fp32, GemmLayout::tn}, part(layer.input, micro_batch).data(),
            sum_gradient_.data(), layer.gradient.data(), micro_batch + 1 < step_.micro_batches);
    if (step_.overlap && is_whole) reducer.reduce(layer.gradient);
  }
  if (is_first()) return;
  const auto gradient = part(input_gradient_, micro_batch);
  std::copy(output_gradient_.begin(), output_gradient_.end(), gradient.begin());
  send(gradient, network_.rank() - 1, sender);
}

void Stage::update() {
  if (is_emulated()) return;
  for (Layer& layer : layers_) {
    cpu_adam(layer.weight.data(), layer.first_moment.data(), layer.second_moment.data(),
             layer.gradient.data(), {}, layer.weight.size());
  }
}

}  // namespace headway
