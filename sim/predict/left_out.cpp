#include "sim/predict/left_out.h"

#include "sim/network/cluster.h"

namespace headway {
namespace {

/// What goes on beside steps and is not told of.
std::string absent_parts(const Scenario& scenario) {
  if (scenario.input) {
    if (!scenario.reliability) return "checkpoints and failures";
    if (scenario.input->storage_nodes == 0) return "input that contends with the job's own traffic";
    return scenario.input->holds_checkpoints ? "a checkpoint read back from storage that is busy"
                                             : "checkpoints that contend with steps";
  }
  return scenario.reliability ? "reading training data"
                              : "reading training data, checkpoints and failures";
}

}  // namespace

std::vector<std::string> left_out_of(const Scenario& scenario) {
  std::vector<std::string> limits = {
      "congestion control and packet effects: links are shared max-min fairly at any instant",
      "compute slowed down by communication kernels that run at the same time",
      absent_parts(scenario), "the first iterations, before clocks and memory allocators settle"};
  const Cluster& cluster = *scenario.cluster;
  if (hashes_by_default(cluster.node_type.transport.kind) && has_several_ways(cluster.topology) &&
      cluster.routing->is_by_rule()) {
    limits.insert(limits.begin(),
                  "collisions of hashed flows: routes are taken to be spread evenly, and switches "
                  "of Ethernet hash (the topology's /routing/kind=ecmp tells what that costs)");
  }
  if (cluster.routing->hashes_flows()) {
    limits.insert(limits.begin(),
                  "other collisions of hashed flows: which ones meet is one draw (routing.seed); "
                  "`--what-if` tells the worst of eight");
  }
  return limits;
}

}  // namespace headway
