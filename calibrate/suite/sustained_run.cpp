#include "calibrate/suite/sustained_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/suite/interruption.h"
#include "sim/base/join_words.h"
#include "sim/base/quantile.h"

namespace headway {
namespace {

constexpr int kParts = 12;

std::string part_text(const GemmPoint& product, Seconds once, const DeviceState& state) {
  std::string text = fmt::format("{:.0f} TFLOP/s", 1e-12 * product.shape.flops() / once.count());
  if (state.clock_hz > 0.0) text += fmt::format(" {:.0f} MHz", 1e-6 * state.clock_hz);
  if (state.watts > 0.0) text += fmt::format(" {:.0f} W", state.watts);
  return text;
}

}  // namespace

Seconds SustainedRun::lasting() const {
  std::vector<double> later;
  for (std::size_t i = parts.size() / 2; i < parts.size(); ++i) {
    later.push_back(parts[i].once.count());
  }
  return Seconds(median(later));
}

const MeasuredPoint* sustained_product(const std::vector<MeasuredPoint>& points) {
  const MeasuredPoint* found = nullptr;
  const auto product = [](const MeasuredPoint& point) {
    return std::get_if<GemmPoint>(&point.point);
  };
  for (const MeasuredPoint& point : points) {
    const GemmPoint* const one = product(point);
    if (one == nullptr || one->layout != GemmLayout::nn || one->block_scaled) continue;
    const GemmPoint* const best = found == nullptr ? nullptr : product(*found);
    if (best == nullptr ||
        (one->precision == best->precision && one->shape.flops() > best->shape.flops())) {
      found = &point;
    }
  }
  return found;
}

SustainedRun sustained_run(Backend& backend, const MeasuredPoint& product, Seconds duration) {
  SustainedRun run{.product = std::get<GemmPoint>(product.point),
                   .in_sweep = product.measured.time,
                   .time = {},
                   .parts = {}};
  const auto operation = backend.prepare(run.product);
  for (int part = 1; part <= kParts; ++part) {
    std::vector<double> times;
    while (times.empty() || run.time < duration * (static_cast<double>(part) / kParts)) {
      throw_if_interrupted();
      const Sample sample = operation->repeat();
      times.push_back(sample.time.count());
      run.time += sample.time;
    }
    run.parts.push_back({Seconds(median(times)), backend.state()});
  }
  return run;
}

std::string sustained_text(const SustainedRun& run) {
  std::vector<std::string> parts;
  for (const SustainedRun::Part& part : run.parts) {
    parts.push_back(part_text(run.product, part.once, part.state));
  }
  return fmt::format("{} for {:.0f} s: {}, {:.3f} of {} among other points; by twelfths: {}",
                     point_text(run.product), run.time.count(),
                     part_text(run.product, run.lasting(), run.parts.back().state),
                     run.in_sweep / run.lasting(), part_text(run.product, run.in_sweep, {}),
                     join_words(parts, ", "));
}

}  // namespace headway
