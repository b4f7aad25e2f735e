#include "sim/programs/shared_queues.h"

#include <cmath>

#include "sim/base/index.h"

namespace headway {

void share_queue(Workload& workload, std::int32_t reduce, std::int32_t gather) {
  at(workload.communicators, reduce).queue = reduce;
  at(workload.communicators, gather).queue = reduce;
}

void share_ports(Workload& workload, std::int32_t others, std::int32_t experts) {
  const auto communicators = static_cast<std::int32_t>(workload.communicators.size());
  for (std::int32_t id = 0; id < communicators; ++id) {
    const Communicator& of = at(workload.communicators, id);
    const std::int32_t queue = of.queue >= 0 ? of.queue : id;
    if (queue != others && queue != experts) continue;
    // Its ways follow each other, those of the next communicator follow them.
    const std::int32_t end = id + 1 < communicators
                                 ? at(workload.communicators, id + 1).plan
                                 : static_cast<std::int32_t>(workload.plans.size());
    for (std::int32_t plan = of.plan; plan < end; ++plan) {
      FlowPlan& way = at(workload.plans, plan);
      if (std::isfinite(way.port_rate.count())) way.ports.push_back(others);
    }
  }
}

}  // namespace headway
