#include "sim/predict/statistics/steps_to_target.h"

namespace headway {

double steps_ratio(double noise, double from, double to) {
  return (1.0 + noise / to) / (1.0 + noise / from);
}

StepsToTarget steps_to_target(const StatisticsSettings& settings, const UpdatesOfStep& step) {
  const double least = settings.steps / (1.0 + settings.noise_scale / settings.batch);
  const double without_noise = (1.0 + step.staleness) / step.updates;
  const auto iterations = [&](double batch) {
    return settings.penalty * least * (without_noise + settings.noise_scale / batch);
  };
  StepsToTarget to;
  to.steps = iterations(step.batch);
  to.samples = to.steps * step.batch;
  to.efficiency = least * settings.noise_scale / to.samples;
  to.noise_scale = settings.noise_scale;
  to.staleness = step.staleness;
  to.penalty = settings.penalty;
  to.doubling_saves = 1.0 - iterations(2.0 * step.batch) / to.steps;
  to.pays_up_to = step.accelerators * settings.noise_scale / (without_noise * step.batch);
  return to;
}

}  // namespace headway
