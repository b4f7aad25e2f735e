#include "sim/programs/shared_queues.h"

#include "sim/base/signed_index.h"
#include "sim/programs/flows/flow_plans.h"

namespace headway {

void share_queue(Workload& workload, std::int32_t reduce, std::int32_t gather) {
  at(workload.communicators, reduce).queue = reduce;
  at(workload.communicators, gather).queue = reduce;
}

void share_ports(Workload& workload, const Topology& topology, std::int32_t others,
                 std::int32_t experts) {
  const Communicator& first = at(workload.communicators, others);
  const Communicator& second = at(workload.communicators, experts);
  if (first.members < second.members) return;
  for (const Communicator* of : {&first, &second}) {
    if (is_held_by_links(at(workload.plans, of->plan), topology)) return;
  }
  for (Communicator& of : workload.communicators) {
    if (of.queue == experts) of.queue = others;
  }
  share_queue(workload, others, experts);
}

}  // namespace headway
