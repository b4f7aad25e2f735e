#include "calibrate/train/trainer.h"

#include <time.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "calibrate/cpu/cpu_backend.h"
#include "calibrate/cpu/operand_pool.h"
#include "calibrate/cpu/thread_clock.h"
#include "calibrate/cpu/transport_rendezvous.h"
#include "calibrate/measure/statistics.h"
#include "calibrate/suite/interruption.h"
#include "calibrate/train/reducer.h"
#include "kernels/cpu_kernels.h"

namespace headway {
namespace {

constexpr int kWarmUp = 3;

using Floats = std::vector<float>;

Floats random_floats(std::size_t count, std::uint64_t seed, float scale) {
  OperandPool pool(count, seed);
  const auto values = pool.take(count);
  Floats result(values.begin(), values.end());
  for (float& value : result) value *= scale;
  return result;
}

struct Layer {
  Floats weight;
  Floats gradient;
  Floats first_moment;
  Floats second_moment;
  Floats input;
  Floats sum;  ///< before the activation
};

/// Compute that takes its time without doing it. Waits end at absolute times, so that what one
/// oversleeps the next makes up for.
class EmulatedClock {
 public:
  void start() { until_ = steady_now(); }
  void wait(double seconds) {
    // A stream that stood idle (for its gradients) begins anew; oversleeping is no idleness.
    constexpr double kIdle = 2e-3;
    const double now = steady_now().count();
    if (until_.count() < now - kIdle) until_ = Seconds(now);
    until_ += Seconds(seconds);
    const double whole = std::floor(until_.count());
    const timespec end{static_cast<time_t>(whole),
                       static_cast<long>((until_.count() - whole) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) != 0) {
      throw_if_interrupted();
    }
  }

 private:
  Seconds until_;
};

class Network {
 public:
  Network(const TrainingStep& step, int rank) : step_(step), elements_(size(step.batch)) {
    const std::size_t weights = size(step.width);
    for (int i = 0; i < step.layers; ++i) {
      const auto seed = static_cast<std::uint64_t>(i);
      // The same weights everywhere, other inputs on every rank. 0.05: activations stay moderate.
      layers_.push_back({random_floats(weights, seed, 0.05F), Floats(weights), Floats(weights),
                         Floats(weights, 1.0F),
                         random_floats(elements_, seed + 1000U * static_cast<unsigned>(rank), 1.0F),
                         Floats(elements_)});
    }
    output_ = Floats(elements_);
    target_ = random_floats(elements_, 77U + static_cast<unsigned>(rank), 1.0F);
    output_gradient_ = Floats(elements_);
    sum_gradient_ = Floats(elements_);
  }

  void run(double factor, Reducer& reducer) {
    factor_ = factor;
    clock_.start();
    forward();
    backward(reducer);
    reducer.finish();
    clock_.start();
    update();
  }

 private:
  [[nodiscard]] std::size_t size(int rows) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(step_.width);
  }
  [[nodiscard]] bool is_emulated() const { return step_.emulated_flops_per_s > 0.0; }

  void product(GemmLayout layout, double m, double n, double k, const Floats& a, const Floats& b,
               Floats& c) {
    const GemmPoint point{{m, n, k}, Precision::fp32, layout};
    if (!is_emulated()) return cpu_gemm(point, a.data(), b.data(), c.data());
    clock_.wait(factor_ * point.shape.flops() / step_.emulated_flops_per_s);
  }

  void forward() {
    const double b = step_.batch;
    const double d = step_.width;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Layer& layer = layers_[i];
      product(GemmLayout::nn, b, d, d, layer.input, layer.weight, layer.sum);
      Floats& next = i + 1 < layers_.size() ? layers_[i + 1].input : output_;
      if (!is_emulated()) cpu_gelu(layer.sum.data(), next.data(), elements_);
    }
    if (is_emulated()) return;
    // Mean squared error: the gradient is the difference, up to a factor.
    for (std::size_t i = 0; i < elements_; ++i) output_gradient_[i] = output_[i] - target_[i];
  }

  void backward(Reducer& reducer) {
    const double b = step_.batch;
    const double d = step_.width;
    for (std::size_t i = layers_.size(); i-- > 0;) {
      Layer& layer = layers_[i];
      if (!is_emulated()) {
        cpu_gelu_backward(layer.sum.data(), output_gradient_.data(), sum_gradient_.data(),
                          elements_);
      }
      product(GemmLayout::tn, d, d, b, layer.input, sum_gradient_, layer.gradient);
      if (step_.overlap) reducer.reduce(layer.gradient);
      if (i > 0) {
        product(GemmLayout::nt, b, d, d, sum_gradient_, layer.weight, output_gradient_);
      }
    }
    if (step_.overlap) return;
    for (std::size_t i = layers_.size(); i-- > 0;) reducer.reduce(layers_[i].gradient);
  }

  void update() {
    if (is_emulated()) return;
    for (Layer& layer : layers_) {
      cpu_adam(layer.weight.data(), layer.first_moment.data(), layer.second_moment.data(),
               layer.gradient.data(), {}, layer.weight.size());
    }
  }

  TrainingStep step_;
  std::size_t elements_;
  std::vector<Layer> layers_;
  Floats output_;
  Floats target_;
  Floats output_gradient_;
  Floats sum_gradient_;
  EmulatedClock clock_;
  double factor_ = 1.0;
};

}  // namespace

MeasuredStep measured_step(const TrainingStep& step, Transport& transport, Transport& network) {
  const int ranks = transport.size();
  Network model(step, transport.rank());
  Reducer reducer(network, step.overlap);
  std::vector<double> times;
  int contaminated = 0;
  for (int index = -kWarmUp; index < step.steps; ++index) {
    throw_if_interrupted();
    const double factor = compute_factor(step, transport.rank(), index);
    (void)group_max(transport, ranks, 0.0);
    const ThreadClock clock;
    model.run(factor, reducer);
    const Sample mine = clock.elapsed();
    const double slowest = group_max(transport, ranks, mine.time.count());
    const double preempted = group_max(transport, ranks, mine.contaminated ? 1.0 : 0.0);
    if (index < 0) continue;
    times.push_back(slowest);
    contaminated += preempted > 0.0 ? 1 : 0;
  }
  const double time = median(times);
  return {step, ranks, time, 1.4826 * median_absolute_deviation(times) / time,
          static_cast<double>(contaminated) / static_cast<double>(times.size())};
}

}  // namespace headway
