#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "sim/scenario/recovery/spot_record.h"

namespace headway {

/// The spot nodes that there are, as a job goes through their record, from some moment of it and
/// round and round. Times are the job's, in seconds.
class SpotSupply {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `start` is where in the record the job begins: 0 <= start < its length.
  SpotSupply(const SpotNodes& spot, double start);

  /// There now, at most as many as the job takes.
  [[nodiscard]] int nodes() const { return nodes_; }
  /// When there are more, or fewer, the next time; infinite if never.
  [[nodiscard]] double next_rise() const { return next(true); }
  [[nodiscard]] double next_fall() const { return next(false); }
  /// When anything changes.
  [[nodiscard]] double next_change() const { return changes_.empty() ? kNever : time_of(place_); }
  /// Goes past the next change, and returns by how many nodes.
  int advance();

  /// Node-seconds from the start until then.
  [[nodiscard]] double node_seconds(double until) const;

 private:
  struct Change {
    double time = 0.0;  ///< of the record
    int by = 0;
  };
  [[nodiscard]] double next(bool rise) const;
  /// When a change happens; changes are counted in their order, over all rounds.
  [[nodiscard]] double time_of(std::size_t place) const;

  double start_;
  double length_;
  int first_ = 0;  ///< nodes at the start
  int nodes_ = 0;
  std::vector<Change> changes_;  ///< of one round
  std::size_t place_ = 0;
};

}  // namespace headway
