#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/network/analysis/bill_of_materials.h"
#include "sim/plan/goal.h"
#include "sim/plan/plan_options.h"

namespace headway {

/// What a run takes with one strategy on one cluster.
struct ClusterRun {
  Leader leader;
  Seconds training;           ///< without failures and checkpoints, as predicted
  Seconds median;             ///< with them
  Seconds needed;             ///< it is through by then with the goal's probability
  double probability = 0.0;   ///< of being through by the deadline
  std::optional<double> usd;  ///< median of the whole run, where it has prices
  std::optional<Interval> usd_interval;
  std::optional<double> outlay;  ///< paid until it is through: what was bought in full
  std::optional<Interval> outlay_interval;
  std::optional<Joules> energy;
  bool is_on_front = false;  ///< nobody beats it in time, accelerators, price and free memory
};

/// A number of nodes and what became of it.
struct ClusterSize {
  std::int64_t nodes = 0;
  std::int64_t accelerators = 0;
  std::int64_t global_batch = 0;
  std::string reason;            ///< why nothing can run on it; empty if something can
  Seconds closed_form;           ///< of the whole run at its fastest, without failures
  std::optional<Watts> power;    ///< that the building has to supply, where powers are given
  std::optional<double> bought;  ///< US$, where something is
  std::vector<ClusterRun> runs;  ///< simulated, fastest first; empty if the closed form settles it
  BillOfMaterials bill;          ///< where something was simulated

  [[nodiscard]] bool can_run() const { return reason.empty(); }
  /// Simulated, and the fastest is in time.
  [[nodiscard]] bool meets(Seconds deadline) const {
    return !runs.empty() && runs.front().needed <= deadline;
  }
};

/// By how much a size that was simulated misses a goal, in what the goal limits; 0 for what it
/// keeps to. Money at the 95th percentile.
struct Shortfall {
  Seconds time;
  double usd = 0.0;
  Watts power;

  [[nodiscard]] bool is_none() const {
    return time <= Seconds(0.0) && usd <= 0.0 && power <= Watts(0.0);
  }
};
[[nodiscard]] Shortfall shortfall(const ClusterSize& size, const TrainingGoal& goal);

/// How far a size that was simulated is from the goal: the largest of what it misses by, each as a
/// share of its limit.
[[nodiscard]] double distance(const ClusterSize& size, const TrainingGoal& goal);

/// What of the fastest run the goal wants least of: accelerators, US$ of the run, seconds or
/// joules.
[[nodiscard]] double minimised(const ClusterSize& size, TrainingGoal::Minimize minimize);

/// Judges the sizes that a scenario's cluster could have.
class ClusterSizes {
 public:
  /// `base` and `goal` have to outlive this. `delivered`: nodes that come together; whole scale-up
  /// domains if that is left out.
  ClusterSizes(const Scenario& base, const PlanOptions& options, const TrainingGoal& goal,
               std::optional<int> delivered = {});

  /// Sizes are multiples of so many nodes.
  [[nodiscard]] std::int64_t step() const { return step_; }

  /// Whether it is worth while to judge a size that peak and memory do not ask for, of which there
  /// may be very many: of those between one power of two and the next 512 are, evenly spaced; 64
  /// where the batch follows the size, so that nearly all can run.
  [[nodiscard]] bool is_worth_judging(std::int64_t nodes) const;

  /// By the closed form, in forked children.
  [[nodiscard]] std::vector<ClusterSize> estimates(const std::vector<std::int64_t>& nodes) const;

  /// Simulates the leaders of a size on which something can run.
  void simulate(ClusterSize& size) const;

  /// Nodes below which not even the peak of the accelerators is through by then, in whole steps.
  [[nodiscard]] std::int64_t least_nodes(Seconds deadline) const;
  /// Eight times what peak and memory ask for. On more of them the job would run at an eighth of
  /// the peak or less.
  [[nodiscard]] std::int64_t most_nodes(Seconds deadline) const;
  /// Of the scenario's cluster.
  [[nodiscard]] std::int64_t own_nodes() const { return base_.cluster->nodes; }
  /// Why the fabric cannot have so many nodes; empty if it can. The scenario's own it has, and who
  /// has no room for some has none for more.
  [[nodiscard]] std::string why_no_room(std::int64_t nodes) const;
  /// The most that the goal's power and budget allow, switches, rent and electricity left out;
  /// nothing if they bound nothing.
  [[nodiscard]] std::optional<std::int64_t> most_nodes_affordable() const;

 private:
  [[nodiscard]] std::string estimated(const ClusterSize& size, const LeaderOptions& options) const;
  [[nodiscard]] ClusterSize with_batch(std::int64_t nodes) const;
  [[nodiscard]] std::optional<LeaderOptions> options_of(const ClusterSize& size) const;
  [[nodiscard]] std::vector<Override> goal_overrides() const;
  [[nodiscard]] double tokens_of_sample() const;
  [[nodiscard]] double tokens_of_step(const ClusterSize& size) const;
  [[nodiscard]] ClusterRun run_of(const ClusterSize& size, Leader leader) const;

  const Scenario& base_;
  PlanOptions options_;
  const TrainingGoal& goal_;
  std::int64_t step_;
};

}  // namespace headway
