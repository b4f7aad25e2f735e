#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/programs/perturbation/block_draws.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"

namespace headway {

/// Draws for rank groups whose iteration is the average one of K steps (LocalPeriod). What a group
/// waits for at the end of a period is how far sums of K steps differ, sqrt(K) times as much as a
/// step does, so that of an average one 1 / sqrt(K) of it is left.
///
/// A group that is an island by itself takes the mean of K executions of each block: the mean of
/// kMostDraws, and what it differs by from what is expected sqrt(kMostDraws / K) times, where K is
/// more.
///
/// Groups of an island that wait for each other at every step are as late by each other as in any
/// step, and draw one in full; but the normal variable behind a draw is one that all islands share
/// by sqrt(1 - 1/K) and one of the island's own by sqrt(1/K). So every island takes a step as it is
/// drawn, and islands differ from each other by 1 / sqrt(K) of what steps do.
class PeriodDraws {
 public:
  static constexpr int kMostDraws = 64;

  /// Both outlive this object.
  PeriodDraws(const Perturbation& perturbation, BlockDraws& draws, const Workload& workload);

  /// Whether any group needs them.
  [[nodiscard]] bool any() const { return any_; }

  /// The time factor of a block of a group, whose devices are `drawn` and the rest
  /// (BlockDraws::factor).
  [[nodiscard]] double factor(std::int32_t group, std::span<const BlockDraws::Device> drawn,
                              double undrawn_factor, std::uint32_t operation);

  /// The factor on the work of a micro-batch (perturbation.h).
  [[nodiscard]] double micro_batch_factor(std::int32_t group, std::int32_t micro_batch);

 private:
  [[nodiscard]] double expected(std::span<const BlockDraws::Device> drawn, double undrawn_factor);

  const Perturbation& perturbation_;
  BlockDraws& draws_;
  const Workload& workload_;
  bool any_ = false;
  std::vector<double> expected_;  ///< factors, by group; 0 until somebody asks
  double expected_micro_batch_ = 0.0;
};

}  // namespace headway
