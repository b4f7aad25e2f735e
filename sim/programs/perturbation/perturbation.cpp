#include "sim/programs/perturbation/perturbation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/programs/perturbation/counter_draw.h"

namespace headway {
namespace {

constexpr std::uint64_t kDeviceStream = ~std::uint64_t{0};
constexpr std::uint64_t kMicroBatchStream = std::uint64_t{1} << 63;  // and upwards, by replica
constexpr std::uint64_t kPauseStream = ~std::uint64_t{1};  // and downwards, one for each kind

double device_time_factor(const Perturbation& perturbation, std::int32_t accelerator) {
  double factor = 1.0;
  if (perturbation.device_spread > 0.0) {
    const double u =
        counter_draw(perturbation.seed, kDeviceStream, static_cast<std::uint64_t>(accelerator));
    factor = largest_draw({.spread = perturbation.device_spread}, u, 1);
  }
  const auto listed = perturbation.slow_accelerators.find(accelerator);
  return listed == perturbation.slow_accelerators.end() ? factor : factor * listed->second;
}

}  // namespace

bool Repair::covers(std::int32_t accelerator) const {
  return std::ranges::binary_search(accelerators, accelerator);
}

bool Repair::covers_block(const std::string& name) const {
  return std::ranges::find(blocks, name) != blocks.end();
}

double median_of_slowest(double spread, int draws) {
  return spread == 0.0 ? 1.0 : largest_draw({.spread = spread}, 0.5, draws);
}

std::vector<double> device_time_factors(const Perturbation& perturbation,
                                        std::span<const std::int32_t> accelerators) {
  const Repair& repair = perturbation.repair;
  std::vector<double> factors;
  factors.reserve(accelerators.size());
  for (const std::int32_t accelerator : accelerators) {
    factors.push_back(repair.covers(accelerator) ? repair.time_factor
                                                 : device_time_factor(perturbation, accelerator));
  }
  return factors;
}

double typical_time_factor(const Perturbation& perturbation,
                           std::span<const std::int32_t> accelerators) {
  std::vector<double> factors;
  factors.reserve(accelerators.size());
  for (const std::int32_t accelerator : accelerators) {
    factors.push_back(device_time_factor(perturbation, accelerator));
  }
  if (factors.empty()) return 1.0;
  const auto middle = factors.begin() + static_cast<std::ptrdiff_t>((factors.size() - 1) / 2);
  std::ranges::nth_element(factors, middle);
  return *middle;
}

double micro_batch_factor(const Perturbation& perturbation, std::int32_t replica,
                          std::int32_t micro_batch) {
  if (perturbation.micro_batches.none() || micro_batch < 0) return 1.0;
  const double u = counter_draw(micro_batch_stream(perturbation, replica),
                                static_cast<std::uint64_t>(micro_batch));
  return largest_draw(perturbation.micro_batches, u, 1);
}

std::uint64_t micro_batch_stream(const Perturbation& perturbation, std::int32_t replica) {
  return counter_stream(perturbation.seed, kMicroBatchStream + static_cast<std::uint64_t>(replica));
}

bool Perturbation::random() const {
  return device_spread > 0.0 || !jitter.none() || !micro_batches.none() || !pauses.empty();
}

namespace {

/// What holds at a moment, and until when.
struct Moment {
  double factor = 1.0;        ///< on times
  double paused_until = 0.0;  ///< later than the moment: nothing is done before
  double until = std::numeric_limits<double>::infinity();  ///< it may change here
};

/// When an accelerator begins a pause, any one where nothing more is known. An iteration begins
/// while those that all pause together do not, anywhere in the rest of the period.
double one_start(const Perturbation& perturbation, std::size_t kind, std::int32_t accelerator) {
  const Pauses& pauses = perturbation.pauses[kind];
  const std::int32_t whose = pauses.together ? 0 : accelerator;
  const double drawn =
      counter_draw(perturbation.seed, kPauseStream - kind, static_cast<std::uint64_t>(whose)) +
      perturbation.pause_shift;
  const double share = drawn - std::floor(drawn);
  const double free = pauses.every - pauses.lasts;
  const FirstPause& first = perturbation.first_pause;
  if (first.kind < 0) return share * (pauses.together ? free : pauses.every);
  const double within = std::min(first.within, free);
  const auto number = static_cast<std::int32_t>(kind);
  if (number > first.kind) return share * free;
  if (number == first.kind) {
    if (pauses.together || accelerator == first.accelerator) return share * within;
    if (accelerator > first.accelerator) return share * free;
  }
  return within + share * (free - within);
}

void add_pauses(const Perturbation& perturbation, std::int32_t accelerator, double now,
                Moment& moment) {
  for (std::size_t i = 0; i < perturbation.pauses.size(); ++i) {
    const Pauses& pauses = perturbation.pauses[i];
    if (!pauses.accelerators.has(accelerator)) continue;
    const double one = one_start(perturbation, i, accelerator);
    double before = std::floor((now - one) / pauses.every);
    if (one + (before + 1.0) * pauses.every <= now) before += 1.0;  // rounded
    const double start = one + before * pauses.every;
    if (now < start + pauses.lasts) {
      moment.paused_until = std::max(moment.paused_until, start + pauses.lasts);
    }
    const double next = one + (before + 1.0) * pauses.every;
    moment.until = std::min(moment.until, next > now ? next : next + pauses.every);
  }
}

Moment moment_at(const Perturbation& perturbation, std::span<const std::int32_t> accelerators,
                 double now) {
  Moment moment{.paused_until = now};
  for (const std::int32_t accelerator : accelerators) {
    if (perturbation.repair.covers(accelerator)) continue;
    double factor = 1.0;
    for (const SlowEpisode& episode : perturbation.slow_episodes) {
      // One that slows nothing down must not even cut a block in two: that would round.
      if (!episode.accelerators.has(accelerator) || episode.time_factor == 1.0) continue;
      if (episode.from <= now && now < episode.to) factor *= episode.time_factor;
      for (const double change : {episode.from, episode.to}) {
        if (change > now) moment.until = std::min(moment.until, change);
      }
    }
    moment.factor = std::max(moment.factor, factor);
    add_pauses(perturbation, accelerator, now, moment);
  }
  return moment;
}

}  // namespace

double working_share(const Perturbation& perturbation, std::span<const std::int32_t> accelerators) {
  constexpr int kMostMoments = 100'000;  // of kinds that differ by more, a part
  double end = 0.0;
  for (const Pauses& pauses : perturbation.pauses) end = std::max(end, pauses.every);
  if (end == 0.0) return 1.0;
  if (perturbation.pauses.size() > 1) end *= 100.0;
  double now = 0.0;
  double working = 0.0;
  for (int i = 0; i < kMostMoments && now < end; ++i) {
    const Moment moment = moment_at(perturbation, accelerators, now);
    const bool is_paused = moment.paused_until > now;
    const double next = std::min(is_paused ? moment.paused_until : moment.until, end);
    if (!is_paused) working += next - now;
    now = next;
  }
  return working / now;
}

double block_end(const Perturbation& perturbation, std::span<const std::int32_t> accelerators,
                 double start, double work, double device) {
  if (perturbation.slow_episodes.empty() && perturbation.pauses.empty()) return start + work;
  double now = start;
  while (true) {
    const Moment moment = moment_at(perturbation, accelerators, now);
    if (moment.paused_until > now) {
      now = moment.paused_until;
      continue;
    }
    const double factor = 1.0 + (moment.factor - 1.0) * device;
    const double end = now + work * factor;
    // So late that a double cannot tell a pause from the next, nothing changes any more.
    const bool is_beyond_changes = moment.until <= now;
    if (end <= moment.until || is_beyond_changes) return end;
    work -= (moment.until - now) / factor;
    now = moment.until;
  }
}

}  // namespace headway
