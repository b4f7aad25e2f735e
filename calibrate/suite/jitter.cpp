#include "calibrate/suite/jitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/measure/statistics.h"
#include "calibrate/suite/interruption.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kQuantiles[] = {0.01, 0.05, 0.25, 0.75, 0.95, 0.99, 0.999};

}  // namespace

GemmPoint jitter_product(const Offer& offer) {
  HEADWAY_CHECK(!offer.precisions.empty() && !offer.gemm_batch.empty() && !offer.gemm_width.empty(),
                "a device that multiplies nothing");
  const double width = offer.gemm_width[offer.gemm_width.size() / 2];
  return {{offer.gemm_batch.back(), width, width}, offer.precisions.front(), GemmLayout::nn};
}

JitterRun measured_jitter(Backend& backend, Seconds duration) {
  JitterRun run;
  run.product = jitter_product(backend.offer());
  const auto operation = backend.prepare(run.product);
  (void)operation->repeat();
  std::vector<double> times;
  while (times.empty() || run.time < duration) {
    throw_if_interrupted();
    const Sample sample = operation->repeat();
    times.push_back(sample.time.count());
    run.time += sample.time;
    run.contaminated += sample.contaminated ? 1 : 0;
  }
  run.at_end = backend.state();
  run.lag_one = lag_one_autocorrelation(times);
  const double middle = median(times);
  for (double& time : times) time /= middle;
  std::sort(times.begin(), times.end());
  run.over_median = std::move(times);
  return run;
}

std::string jitter_text(const JitterRun& run) {
  std::string text = fmt::format("{} for {:.0f} s: {} samples, {} contaminated; over the median",
                                 point_text(run.product), run.time.count(), run.over_median.size(),
                                 run.contaminated);
  for (const double share : kQuantiles) {
    text += fmt::format(" p{:g} {:.3f}", 100.0 * share, quantile(run.over_median, share));
  }
  text += fmt::format("; lag-1 autocorrelation {:.2f}", run.lag_one);
  if (run.at_end.clock_hz > 0.0) {
    text += fmt::format("; at the end {:.0f} MHz", 1e-6 * run.at_end.clock_hz);
  }
  if (run.at_end.watts > 0.0) text += fmt::format(" and {:.0f} W", run.at_end.watts);
  return text;
}

}  // namespace headway
