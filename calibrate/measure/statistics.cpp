#include "calibrate/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway {

double median_absolute_deviation(const std::vector<double>& samples) {
  const double middle = median(samples);
  std::vector<double> deviations;
  deviations.reserve(samples.size());
  for (const double sample : samples) deviations.push_back(std::abs(sample - middle));
  return median(std::move(deviations));
}

MedianInterval median_interval(std::size_t samples) {
  // P(fewer than `lower`+1 samples lie below the median) = sum_{i<=lower} C(n,i) / 2^n, kept at
  // most 2.5 % on each side.
  const double n = static_cast<double>(samples);
  double tail = 0.0;
  MedianInterval interval;
  for (std::size_t i = 0; 2 * i + 1 < samples; ++i) {
    const double x = static_cast<double>(i);
    tail += std::exp(std::lgamma(n + 1.0) - std::lgamma(x + 1.0) - std::lgamma(n - x + 1.0) -
                     n * std::log(2.0));
    if (tail > 0.025) break;
    interval = {true, i, samples - 1 - i};
  }
  return interval;
}

double relative_median_interval(std::vector<double> samples) {
  const MedianInterval interval = median_interval(samples.size());
  if (!interval.exists) return std::numeric_limits<double>::infinity();
  std::sort(samples.begin(), samples.end());
  const double middle = quantile(samples, 0.5);
  return (samples[interval.upper] - samples[interval.lower]) / 2.0 / middle;
}

double lag_one_autocorrelation(const std::vector<double>& samples) {
  if (samples.size() < 3) return 0.0;
  double mean = 0.0;
  for (const double sample : samples) mean += sample / static_cast<double>(samples.size());
  double variance = 0.0;
  double covariance = 0.0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    variance += (samples[i] - mean) * (samples[i] - mean);
    if (i > 0) covariance += (samples[i] - mean) * (samples[i - 1] - mean);
  }
  return variance > 0.0 ? covariance / variance : 0.0;
}

}  // namespace headway
