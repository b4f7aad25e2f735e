#include "sim/costs/steps/training_step.h"

#include <fmt/format.h>

#include <boost/random/exponential_distribution.hpp>
#include <random>

namespace headway {

double compute_factor(const TrainingStep& step, int rank, int index) {
  double factor = rank == step.slow_rank ? step.slow_factor : 1.0;
  if (step.jitter > 0.0) {
    std::seed_seq seed{rank, index};
    std::mt19937_64 random(seed);
    factor *= 1.0 + step.jitter * boost::random::exponential_distribution<double>(1.0)(random);
  }
  return factor;
}

std::string unrunnable_reason(const TrainingStep& step, int ranks) {
  if (ranks % step.pipeline_stages == 0) return "";
  return fmt::format("{} pipeline stages do not divide {} ranks", step.pipeline_stages, ranks);
}

}  // namespace headway
