#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/base/words.h"

namespace headway {

/// What is taken away.
enum class RemovalKind {
  cause,      ///< one kind of perturbation, everywhere
  operation,  ///< the slowness of blocks of one kind ("backward"), everywhere
  link,       ///< a cable
  stage,      ///< all slowness of the accelerators of a pipeline stage
  replica,    ///< of a data-parallel replica
  node,       ///< of a node, and of the cables of its NICs
  rank        ///< of a rank group
};
template <>
inline constexpr Word<RemovalKind> kWords<RemovalKind>[] = {
    {"cause", RemovalKind::cause},     {"operation", RemovalKind::operation},
    {"link", RemovalKind::link},       {"stage", RemovalKind::stage},
    {"replica", RemovalKind::replica}, {"node", RemovalKind::node},
    {"rank", RemovalKind::rank}};

/// The iteration with one source of slowness taken away and the rest kept.
struct Removal {
  RemovalKind kind = RemovalKind::cause;
  std::string what;  ///< "node 3", "stage 2", "drawn device speed"
  Seconds without;   ///< iteration
  Seconds gain;      ///< iteration now - without
};

/// The iteration if something of the machine or the job were better.
struct Sensitivity {
  std::string name;   ///< "nic_bandwidth", for programs
  std::string title;  ///< "NICs twice as fast", for people
  Seconds iteration_time;
  double speedup = 1.0;  ///< samples a second over those now
};

/// What slow ranks and links take from a job, who is to blame, and what would help, after Lin et
/// al. 2025, "Understanding Stragglers in Large Model Training Using What-if Analysis"
/// (arXiv:2505.05713): the same iteration is run again with causes removed. Of the median replica,
/// with what it waits for samples.
///
/// Ideal is what a job without any difference between ranks would take: every accelerator as fast
/// as the job's median one, every block at its typical time, no fault in the fabric. A slowness
/// that all share is hence no straggler's.
struct WhatIf {
  Seconds time;   ///< T, as it is
  Seconds ideal;  ///< T_ideal
  std::int64_t accelerators = 0;
  std::vector<Removal> removals;  ///< by kind, greatest gain first; those that gain something
  int slowest_stage = 0;          ///< by the work given to it, at nominal speed
  double stage_imbalance = 1.0;   ///< work of the slowest stage over the mean of stages
  std::vector<Sensitivity> sensitivities;  ///< greatest speedup first
  std::vector<Sensitivity> mitigations;    ///< of stragglers; greatest speedup first
  /// What links that are shared fairly at any instant do not see, each at its worst.
  std::vector<Sensitivity> network_extremes;

  /// S of the paper.
  [[nodiscard]] double slowdown() const { return time / ideal; }
  /// 1 - 1 / S: the share of the accelerators' time that is lost.
  [[nodiscard]] double wasted_share() const { return 1.0 - ideal / time; }
  /// Accelerator-hours that `gain` is worth in a day of this job: gain / T of the accelerators' 24
  /// hours.
  [[nodiscard]] double gpu_hours_a_day(Seconds gain) const {
    constexpr double kHoursOfDay = 24.0;
    return gain / time * static_cast<double>(accelerators) * kHoursOfDay;
  }
  /// Accelerator-hours in one iteration.
  [[nodiscard]] double gpu_hours_an_iteration(Seconds gain) const {
    constexpr double kSecondsOfHour = 3600.0;
    return gain.count() * static_cast<double>(accelerators) / kSecondsOfHour;
  }
};

}  // namespace headway
