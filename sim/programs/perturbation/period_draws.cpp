#include "sim/programs/perturbation/period_draws.h"

#include <algorithm>
#include <cmath>

#include "sim/base/index.h"
#include "sim/base/quantile.h"
#include "sim/programs/perturbation/counter_draw.h"

namespace headway {
namespace {

constexpr std::uint64_t kSharedStream = std::uint64_t{1} << 61;  // and upwards, by place and stage
constexpr std::uint64_t kStrata = 1021;                          // a prime
constexpr std::uint64_t kKorobov = 65;                           // a generator of its residues

/// Of the executions of an operation in a period.
std::uint64_t execution(std::uint64_t operation, int step) {
  return operation | static_cast<std::uint64_t>(step) << 32;
}

/// A uniform number whose normal variable has `own_share` of its variance from `own`.
double correlated(double shared, double own, double own_share) {
  const double z = std::sqrt(1.0 - own_share) * normal_tail_quantile(1.0 - shared) +
                   std::sqrt(own_share) * normal_tail_quantile(1.0 - own);
  return std::clamp(normal_probability(z), 0x1.0p-53, 1.0 - 0x1.0p-53);
}

/// The mean of `steps` draws, of which `draw(i)` is the i-th.
template <class Draw, class Expected>
double mean_of(int steps, const Draw& draw, const Expected& expected) {
  const int drawn = std::min(steps, PeriodDraws::kMostDraws);
  double sum = 0.0;
  for (int step = 0; step < drawn; ++step) sum += draw(step);
  const double mean = sum / drawn;
  if (steps == drawn) return mean;
  const double middle = expected();
  return middle + std::sqrt(static_cast<double>(drawn) / steps) * (mean - middle);
}

}  // namespace

PeriodDraws::PeriodDraws(const Perturbation& perturbation, BlockDraws& draws,
                         const Workload& workload)
    : perturbation_(perturbation), draws_(draws), workload_(workload) {
  if (perturbation.jitter.none() && perturbation.micro_batches.none()) return;
  any_ = std::ranges::any_of(workload.groups,
                             [](const RankGroup& group) { return group.local.steps > 1; });
}

/// By a Korobov lattice: each device draws once from each of equally likely strata, and what any
/// two of them draw lies evenly in the square.
double PeriodDraws::expected(std::span<const BlockDraws::Device> drawn, double undrawn_factor) {
  std::vector<std::uint64_t> steps(drawn.size(), 1);
  for (std::size_t i = 1; i < steps.size(); ++i) steps[i] = steps[i - 1] * kKorobov % kStrata;
  double sum = 0.0;
  for (std::uint64_t point = 0; point < kStrata; ++point) {
    sum += draws_.slowest(drawn, undrawn_factor, [&](std::size_t i) {
      return (static_cast<double>(point * steps[i] % kStrata) + 0.5) / kStrata;
    });
  }
  return sum / kStrata;
}

double PeriodDraws::factor(std::int32_t group, std::span<const BlockDraws::Device> drawn,
                           double undrawn_factor, std::uint32_t operation) {
  const RankGroup& ranks = at(workload_.groups, group);
  const LocalPeriod& local = ranks.local;
  if (local.steps == 1 || perturbation_.jitter.none()) {
    return draws_.factor(drawn, undrawn_factor, operation);
  }
  if (local.meets_others) {
    const std::uint64_t place = static_cast<std::uint64_t>(local.place) << 40 |
                                static_cast<std::uint64_t>(ranks.stage) << 20;
    return draws_.slowest(drawn, undrawn_factor, [&](std::size_t i) {
      return correlated(counter_draw(perturbation_.seed, kSharedStream + (place | i), operation),
                        counter_draw(drawn[i].stream, operation), 1.0 / local.steps);
    });
  }
  return mean_of(
      local.steps,
      [&](int step) {
        return draws_.slowest(drawn, undrawn_factor, [&](std::size_t i) {
          return counter_draw(drawn[i].stream, execution(operation, step));
        });
      },
      [&] {
        expected_.resize(workload_.groups.size(), 0.0);
        double& of_group = at(expected_, group);
        if (of_group == 0.0) of_group = expected(drawn, undrawn_factor);
        return of_group;
      });
}

double PeriodDraws::micro_batch_factor(std::int32_t group, std::int32_t micro_batch) {
  const RankGroup& ranks = at(workload_.groups, group);
  const LocalPeriod& local = ranks.local;
  const Jitter& jitter = perturbation_.micro_batches;
  if (local.steps == 1 || jitter.none() || micro_batch < 0) {
    return headway::micro_batch_factor(perturbation_, ranks.replica, micro_batch);
  }
  const std::uint64_t stream = micro_batch_stream(perturbation_, ranks.replica);
  const auto number = static_cast<std::uint64_t>(micro_batch);
  if (local.meets_others) {
    const double shared = counter_draw(
        perturbation_.seed, kSharedStream + (std::uint64_t{1} << 60) + ranks.local.place, number);
    return largest_draw(jitter, correlated(shared, counter_draw(stream, number), 1.0 / local.steps),
                        1);
  }
  return mean_of(
      local.steps,
      [&](int step) {
        return largest_draw(jitter, counter_draw(stream, execution(number, step)), 1);
      },
      [&] {
        if (expected_micro_batch_ == 0.0) {
          for (std::uint64_t i = 0; i < kStrata; ++i) {
            const double u = (static_cast<double>(i) + 0.5) / kStrata;
            expected_micro_batch_ += largest_draw(jitter, u, 1) / kStrata;
          }
        }
        return expected_micro_batch_;
      });
}

}  // namespace headway
