#include "calibrate/suite/sweep.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "calibrate/measure/shuffled_order.h"
#include "calibrate/suite/interruption.h"

namespace headway {
namespace {

PassSamples one_pass(Operation& operation, const StopRule& rule) {
  for (int i = 0; i < rule.warm_up; ++i) (void)operation.repeat();
  PassSamples samples;
  while (!samples.is_settled(rule)) {
    throw_if_interrupted();
    samples.add(operation.repeat());
  }
  return samples;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double relative_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  const double middle = mean(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1)) / middle;
}

/// Ranks that did not take part (they measured no sample) have no say; nothing if none did.
std::optional<MeasuredPoint> agreed(const Point& point, const Measured& mine, Rendezvous& rendezvous) {
  MeasuredPoint result{point, mine};
  std::vector<double> times;
  for (const double time : rendezvous.all_gather(mine.time.count())) {
    if (time > 0.0) times.push_back(time);
  }
  if (times.empty()) return std::nullopt;
  const auto over_ranks = [&rendezvous, &times](double value) {
    const auto all = rendezvous.all_gather(value);
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(times.size());
  };
  result.measured.time = Seconds(mean(times));
  result.measured.mad = over_ranks(mine.mad);
  result.measured.pass_spread = over_ranks(mine.pass_spread);
  result.measured.p95 = Seconds(over_ranks(mine.p95.count()));
  result.measured.samples = static_cast<int>(std::lround(over_ranks(mine.samples)));
  result.measured.contaminated = static_cast<int>(std::lround(over_ranks(mine.contaminated)));
  result.device_spread = relative_deviation(times);
  return result;
}

void merge(DeviceState& state, const DeviceState& pass) {
  if (pass.clock_hz > 0.0 && (state.clock_hz == 0.0 || pass.clock_hz < state.clock_hz)) {
    state.clock_hz = pass.clock_hz;
  }
  state.throttled_by.insert(pass.throttled_by.begin(), pass.throttled_by.end());
}

bool has_samples(const std::vector<PassSamples>& passes) {
  for (const PassSamples& pass : passes) {
    if (pass.total() > 0) return true;
  }
  return false;
}

}  // namespace

void measure_section(const Section& section, Backend& backend, Rendezvous& rendezvous,
                     const SweepRules& rules, const Progress& progress,
                     std::vector<MeasuredPoint>& results, std::vector<RefusedPoint>& refused) {
  const std::size_t count = section.points.size();
  const std::size_t total = count * static_cast<std::size_t>(rules.passes);
  std::vector<std::vector<PassSamples>> samples(count);
  std::vector<DeviceState> states(count);
  std::vector<bool> is_refused(count, false);
  const auto measure = [&](std::size_t i) {
    try {
      const auto operation = backend.prepare(section.points[i]);
      if (!operation) return;
      samples[i].push_back(one_pass(*operation, section.rule));
      merge(states[i], backend.state());
    } catch (const Refused& refusal) {
      is_refused[i] = true;
      refused.push_back({section.points[i], refusal.what()});
    }
  };
  std::size_t agreed_points = 0;
  try {
    std::size_t done = 0;
    for (int pass = 0; pass < rules.passes; ++pass) {
      for (const std::size_t i : shuffled_order(count, rules.seed + static_cast<unsigned>(pass))) {
        throw_if_interrupted();
        progress(section.name, done++, total, section.points[i]);
        if (!is_refused[i]) measure(i);
        rendezvous.barrier();
      }
    }
    for (; agreed_points < count; ++agreed_points) {
      const auto& passes = samples[agreed_points];
      const Measured mine = has_samples(passes) ? combined(passes) : Measured{};
      auto result = agreed(section.points[agreed_points], mine, rendezvous);
      if (!result) continue;
      result->state = states[agreed_points];
      results.push_back(*std::move(result));
    }
  } catch (...) {
    for (std::size_t i = agreed_points; i < count; ++i) {
      if (has_samples(samples[i])) {
        results.push_back({section.points[i], combined(samples[i]), 0.0, states[i]});
      }
    }
    throw;
  }
}

}  // namespace headway
