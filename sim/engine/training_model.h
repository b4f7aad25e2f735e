#pragma once

#include <simgrid/kernel/resource/Model.hpp>

#include "sim/engine/executor.h"

namespace headway {

/// Who else moves SimGrid's clock while a workload runs.
enum class OthersInEngine {
  comms,  ///< its network model: every event has its step
  nobody  ///< many events are done in one step, which nobody could tell
};

/// Executors as a model of SimGrid's kernel: SimGrid asks it when something happens next and moves
/// the clock. Events of an executor need no activity, actor or host of SimGrid, whose cost grows
/// with the number of live ones. An engine can be made once a process, and runs one workload after
/// another: each begins where its clock stands.
class TrainingModel : public simgrid::kernel::resource::Model {
 public:
  TrainingModel();

  /// What the engine runs from now on. `executor` outlives that.
  void take(Executor& executor, OthersInEngine others, double clock);

  double next_occurring_event(double now) override;
  void update_actions_state(double now, double delta) override;

 private:
  Executor* executor_ = nullptr;
  OthersInEngine others_ = OthersInEngine::nobody;
  double began_ = 0.0;  ///< on SimGrid's clock
};

}  // namespace headway
