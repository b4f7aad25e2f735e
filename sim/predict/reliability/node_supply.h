#pragma once

#include <limits>
#include <optional>
#include <set>

#include "sim/predict/reliability/spot_supply.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {

/// The nodes of a job: which are missing, which stand by, and when others come. Times in seconds.
///
/// There are never more than the job and its spares had at the start: a new one takes the place of
/// the broken one that would be back last, which is given away.
class NodeSupply {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// Spot nodes that are not there at the start of their record are missing.
  NodeSupply(const ReliabilitySettings& settings, double record_start);

  [[nodiscard]] int missing() const { return missing_; }

  /// Nodes break; each is back after `repair`.
  void lose(int nodes, double repair, double now);
  /// A node leaves the job that is as good as before, and starts anew.
  void step_out();
  /// When spot nodes are taken back the next time.
  [[nodiscard]] double next_withdrawal() const { return spot_ ? spot_->next_fall() : kNever; }
  /// They are. Returns how many of them worked for the job: those go first that stood by because
  /// there were too few of them for something.
  int withdraw(double now);

  /// Nodes that have come stand by, those that stand by are given to the job, where they start for
  /// `start` seconds, and new ones are ordered for the rest.
  void settle(double now, double start);
  /// When a node comes or has started the next time; infinite while none is missing.
  [[nodiscard]] double next_arrival(double now) const;
  /// Given to the job, and started.
  [[nodiscard]] int ready(double now) const;
  /// Those work for it from now on.
  void join_ready(double now);
  /// All that are given to it, started or not: it starts as a whole.
  void join_all();

  /// Node-seconds of the spot nodes that were there.
  [[nodiscard]] double spot_node_seconds(double until) const {
    return spot_ ? spot_->node_seconds(until) : 0.0;
  }

 private:
  void collect(double now);

  const ReliabilitySettings& settings_;
  std::optional<SpotSupply> spot_;
  int spares_;
  int missing_ = 0;
  std::multiset<double> repairs_;   ///< when they end
  std::multiset<double> orders_;    ///< when new nodes come
  std::multiset<double> starting_;  ///< given to the job: from when on they are ready
};

}  // namespace headway
