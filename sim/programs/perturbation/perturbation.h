#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/programs/perturbation/jitter.h"
#include "sim/programs/perturbation/slowdowns.h"

namespace headway {

/// What is taken to be as the job typically is, to learn what its slowness costs: no draws of its
/// own, and the time factor of a typical accelerator.
struct Repair {
  double time_factor = 1.0;                ///< typical_time_factor of the job
  std::vector<std::int32_t> accelerators;  ///< in ascending order
  std::vector<std::string> blocks;         ///< blocks of these names, on every accelerator

  [[nodiscard]] bool covers(std::int32_t accelerator) const;
  [[nodiscard]] bool covers_block(const std::string& name) const;
};

/// Who is the first to pause in an iteration that is known to meet a pause (met_pauses.h): those
/// before it, counted kind by kind and accelerator by accelerator, begin no pause in its first
/// `within` seconds, and this one does.
struct FirstPause {
  std::int32_t kind = -1;  ///< index into `pauses`; nobody with -1
  std::int32_t accelerator = 0;
  double within = 0.0;
};

/// How ranks differ from the nominal device. Zero spreads and no listed rank leave every time as it
/// is, to the last bit.
struct Perturbation {
  std::uint64_t seed = 1;
  double device_spread =
      0.0;               ///< sigma of the log of an accelerator's time factor, fixed for the run
  Jitter jitter;         ///< of each block's time on each accelerator
  Jitter micro_batches;  ///< of the work of each micro-batch, on all stages and in all passes
  std::map<int, double>
      slow_accelerators;  ///< time factor (1.5 is 1.5 times slower) by global index
  std::vector<SlowEpisode> slow_episodes;
  std::vector<Pauses> pauses;
  FirstPause first_pause;
  double pause_shift = 0.0;  ///< of all phases of pauses, as a share of what they are drawn from
  std::vector<LinkEpisode> link_episodes;
  std::vector<BackgroundFlow> background;
  Repair repair;

  [[nodiscard]] bool none() const {
    return device_spread == 0.0 && jitter.none() && micro_batches.none() &&
           slow_accelerators.empty() && slow_episodes.empty() && pauses.empty() &&
           link_episodes.empty() && background.empty();
  }
  /// Whether something slow is listed, rather than drawn.
  [[nodiscard]] bool lists_slowness() const {
    return !slow_accelerators.empty() || !slow_episodes.empty() || !pauses.empty() ||
           !link_episodes.empty() || !background.empty();
  }
  /// Whether another seed would give something else.
  [[nodiscard]] bool random() const;
};

/// The median of the largest of `draws` lognormal factors with median 1: P(max <= x) = P(one <=
/// x)^draws. 1 for a spread of 0 or a single draw.
[[nodiscard]] double median_of_slowest(double spread, int draws);

/// The time factors of these accelerators that hold for the whole run.
[[nodiscard]] std::vector<double> device_time_factors(const Perturbation& perturbation,
                                                      std::span<const std::int32_t> accelerators);

/// The (lower) median of these accelerators' time factors: what is slow compared with this is a
/// straggler, what is as slow as this is not. The repair changes nothing here.
[[nodiscard]] double typical_time_factor(const Perturbation& perturbation,
                                         std::span<const std::int32_t> accelerators);

/// The factor on the work of a micro-batch of a data-parallel replica: sequences of other lengths
/// than the others', say. 1 without jitter of micro-batches, and for what belongs to none of them
/// (-1).
[[nodiscard]] double micro_batch_factor(const Perturbation& perturbation, std::int32_t replica,
                                        std::int32_t micro_batch);

/// Of the draws of a replica's micro-batches, by their numbers.
[[nodiscard]] std::uint64_t micro_batch_stream(const Perturbation& perturbation,
                                               std::int32_t replica);

/// The share of the time in which none of the accelerators pauses: over a period, or a hundred of
/// the longest ones where there are pauses of several kinds.
[[nodiscard]] double working_share(const Perturbation& perturbation,
                                   std::span<const std::int32_t> accelerators);

/// When a block that begins at `start` and takes `work` seconds without slow episodes and pauses is
/// over, on accelerators that wait for each other: they are as slow as the slowest at each moment,
/// and stand still while one of them pauses. Of the work `device` (a share, 0 to 1) is slowed.
/// start + work, to the last bit, where there are none.
[[nodiscard]] double block_end(const Perturbation& perturbation,
                               std::span<const std::int32_t> accelerators, double start,
                               double work, double device = 1.0);

}  // namespace headway
