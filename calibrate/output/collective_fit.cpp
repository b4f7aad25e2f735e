#include "calibrate/output/collective_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "calibrate/measure/linear_fit.h"
#include "calibrate/measure/statistics.h"

namespace headway {
namespace {

std::vector<Observation> observations(const std::vector<MeasuredCollective>& curves,
                                      int least_ranks, int most_ranks) {
  std::vector<Observation> all;
  for (const MeasuredCollective& collective : curves) {
    if (collective.ranks < least_ranks || collective.ranks > most_ranks) continue;
    const CollectiveVolume volume =
        collective_volume(collective.kind, CollectiveAlgorithm::ring, collective.ranks);
    for (const MeasuredCurve::Point& point : collective.curve.points) {
      all.push_back(
          {{1.0, static_cast<double>(volume.steps), volume.bytes_factor * point.size.count()},
           point.time.count()});
    }
  }
  return all;
}

FitError errors_of(const std::vector<double>& fit, const std::vector<Observation>& all) {
  std::vector<double> errors;
  for (const Observation& observation : all) {
    errors.push_back(std::abs(fitted_value(fit, observation.features) / observation.value - 1.0));
  }
  return {static_cast<int>(errors.size()), median(errors),
          *std::max_element(errors.begin(), errors.end())};
}

}  // namespace

std::vector<MeasuredCollective> collective_curves(const std::vector<MeasuredPoint>& points,
                                                  const std::string& implementation) {
  std::map<std::pair<CollectiveKind, int>, MeasuredCollective> by_group;
  for (const MeasuredPoint& point : points) {
    const auto* collective = std::get_if<CollectivePoint>(&point.point);
    if (collective == nullptr || collective->implementation != implementation ||
        collective->ranks < 2) {
      continue;
    }
    MeasuredCollective& curve = by_group[{collective->kind, collective->ranks}];
    curve.kind = collective->kind;
    curve.ranks = collective->ranks;
    curve.curve.points.push_back(
        {Bytes(static_cast<double>(collective->message_bytes)), point.measured.time});
    curve.curve.spread += point.measured.spread();
  }
  std::vector<MeasuredCollective> curves;
  for (auto& [group, curve] : by_group) {
    auto& sizes = curve.curve.points;
    std::sort(sizes.begin(), sizes.end(),
              [](const auto& a, const auto& b) { return a.size < b.size; });
    curve.curve.spread = std::min(1.0, curve.curve.spread / static_cast<double>(sizes.size()));
    curve.curve.source = "measured: " + implementation;
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::optional<LinkFit> fitted_link(const std::vector<MeasuredCollective>& curves) {
  if (curves.empty()) return std::nullopt;
  int most = 0;
  int least = std::numeric_limits<int>::max();
  for (const MeasuredCollective& curve : curves) {
    most = std::max(most, curve.ranks);
    least = std::min(least, curve.ranks);
  }
  const auto all = observations(curves, least, most);
  const std::vector<double> c = non_negative_fit(all);
  LinkFit fit{c[0], c[1], 1.0 / c[2], errors_of(c, all), std::nullopt};
  if (least < most) {
    fit.held_out_ranks = errors_of(non_negative_fit(observations(curves, least, most - 1)),
                                   observations(curves, most, most));
  }
  return fit;
}

}  // namespace headway
