#include "calibrate/suite/sustained_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/suite/interruption.h"
#include "sim/base/join_words.h"
#include "sim/base/quantile.h"

namespace headway {
namespace {

constexpr int kPartsOfShare = 4;

std::string part_text(const GemmPoint& product, Seconds once, const DeviceState& state) {
  std::string text = fmt::format("{:.0f} TFLOP/s", 1e-12 * product.shape.flops() / once.count());
  if (state.clock_hz > 0.0) text += fmt::format(" {:.0f} MHz", 1e-6 * state.clock_hz);
  if (state.watts > 0.0) text += fmt::format(" {:.0f} W", state.watts);
  return text;
}

/// Median over the later half of the parts with this share of passes.
Seconds later_half(const std::vector<SustainedRun::Part>& parts, double passes) {
  std::vector<double> times;
  for (const SustainedRun::Part& part : parts) {
    if (part.passes == passes) times.push_back(part.once.count());
  }
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return Seconds(median(times));
}

}  // namespace

Seconds SustainedRun::lasting() const { return later_half(parts, parts.front().passes); }

Seconds SustainedRun::alone() const { return later_half(parts, parts.back().passes); }

const MeasuredPoint* sustained_product(const std::vector<MeasuredPoint>& points) {
  const MeasuredPoint* found = nullptr;
  const auto flops = [](const MeasuredPoint& point) {
    return std::get<GemmPoint>(point.point).shape.flops();
  };
  for (const MeasuredPoint& point : points) {
    const auto* const one = std::get_if<GemmPoint>(&point.point);
    if (one == nullptr || one->layout != GemmLayout::nn || one->block_scaled) continue;
    if (found == nullptr) {
      found = &point;
      continue;
    }
    if (one->precision != std::get<GemmPoint>(found->point).precision) continue;
    const bool was_short = found->measured.time < kThrottled;
    const bool is_short = point.measured.time < kThrottled;
    if (is_short != was_short ? is_short : (flops(point) > flops(*found)) == is_short) {
      found = &point;
    }
  }
  return found;
}

double sustained_rate(const SustainedRun& run, const std::vector<MeasuredPoint>& points) {
  constexpr Seconds kLong{3e-4};
  constexpr double kLongInner = 2048.0;
  const double lasting = run.product.shape.flops() / run.lasting().count();
  std::vector<double> rates;
  for (const MeasuredPoint& point : points) {
    const auto* const one = std::get_if<GemmPoint>(&point.point);
    if (one == nullptr || one->precision != run.product.precision || one->block_scaled ||
        one->accumulates || one->shape.k < kLongInner) {
      continue;
    }
    const Seconds time = point.measured.time;
    if (time > kLong && time < kThrottled) rates.push_back(one->shape.flops() / time.count());
  }
  const double among_others =
      rates.empty() ? run.product.shape.flops() / run.in_sweep.count() : median(rates);
  return std::min(1.0, lasting / among_others);
}

std::optional<MemoryPoint> sustained_pass(const std::vector<MeasuredPoint>& points) {
  std::optional<MemoryPoint> found;
  for (const MeasuredPoint& point : points) {
    const auto* const one = std::get_if<MemoryPoint>(&point.point);
    if (one == nullptr || one->kernel != MemoryKernel::residual_add) continue;
    if (!found || one->elements > found->elements) found = *one;
  }
  return found;
}

SustainedRun sustained_run(Backend& backend, const MeasuredPoint& product,
                           const std::optional<MemoryPoint>& pass, Seconds duration) {
  SustainedRun run{.product = std::get<GemmPoint>(product.point),
                   .in_sweep = product.measured.time,
                   .time = {},
                   .parts = {}};
  const auto operation = backend.prepare(run.product);
  const auto between = pass ? backend.prepare(*pass) : nullptr;
  const auto shares = pass ? std::vector<double>{kPassesShare, 0.5, 0.0} : std::vector<double>{0.0};
  const Seconds each = duration / (static_cast<double>(shares.size()) * kPartsOfShare);
  for (const double share : shares) {
    for (int i = 0; i < kPartsOfShare; ++i) {
      SustainedRun::Part part{.passes = share, .once = {}, .state = {}};
      std::vector<double> times;
      Seconds all;
      Seconds passes;
      while (times.empty() || all < each) {
        throw_if_interrupted();
        const bool is_pass = passes < share * all;
        const Seconds time = (is_pass ? *between : *operation).repeat().time;
        all += time;
        if (is_pass) {
          passes += time;
        } else {
          times.push_back(time.count());
        }
      }
      part.once = Seconds(median(times));
      part.state = backend.state();
      run.time += all;
      run.parts.push_back(part);
    }
  }
  return run;
}

std::string sustained_text(const SustainedRun& run) {
  const auto percent = [](double share) { return fmt::format("{:.0f} %", 100.0 * share); };
  std::vector<std::string> parts;
  const SustainedRun::Part* last = nullptr;
  for (const SustainedRun::Part& part : run.parts) {
    parts.push_back((run.has_passes() ? percent(part.passes) + " " : "") +
                    part_text(run.product, part.once, part.state));
    if (part.passes == run.parts.front().passes) last = &part;
  }
  return fmt::format(
      "{} for {:.0f} s{}: {}, {:.3f} of {} in the sweep; part by part: {}", point_text(run.product),
      run.time.count(),
      run.has_passes()
          ? fmt::format(", {} of it passes at first", percent(run.parts.front().passes))
          : "",
      part_text(run.product, run.lasting(), last->state), run.in_sweep / run.lasting(),
      part_text(run.product, run.in_sweep, {}), join_words(parts, ", "));
}

}  // namespace headway
