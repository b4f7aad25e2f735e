#include "sim/predict/staleness/bounded_staleness.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/programs/perturbation/counter_draw.h"

namespace headway {
namespace {

constexpr int kSettlingSteps = 100;
constexpr int kCountedSteps = 300;

}  // namespace

double idle_share(const BoundedStaleness& job) {
  const auto workers = static_cast<std::size_t>(job.workers);
  std::vector<double> ended(workers, 0.0);
  std::vector<double> slowest;  // by step
  double worked = 0.0;
  double begun = 0.0;
  for (int step = 0; step < kSettlingSteps + kCountedSteps; ++step) {
    const int awaited = step - 1 - job.bound;
    const double gate = awaited < 0 ? 0.0 : slowest[static_cast<std::size_t>(awaited)];
    if (step == kSettlingSteps) {
      for (const double end : ended) begun += end / static_cast<double>(workers);
    }
    double last = 0.0;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      const double u = counter_draw(job.seed, worker, static_cast<std::uint64_t>(step));
      const double work = job.jitter.none() ? 1.0 : largest_draw(job.jitter, u, 1);
      ended[worker] = std::max(ended[worker], gate) + work;
      last = std::max(last, ended[worker]);
      if (step >= kSettlingSteps) worked += work / static_cast<double>(workers);
    }
    slowest.push_back(last);
  }
  double over = 0.0;
  for (const double end : ended) over += end / static_cast<double>(workers);
  return 1.0 - worked / (over - begun);
}

}  // namespace headway
