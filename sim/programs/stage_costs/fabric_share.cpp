#include "sim/programs/stage_costs/fabric_share.h"

#include <map>
#include <vector>

namespace headway {
namespace {

/// With the plans of all stages at once.
double share(const std::vector<FlowPlan>& plans, const Cluster& cluster) {
  std::map<LinkId, Bytes> loads;
  for (const FlowPlan& plan : plans) {
    for (const LinkLoad& load : plan.links) loads[load.link] += Bytes(load.weight);
  }
  Seconds at_nics;
  Seconds at_links;
  for (const auto& [id, bytes] : loads) {
    const Link& link = cluster.topology.link(id);
    at_links = max(at_links, bytes / link.capacity);
    const bool is_of_nic =
        !cluster.topology.is_switch(link.from) || !cluster.topology.is_switch(link.to);
    if (is_of_nic) at_nics = max(at_nics, bytes / cluster.node_type.nic_bandwidth);
  }
  return at_links > at_nics ? at_nics / at_links : 1.0;
}

}  // namespace

FabricShares fabric_shares(const ExchangePlans& plans, const Cluster& cluster) {
  return {.tensor = share(plans.tensor, cluster),
          .context = share(plans.context, cluster),
          .experts = share(plans.experts, cluster)};
}

}  // namespace headway
