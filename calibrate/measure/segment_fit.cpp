#include "calibrate/measure/segment_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrate/measure/linear_fit.h"
#include "calibrate/measure/statistics.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr std::size_t kLeastPoints = 3;

struct Piece {
  Segment segment;
  double error = std::numeric_limits<double>::infinity();  ///< summed squared relative error
};

Piece fitted_piece(const std::vector<SizedTime>& points, std::size_t begin, std::size_t end) {
  std::vector<Observation> observations;
  for (std::size_t i = begin; i < end; ++i) {
    observations.push_back({{1.0, points[i].size.count()}, points[i].time.count()});
  }
  const std::vector<double> line = non_negative_fit(observations);
  Piece piece;
  piece.segment = {points[begin].size, Seconds(line[0]), BytesPerSecond(1.0 / line[1])};
  piece.error = 0.0;
  for (const Observation& observation : observations) {
    piece.error += std::pow(fitted_value(line, observation.features) / observation.value - 1.0, 2);
  }
  return piece;
}

/// The best division of the first `end` points into `count` pieces.
struct Division {
  double cost = std::numeric_limits<double>::infinity();
  std::size_t last_begin = 0;
  Piece last;
};

Seconds line_time(const Segment& segment, Bytes size) {
  return segment.latency + size / segment.bandwidth;
}

}  // namespace

std::string error_text(const FitError& error) {
  return fmt::format("{} points, median {:.1f} %, worst {:.1f} %", error.points,
                     100.0 * error.median, 100.0 * error.most);
}

FitError relative_errors(const std::vector<double>& errors) {
  if (errors.empty()) return {};
  return {static_cast<int>(errors.size()), median(errors),
          *std::max_element(errors.begin(), errors.end())};
}

SegmentFit fitted_segments(const std::vector<SizedTime>& points, const SegmentRules& rules) {
  HEADWAY_CHECK(!points.empty(), "a fit of no points");
  const std::size_t n = points.size();
  const std::size_t most =
      std::clamp<std::size_t>(n / kLeastPoints, 1, static_cast<std::size_t>(rules.most_segments));

  std::vector<std::vector<Division>> best(most + 1, std::vector<Division>(n + 1));
  best[0][0].cost = 0.0;
  for (std::size_t end = 1; end <= n; ++end) {
    for (std::size_t begin = 0; begin < end; ++begin) {
      const bool is_everything = begin == 0 && end == n;
      if (end - begin < kLeastPoints && !is_everything) continue;
      const Piece piece = fitted_piece(points, begin, end);
      for (std::size_t count = 1; count <= most; ++count) {
        const double cost = best[count - 1][begin].cost + piece.error + rules.penalty_per_segment;
        if (cost < best[count][end].cost) best[count][end] = {cost, begin, piece};
      }
    }
  }

  std::size_t count = 1;
  for (std::size_t i = 2; i <= most; ++i) {
    if (best[i][n].cost < best[count][n].cost) count = i;
  }
  SegmentFit fit;
  for (std::size_t end = n; count > 0; --count) {
    fit.segments.push_back(best[count][end].last.segment);
    end = best[count][end].last_begin;
  }
  std::reverse(fit.segments.begin(), fit.segments.end());
  fit.residual = fit_error(fit, points);
  return fit;
}

Seconds segment_time(const SegmentFit& fit, Bytes size) {
  Seconds time = line_time(fit.segments.front(), min(size, fit.segments.front().from));
  for (std::size_t i = 0; i < fit.segments.size(); ++i) {
    if (i > 0 && size < fit.segments[i].from) break;
    const bool is_last = i + 1 == fit.segments.size() || size < fit.segments[i + 1].from;
    time = max(time, line_time(fit.segments[i], is_last ? size : fit.segments[i + 1].from));
  }
  return time;
}

FitError fit_error(const SegmentFit& fit, const std::vector<SizedTime>& points) {
  std::vector<double> errors;
  for (const SizedTime& point : points) {
    errors.push_back(std::abs(segment_time(fit, point.size) / point.time - 1.0));
  }
  return relative_errors(errors);
}

std::optional<FitError> held_out_error(const std::vector<SizedTime>& points,
                                       const SegmentRules& rules) {
  if (points.size() < 7) return std::nullopt;
  std::vector<SizedTime> kept;
  std::vector<SizedTime> held_out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    (i % 3 == 1 && i + 1 < points.size() ? held_out : kept).push_back(points[i]);
  }
  return fit_error(fitted_segments(kept, rules), held_out);
}

}  // namespace headway
