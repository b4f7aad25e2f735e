#include "calibrate/suite/sweep.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "calibrate/measure/shuffled_order.h"
#include "calibrate/suite/interruption.h"
#include "sim/base/quantile.h"

namespace headway {
namespace {

/// How often points that were measured at a low clock are measured again.
constexpr int kRepeats = 2;

PassSamples one_pass(Operation& operation, const StopRule& rule) {
  for (int i = 0; i < rule.warm_up; ++i) (void)operation.repeat();
  PassSamples samples;
  while (!samples.is_settled(rule)) {
    throw_if_interrupted();
    samples.add(operation.repeat());
  }
  return samples;
}

double relative_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  const double middle = mean(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1)) / middle;
}

/// Ranks that did not take part (they measured no sample) have no say; nothing if none did.
std::optional<MeasuredPoint> agreed(const Point& point, const Measured& mine,
                                    Rendezvous& rendezvous) {
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

struct TimedPass {
  PassSamples samples;
  DeviceState state;
};

std::vector<PassSamples> samples_of(const std::vector<TimedPass>& passes) {
  std::vector<PassSamples> samples;
  for (const TimedPass& pass : passes) samples.push_back(pass.samples);
  return samples;
}

DeviceState state_of(const std::vector<TimedPass>& passes) {
  DeviceState state;
  for (const TimedPass& pass : passes) merge(state, pass.state);
  return state;
}

bool has_samples(const std::vector<TimedPass>& passes) {
  return std::any_of(passes.begin(), passes.end(),
                     [](const TimedPass& pass) { return pass.samples.total() > 0; });
}

/// The pass with the lowest clock of those that are known; null if none is.
TimedPass* slowest(std::vector<TimedPass>& passes) {
  TimedPass* found = nullptr;
  for (TimedPass& pass : passes) {
    const double clock = pass.state.clock_hz;
    if (clock > 0.0 && (found == nullptr || clock < found->state.clock_hz)) found = &pass;
  }
  return found;
}

/// Points with a pass below this share of the median clock, on any rank: the same on all of them.
std::vector<std::size_t> points_at_low_clocks(std::vector<std::vector<TimedPass>>& points,
                                              Rendezvous& rendezvous) {
  std::vector<double> clocks;
  for (const auto& passes : points) {
    for (const TimedPass& pass : passes) {
      if (pass.state.clock_hz > 0.0) clocks.push_back(pass.state.clock_hz);
    }
  }
  const double least = clocks.empty() ? 0.0 : kLowClock * median(clocks);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const TimedPass* const pass = slowest(points[i]);
    const auto all = rendezvous.all_gather(pass != nullptr && pass->state.clock_hz < least ? 1 : 0);
    if (std::find(all.begin(), all.end(), 1.0) != all.end()) found.push_back(i);
  }
  return found;
}

}  // namespace

void measure_section(const Section& section, Backend& backend, Rendezvous& rendezvous,
                     const SweepRules& rules, const Progress& progress,
                     std::vector<MeasuredPoint>& results, std::vector<RefusedPoint>& refused) {
  const std::size_t count = section.points.size();
  const std::size_t total = count * static_cast<std::size_t>(rules.passes);
  std::vector<std::vector<TimedPass>> passes(count);
  std::vector<bool> is_refused(count, false);
  const auto measured = [&](std::size_t i) -> std::optional<TimedPass> {
    if (is_refused[i]) return std::nullopt;
    try {
      const auto operation = backend.prepare(section.points[i]);
      if (!operation) return std::nullopt;
      PassSamples samples = one_pass(*operation, section.rule);
      return TimedPass{std::move(samples), backend.state()};
    } catch (const Refused& refusal) {
      is_refused[i] = true;
      refused.push_back({section.points[i], refusal.what()});
      return std::nullopt;
    }
  };
  std::size_t agreed_points = 0;
  try {
    std::size_t done = 0;
    for (int pass = 0; pass < rules.passes; ++pass) {
      for (const std::size_t i : shuffled_order(count, rules.seed + static_cast<unsigned>(pass))) {
        throw_if_interrupted();
        progress(section.name, done++, total, section.points[i]);
        if (auto one = measured(i)) passes[i].push_back(*std::move(one));
        rendezvous.barrier();
      }
    }
    for (int again = 0; again < kRepeats; ++again) {
      for (const std::size_t i : points_at_low_clocks(passes, rendezvous)) {
        throw_if_interrupted();
        TimedPass* const worst = slowest(passes[i]);
        auto one = measured(i);
        if (one && worst != nullptr && one->state.clock_hz > worst->state.clock_hz) {
          *worst = *std::move(one);
        }
        rendezvous.barrier();
      }
    }
    for (; agreed_points < count; ++agreed_points) {
      const auto& all = passes[agreed_points];
      const Measured mine = has_samples(all) ? combined(samples_of(all)) : Measured{};
      auto result = agreed(section.points[agreed_points], mine, rendezvous);
      if (!result) continue;
      result->state = state_of(all);
      results.push_back(*std::move(result));
    }
  } catch (...) {
    for (std::size_t i = agreed_points; i < count; ++i) {
      if (has_samples(passes[i])) {
        results.push_back(
            {section.points[i], combined(samples_of(passes[i])), 0.0, state_of(passes[i])});
      }
    }
    throw;
  }
}

}  // namespace headway
