#pragma once

#include "sim/scenario/reliability_settings.h"

namespace headway {

/// What a stretch of undisturbed training brings.
struct Stretch {
  double trained = 0.0;        ///< time of iterations
  double checkpointing = 0.0;  ///< time of standing still
  double safe = 0.0;           ///< of the trained time, in checkpoints that survive everything
  double safe_locally = 0.0;   ///< in those on the nodes too
  double since_part = 0.0;     ///< since the last of either, or the start
};

/// Checkpoints in turn: every `local` interval one on the nodes, and at the end of each cycle one
/// that survives everything. Without a local tier a cycle is a single interval. Seconds.
class CheckpointCycle {
 public:
  CheckpointCycle(const CheckpointSettings& settings, Seconds interval);

  /// `time` from the last restart on.
  [[nodiscard]] Stretch after(double time) const;
  /// Time from the last restart on in which `trained` seconds are trained, no checkpoint after the
  /// last.
  [[nodiscard]] double time_for(double trained) const;

 private:
  double cost_;
  double persisting_;
  double parts_ = 1.0;
  double part_ = 0.0;
  double part_cost_ = 0.0;
  double length_ = 0.0;
};

}  // namespace headway
