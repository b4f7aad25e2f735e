#include "sim/programs/joint_workload.h"

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// The program `times` in a row, each time with message and collective slots of its own.
Program repeated(const Program& program, int times, std::int32_t message_slots) {
  std::int32_t micro_batches = 0;
  for (const Operation& operation : program.operations) {
    micro_batches = std::max(micro_batches, operation.micro_batch + 1);
  }
  Program whole = program;
  whole.operations.reserve(program.operations.size() * static_cast<std::size_t>(times));
  for (int time = 1; time < times; ++time) {
    for (Operation operation : program.operations) {
      if (operation.slot >= 0) {
        const bool is_message =
            operation.kind == OperationKind::send || operation.kind == OperationKind::receive;
        operation.slot += time * (is_message ? message_slots : program.collective_slots);
      }
      // Other micro-batches, with draws of their own.
      if (operation.micro_batch >= 0) operation.micro_batch += time * micro_batches;
      whole.operations.push_back(operation);
    }
  }
  whole.message_slots = times * message_slots;
  whole.collective_slots = times * program.collective_slots;
  return whole;
}

void shift(std::vector<std::int32_t>& indices, std::size_t by) {
  for (std::int32_t& index : indices) {
    if (index >= 0) index += static_cast<std::int32_t>(by);
  }
}

void append(Workload& all, const JointPart& part) {
  const Workload& job = *part.workload;
  const std::size_t first_program = all.programs.size();
  const std::size_t first_plan = all.plans.size();
  const std::size_t first_communicator = all.communicators.size();
  // A sender names slots of the receiver's program: the stride is one for the whole job.
  std::int32_t message_slots = 0;
  for (const Program& program : job.programs) {
    message_slots = std::max(message_slots, program.message_slots);
  }
  for (const Program& program : job.programs) {
    all.programs.push_back(repeated(program, part.iterations, message_slots));
  }
  for (RankGroup group : job.groups) {
    group.program += static_cast<std::int32_t>(first_program);
    shift(group.paths, first_plan);
    shift(group.communicators, first_communicator);
    all.groups.push_back(std::move(group));
  }
  for (Communicator communicator : job.communicators) {
    communicator.plan += static_cast<std::int32_t>(first_plan);
    if (communicator.queue >= 0) {
      communicator.queue += static_cast<std::int32_t>(first_communicator);
    }
    all.communicators.push_back(std::move(communicator));
  }
  for (FlowPlan plan : job.plans) {
    shift(plan.ports, first_communicator);
    all.plans.push_back(std::move(plan));
  }
}

}  // namespace

JointWorkload joint_workload(std::span<const JointPart> parts) {
  HEADWAY_CHECK(!parts.empty(), "a joint workload has a job");
  JointWorkload joint;
  joint.workload.nic_efficiency = parts.front().workload->nic_efficiency;
  joint.first_group.push_back(0);
  for (const JointPart& part : parts) {
    HEADWAY_CHECK(part.workload->nic_efficiency == joint.workload.nic_efficiency,
                  "jobs on one fabric have the same NICs");
    append(joint.workload, part);
    joint.first_group.push_back(static_cast<std::int32_t>(joint.workload.groups.size()));
    joint.iterations.push_back(part.iterations);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].reads == nullptr) continue;
    add_readers(joint.workload, joint.first_group[i], joint.first_group[i + 1], parts[i].iterations,
                *parts[i].reads);
  }
  // Ports are named after communicators: the store's stands behind them.
  const auto store = static_cast<std::int32_t>(joint.workload.communicators.size());
  for (FlowPlan& plan : joint.workload.plans) {
    std::ranges::replace(plan.ports, kStorePort, store);
  }
  return joint;
}

std::vector<double> iteration_ends(const JointWorkload& joint, std::size_t job,
                                   std::span<const std::int64_t> first_operation,
                                   std::span<const double> operation_end) {
  std::vector<double> ends(static_cast<std::size_t>(joint.iterations[job]), 0.0);
  const auto count = static_cast<std::int64_t>(ends.size());
  for (std::int32_t group = joint.first_group[job]; group < joint.first_group[job + 1]; ++group) {
    const auto i = static_cast<std::size_t>(group);
    const std::int64_t operations = (first_operation[i + 1] - first_operation[i]) / count;
    for (std::int64_t iteration = 0; iteration < count; ++iteration) {
      const std::int64_t last = first_operation[i] + (iteration + 1) * operations - 1;
      double& end = ends[static_cast<std::size_t>(iteration)];
      end = std::max(end, operation_end[static_cast<std::size_t>(last)]);
    }
  }
  return ends;
}

}  // namespace headway
