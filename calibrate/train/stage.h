#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/cpu/transport.h"
#include "calibrate/suite/point.h"
#include "calibrate/train/emulated_clock.h"
#include "calibrate/train/reducer.h"
#include "calibrate/train/worker.h"
#include "sim/costs/steps/training_step.h"

namespace headway {

/// The layers of one rank, with everything that training them needs. `network` carries activations
/// and their gradients between neighbouring stages.
class Stage {
 public:
  Stage(const TrainingStep& step, Transport& network);

  /// One step; compute takes `factor` times as long where it is emulated. `sender` sends to the
  /// neighbours beside the compute.
  void run(double factor, Reducer& reducer, Worker& sender);

 private:
  using Floats = std::vector<float>;
  struct Layer {
    Floats weight;
    Floats gradient;
    Floats first_moment;
    Floats second_moment;
    Floats input;  ///< of all micro-batches, one after the other
    Floats sum;    ///< before the activation
  };

  [[nodiscard]] bool is_emulated() const { return step_.emulated_flops_per_s > 0.0; }
  [[nodiscard]] bool is_first() const { return stage_ == 0; }
  [[nodiscard]] bool is_last() const { return stage_ == step_.pipeline_stages - 1; }
  /// The part of `data` that belongs to a micro-batch.
  [[nodiscard]] std::span<float> part(Floats& data, int micro_batch) const;

  void forward(int micro_batch, Worker& sender);
  void backward(int micro_batch, Reducer& reducer, Worker& sender);
  void update();
  void send(std::span<float> data, int to, Worker& sender);
  void receive(std::span<float> data, int from);
  void product(const GemmPoint& point, const float* a, const float* b, float* c,
               bool accumulates = false);

  TrainingStep step_;
  Transport& network_;
  int stage_;
  double rows_;           ///< of a micro-batch
  std::size_t elements_;  ///< of a micro-batch
  std::vector<Layer> layers_;
  Floats output_;
  Floats target_;
  Floats output_gradient_;
  Floats input_gradient_;  ///< of all micro-batches, as they wait to be sent
  Floats sum_gradient_;
  EmulatedClock clock_;
  double factor_ = 1.0;
};

}  // namespace headway
