#include "sim/programs/store_traffic.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/base/index.h"
#include "sim/programs/flows/plan_builder.h"
#include "sim/programs/program_builder.h"

namespace headway {
namespace {

std::int32_t added(std::vector<FlowPlan>& plans, FlowPlan plan) {
  plans.push_back(std::move(plan));
  return static_cast<std::int32_t>(plans.size()) - 1;
}

/// The program of several iterations, before each of which a message comes to the next slot behind
/// the program's own. Asks for it first: what is read ahead of that is as much as may wait.
Program fed(const Program& program, int iterations, int read, std::int32_t reader,
            std::int32_t ask) {
  Program whole = program;
  whole.operations.clear();
  const auto length = std::ssize(program.operations) / iterations;
  for (int i = 0; i < iterations; ++i) {
    whole.operations.push_back(
        {.kind = OperationKind::send, .peer = reader, .path = ask, .slot = i});
    whole.operations.push_back({.kind = OperationKind::receive, .slot = program.message_slots + i});
    const auto first = program.operations.begin() + i * length;
    whole.operations.insert(whole.operations.end(), first, first + length);
  }
  whole.message_slots += read;
  return whole;
}

/// Reads for a group with samples in `slots` and those behind it.
Program reading(int count, std::int32_t reader_to_group, std::int32_t slots,
                const StoreReads& reads) {
  ProgramBuilder builder("reading");
  for (int i = 0; i < count; ++i) {
    if (i >= reads.ahead) builder.receive(i - reads.ahead);
    builder.send(reader_to_group, 0, slots + i, reads.amount, true);
  }
  Program program = std::move(builder).finished();
  program.message_slots = count;
  return program;
}

}  // namespace

FlowPlan store_plan(const Store& store, std::int32_t accelerator, StoreAccess access,
                    BytesPerSecond rate) {
  FlowPlan plan;
  if (store.hosts > 0) {
    const Cluster& cluster = store.cluster;
    const int of_node = cluster.node_type.accelerators;
    PlanBuilder builder(cluster, store.network, PlanDetail::fabric);
    builder.take_part({&accelerator, 1});
    Seconds latency;
    for (int node = cluster.nodes - store.hosts; node < cluster.nodes; ++node) {
      const std::int32_t there = node * of_node + accelerator % of_node;
      builder.take_part({&there, 1});
      const bool reads = access == StoreAccess::read;
      latency = max(latency, builder.add(reads ? there : accelerator, reads ? accelerator : there,
                                         1.0 / store.hosts));
    }
    plan = builder.finished(latency);
  }
  plan.port_rate = rate;
  plan.ports = {kStorePort};
  return plan;
}

StoreReads store_reads(const Workload& job, const Store& store, Bytes batch, BytesPerSecond rate,
                       int ahead) {
  StoreReads reads{.plans = std::vector<FlowPlan>(job.groups.size()), .amount = {}, .ahead = ahead};
  double readers = 0.0;
  for (std::size_t i = 0; i < job.groups.size(); ++i) {
    if (job.groups[i].stage != 0) continue;
    readers += 1.0;
    if (batch > Bytes(0.0)) {
      reads.plans[i] =
          store_plan(store, job.groups[i].accelerators.front(), StoreAccess::read, rate);
    }
  }
  reads.amount = 1.0 / readers * batch;
  return reads;
}

Workload store_writes(const Workload& job, const Store& store, Bytes bytes, BytesPerSecond rate,
                      BytesPerSecond most) {
  Workload writes;
  writes.nic_efficiency = job.nic_efficiency;
  for (const RankGroup& group : job.groups) {
    for (const std::int32_t accelerator : group.accelerators) {
      FlowPlan plan = store_plan(store, accelerator, StoreAccess::write, rate);
      writes.groups.push_back(
          {.accelerators = {accelerator}, .paths = {added(writes.plans, std::move(plan))}});
    }
  }
  const auto ranks = static_cast<std::int32_t>(writes.groups.size());
  for (FlowPlan& plan : writes.plans) plan.rate_cap = min(plan.rate_cap, 1.0 / ranks * most);
  for (std::int32_t i = 0; i < ranks; ++i) {
    writes.groups.push_back({.program = 1, .accelerators = at(writes.groups, i).accelerators});
  }
  ProgramBuilder writer("writing");
  writer.send(ranks, 0, 0, 1.0 / ranks * bytes, true);
  ProgramBuilder stored("storing");
  stored.receive(0);
  writes.programs = {std::move(writer).finished(), std::move(stored).finished()};
  return writes;
}

void add_readers(Workload& workload, std::int32_t first_group, std::int32_t end_group,
                 int iterations, const StoreReads& reads) {
  // The last iterations too have reads for later ones beside them.
  const int count = iterations + reads.ahead;
  // One for each group, with nothing to do for those of other stages: so all are equally far away.
  const auto away = static_cast<std::int32_t>(workload.groups.size()) - first_group;
  const std::int32_t ask = added(workload.plans, {});
  const auto idle = static_cast<std::int32_t>(workload.programs.size());
  workload.programs.push_back({.name = "no reading"});
  workload.programs.push_back({});
  std::set<std::int32_t> are_fed;
  for (std::int32_t i = first_group; i < end_group; ++i) {
    RankGroup reader{.program = idle, .replica = at(workload.groups, i).replica};
    RankGroup& group = at(workload.groups, i);
    reader.accelerators = {group.accelerators.front()};
    if (group.stage == 0) {
      Program& program = at(workload.programs, group.program);
      if (are_fed.insert(group.program).second) {
        const std::int32_t slots = program.message_slots;
        program =
            fed(program, iterations, count, away, static_cast<std::int32_t>(group.paths.size()));
        workload.programs.back() = reading(count, -away, slots, reads);
      }
      reader.program = idle + 1;
      reader.paths = {added(workload.plans, at(reads.plans, i - first_group))};
      group.paths.push_back(ask);
    }
    workload.groups.push_back(std::move(reader));
  }
}

}  // namespace headway
