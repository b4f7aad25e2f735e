#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/plan/cluster_plan.h"
#include "sim/plan/cluster_size.h"

namespace headway {

/// Looks for the number of nodes that meets a goal, in the steps of `judge`. Neither time nor money
/// is monotone in it: some sizes divide the batch worse than smaller ones. So sizes are gone
/// through upwards, all of them; the closed form of each costs little, and leaves out of the
/// simulation what cannot be the answer: sizes that would be too late, too dear or draw too much
/// with the least factor from closed form to result that any simulated size has shown, less 3 %. In
/// time only sizes no larger say so: failures take more of a run the more there is to fail.
/// What is drawn, and paid for nodes and switches, only grows: there the search ends. As long as
/// nothing is in time it goes on to what the fabric has room for, or to eight times the nodes of
/// the fastest so far if that is less, above a thousand steps in round numbers.
class ClusterSearch {
 public:
  /// Both have to outlive this.
  ClusterSearch(const ClusterSizes& judge, const TrainingGoal& goal);

  /// The answer, if there is one: the smallest that meets the goal, or the one that takes least of
  /// what is to be minimised.
  void find();

  /// Simulates larger ones than the answer, up to four times it, for the front of time,
  /// accelerators, price and memory.
  void simulate_larger();

  /// Where nothing meets the goal: the size that misses it by least, of those that were simulated.
  /// Where nothing is in time either, later deadlines are tried first, in steps of a quarter, until
  /// something is.
  [[nodiscard]] std::optional<NearestChange> nearest();

  [[nodiscard]] bool has_answer() const { return answer_.has_value(); }

  void hand_over(ClusterPlan& plan) &&;

 private:
  void find_smallest_in_time();
  void check_smaller();
  void find_least();
  void find_soonest();
  [[nodiscard]] bool is_known(std::int64_t nodes) const { return sizes_.contains(nodes); }
  ClusterSize& size_at(std::int64_t nodes);
  void simulate(ClusterSize& size);
  [[nodiscard]] std::int64_t most_nodes() const;
  [[nodiscard]] std::int64_t reach() const;
  std::int64_t within_room(std::int64_t nodes);
  bool has_room(std::int64_t nodes);
  [[nodiscard]] double least_delay(std::int64_t nodes) const;
  [[nodiscard]] bool could_meet(const ClusterSize& size) const;
  [[nodiscard]] bool could_be_less(const ClusterSize& size, double than) const;
  [[nodiscard]] bool is_affordable(const ClusterSize& size) const;
  [[nodiscard]] const ClusterSize* fastest_below(std::int64_t nodes) const;
  void mark_front();

  const ClusterSizes& judge_;
  const TrainingGoal& goal_;
  Seconds deadline_;                           ///< the goal's, or a later one
  std::map<std::int64_t, ClusterSize> sizes_;  ///< by nodes
  std::optional<std::int64_t> smallest_;       ///< in time
  std::optional<std::int64_t> answer_;
  std::optional<std::int64_t> fastest_;    ///< by the closed form
  std::int64_t roomy_ = 0;                 ///< the most nodes that the fabric is known to have
  bool has_found_room_ = false;            ///< it has no more than those
  std::map<std::int64_t, double> delays_;  ///< of runs over their closed form, by nodes
  std::optional<double> least_value_;      ///< of a node for a second of the closed form
};

}  // namespace headway
