#include "sim/predict/reliability/nodes_in_repair.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace headway {
namespace {

/// Failures whose nodes are in repair, on average, by how many nodes each takes.
std::map<int, double> open_failures(const ReliabilitySettings& settings) {
  std::map<int, double> open;
  for (const FailureCause& cause : settings.causes) {
    if (cause.nodes_lost == 0 || cause.repair <= Seconds(0.0)) continue;
    open[cause.nodes_lost] += cause.units * (cause.repair / cause.lifetime.mean);
  }
  return open;
}

}  // namespace

double mean_nodes_in_repair(const ReliabilitySettings& settings) {
  double mean = 0.0;
  for (const auto& [nodes, failures] : open_failures(settings)) mean += nodes * failures;
  return mean;
}

/// n p(n) = sum over b of b open(b) p(n - b), from any p(0) on, made a share at the end.
double share_beyond_spares(const ReliabilitySettings& settings, int spare_nodes) {
  constexpr double kMostNodes = 1e6;
  constexpr double kLarge = 1e200;
  constexpr double kDeviations = 12.0;  // behind which nothing is left to add
  const std::map<int, double> open = open_failures(settings);
  const double mean = mean_nodes_in_repair(settings);
  if (mean > kMostNodes) return mean > spare_nodes ? 1.0 : 0.0;
  double variance = 0.0;
  for (const auto& [nodes, failures] : open) variance += failures * nodes * nodes;
  const double last =
      mean + kDeviations * (std::sqrt(variance) + (open.empty() ? 0 : open.rbegin()->first));
  if (spare_nodes > last) return 0.0;
  std::vector<double> weights{1.0};
  double within = 1.0;
  double beyond = 0.0;
  for (int n = 1; n <= last; ++n) {
    double weight = 0.0;
    for (const auto& [nodes, failures] : open) {
      if (nodes > n) break;
      weight += nodes * failures / n * weights[static_cast<std::size_t>(n - nodes)];
    }
    weights.push_back(weight);
    (n <= spare_nodes ? within : beyond) += weight;
    if (weight < kLarge) continue;
    for (double* const sum : {&within, &beyond}) *sum /= kLarge;
    std::ranges::transform(weights, weights.begin(), [](double each) { return each / kLarge; });
  }
  return beyond / (within + beyond);
}

}  // namespace headway
