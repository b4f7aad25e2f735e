#include "sim/programs/perturbation/met_pauses.h"

#include <algorithm>
#include <cmath>

#include "sim/programs/perturbation/counter_draw.h"

namespace headway {
namespace {

constexpr std::uint64_t kFirstPauseStream = std::uint64_t{1} << 62;
/// Iterations that are simulated: the phases of each are as far from the others' as they can be.
constexpr int kPlacements = 4;
/// Pauses of one accelerator in an iteration; what more of them cost hardly depends on their phase.
constexpr double kMany = 8.0;
constexpr double kNever = 1e-9;

/// Accelerators with pauses of one kind, each alone or all at the same moments.
struct Pausing {
  std::vector<std::int32_t> accelerators;  ///< ascending; one where all pause together
  double begins = 0.0;                     ///< probability that a pause of one begins in the run
};

std::vector<Pausing> pausing_of(const Perturbation& perturbation, const Workload& workload,
                                double length) {
  std::vector<Pausing> kinds;
  for (const Pauses& pauses : perturbation.pauses) {
    Pausing kind{.begins = std::min(1.0, length / (pauses.every - pauses.lasts))};
    for (const RankGroup& group : workload.groups) {
      for (const std::int32_t accelerator : group.accelerators) {
        if (!pauses.accelerators.has(accelerator)) continue;
        if (!perturbation.repair.covers(accelerator)) kind.accelerators.push_back(accelerator);
      }
    }
    std::ranges::sort(kind.accelerators);
    if (pauses.together && !kind.accelerators.empty()) kind.accelerators = {kind.accelerators[0]};
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

/// log P(none of them begins a pause)
double log_none(const Pausing& kind, std::size_t accelerators) {
  if (accelerators == 0) return 0.0;
  return static_cast<double>(accelerators) * std::log1p(-kind.begins);
}

/// Who is the first to pause, counted kind by kind, of those that pause in a run: by inverting the
/// probability that somebody up to there does. `probability` is below that of anybody.
FirstPause first_pause(const std::vector<Pausing>& kinds, double probability, double length) {
  double log_before = 0.0;
  FirstPause first{.within = length};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const Pausing& kind = kinds[i];
    if (kind.accelerators.empty()) continue;
    const double left = std::log1p(-probability) - log_before;
    double place = 0.0;
    if (kind.begins < 1.0) place = std::floor(left / std::log1p(-kind.begins));
    const auto last = static_cast<double>(kind.accelerators.size() - 1);
    first.kind = static_cast<std::int32_t>(i);
    first.accelerator = kind.accelerators[static_cast<std::size_t>(std::clamp(place, 0.0, last))];
    if (place <= last) return first;
    log_before += log_none(kind, kind.accelerators.size());
  }
  return first;  // to rounding the last one
}

}  // namespace

MetPauses met_pauses(const Perturbation& perturbation, const Workload& workload, double length) {
  const std::vector<Pausing> kinds = pausing_of(perturbation, workload, length);
  double none = 0.0;
  double fewest = kMany;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].accelerators.empty()) continue;
    none += log_none(kinds[i], kinds[i].accelerators.size());
    const Pauses& pauses = perturbation.pauses[i];
    fewest = std::min(fewest, length / (pauses.every - pauses.lasts));
  }
  MetPauses met{.probability = -std::expm1(none)};
  if (met.probability <= 0.0) return met;
  const bool is_sure = met.probability >= 1.0 - kNever;
  if (is_sure) met.probability = 1.0;
  const int placements = is_sure && fewest >= kMany ? 1 : kPlacements;
  const double drawn = counter_draw(perturbation.seed, kFirstPauseStream, 0);
  for (int i = 0; i < placements; ++i) {
    Perturbation one = perturbation;
    one.pause_shift = static_cast<double>(i) / placements;
    if (!is_sure) {
      const double place = (i + drawn) / placements;
      one.first_pause = first_pause(kinds, place * met.probability, length);
    }
    met.iterations.push_back(std::move(one));
  }
  return met;
}

Perturbation with_even_pauses(Perturbation perturbation, double length) {
  for (Pauses& pauses : perturbation.pauses) {
    const double factor = std::min(1.0, length / kMany / pauses.every);
    pauses.every *= factor;
    pauses.lasts *= factor;
  }
  return perturbation;
}

}  // namespace headway
