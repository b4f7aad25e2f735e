#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tests/sim/engine/single_iteration.h"

namespace headway {

/// Work of one cause.
inline TimeByCause time_of(Cause cause, Seconds time) {
  TimeByCause of;
  of[cause] = time;
  return of;
}

/// A flow that starts at `start` and that nobody waits for but its own rank group.
struct HandFlow {
  FlowPlan plan;
  Bytes amount;
  Seconds start = Seconds(0.0);
};

/// A rank group for each flow, which computes until the flow starts and then waits for its end.
inline Workload workload_of(const std::vector<HandFlow>& flows) {
  Workload workload;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    Program program{.name = "flow " + std::to_string(i), .collective_slots = 1};
    program.blocks = {{"before", time_of(Cause::compute, flows[i].start)}};
    program.operations = {
        {.kind = OperationKind::compute, .block = 0},
        {.kind = OperationKind::join, .path = 0, .slot = 0, .amount = flows[i].amount},
        {.kind = OperationKind::wait, .slot = 0}};
    workload.programs.push_back(std::move(program));
    workload.plans.push_back(flows[i].plan);
    workload.communicators.push_back({.name = "flow", .members = 1, .plan = id});
    workload.groups.push_back(
        {.program = id, .replica = id, .accelerators = {id}, .communicators = {id}});
  }
  return workload;
}

/// When each flow has arrived.
inline std::vector<double> arrivals(const std::vector<HandFlow>& flows, const Topology& topology,
                                    FlowEngine engine) {
  const Workload workload = workload_of(flows);
  const Timeline timeline = simulate_workload(workload, topology, {}, {.flows = engine});
  std::vector<double> times;
  for (std::int32_t group = 0; group < std::ssize(flows); ++group) {
    times.push_back(timeline.ends_of(group).back());
  }
  return times;
}

/// Endpoints around one switch. Endpoint i sends by link 2 i and receives by link 2 i + 1.
inline Topology star(const std::vector<Seconds>& cable_latencies,
                     BytesPerSecond bandwidth = BytesPerSecond(50e9)) {
  Topology topology;
  for (std::size_t i = 0; i < cable_latencies.size(); ++i) {
    topology.add_endpoint("host" + std::to_string(i));
  }
  const VertexId center = topology.add_switch("switch", 0);
  for (std::size_t i = 0; i < cable_latencies.size(); ++i) {
    topology.add_cable(static_cast<VertexId>(i), center, bandwidth, cable_latencies[i]);
  }
  return topology;
}

/// From one endpoint of a star to another.
inline FlowPlan across(const Topology& topology, int from, int to) {
  const LinkId up = 2 * from;
  const LinkId down = 2 * to + 1;
  return {.links = {{up, 1.0}, {down, 1.0}},
          .latency = topology.latency(up) + topology.latency(down)};
}

}  // namespace headway
