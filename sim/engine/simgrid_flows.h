#pragma once

#include <cstdint>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/engine/fabric_zone.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/link_usage.h"

namespace headway {

/// Flows as SimGrid Comms: each is started when it is ready, with a route that lists every link as
/// often as the flow loads it, and so progresses with its slowest link under SimGrid's own max-min
/// sharing. The reference for IncrementalFlows; an order of magnitude slower on coupled flows.
class SimGridFlows : public FlowNetwork {
 public:
  /// Builds hosts and links in the current engine.
  SimGridFlows(LinkUsage usage, int slots, Finished finished);

  void start(std::int32_t plan, Bytes amount, BytesPerSecond rate_cap, std::int32_t token,
             double now) override;
  void tell_under_way(const UnderWay& tell, double now) const override;
  void settle(double /*now*/) override {}

 private:
  void on_completion(const simgrid::s4u::Activity& activity);

  LinkUsage usage_;
  Finished finished_;
  FabricZone* zone_;
  std::vector<std::vector<int>> routes_;  ///< by plan: each link as often as its weight says
  struct Slot {
    std::int32_t token = -1;
    std::int32_t plan = -1;
    const simgrid::s4u::Comm* comm = nullptr;  ///< while it is under way
  };
  std::vector<Slot> slots_;
  std::vector<int> free_slots_;
  std::vector<simgrid::s4u::Activity*> spent_;  ///< released once the clock has moved on
};

}  // namespace headway
