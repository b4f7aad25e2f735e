#pragma once

#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// Two stages that pass one micro-batch to each other and reduce together. Nominal: forward 1 s
/// (0.6 s compute, 0.4 s tensor-parallel), backward 2 s, optimizer 0.5 s.
inline Workload hand_workload() {
  Workload workload;
  const auto compute = [](std::int32_t block) {
    return Operation{.kind = OperationKind::compute, .block = block};
  };
  const auto send = [](std::int32_t peer, std::int32_t slot) {
    return Operation{
        .kind = OperationKind::send, .peer = peer, .path = 0, .slot = slot, .amount = 1_GB};
  };
  const auto receive = [](std::int32_t slot) {
    return Operation{.kind = OperationKind::receive, .slot = slot};
  };
  const Operation join{.kind = OperationKind::join, .path = 0, .slot = 0, .amount = 2_GB};
  const Operation wait{.kind = OperationKind::wait, .slot = 0};
  workload.programs.resize(2);
  workload.programs[0].operations = {compute(0), send(1, 0), receive(1), compute(1),
                                     join,       wait,       compute(2)};
  workload.programs[1].operations = {receive(0), compute(0), compute(1), send(-1, 1),
                                     join,       wait,       compute(2)};
  for (std::int32_t stage = 0; stage < 2; ++stage) {
    Program& program = workload.programs[static_cast<std::size_t>(stage)];
    program.blocks = {{"forward", {}}, {"backward", {}}, {"optimizer", {}}};
    program.blocks[0].time[Cause::compute] = 600_ms;
    program.blocks[0].time[Cause::tensor_parallel] = 400_ms;
    program.blocks[1].time[Cause::compute] = 2_s;
    program.blocks[2].time[Cause::optimizer] = 500_ms;
    program.message_slots = 2;
    program.collective_slots = 1;
    workload.groups.push_back(
        {.program = stage, .stage = stage, .replica = 7, .paths = {0}, .communicators = {0}});
  }
  workload.communicators = {{.name = "gradient reduce", .members = 2, .plan = 1}};
  workload.plans.resize(2);
  return workload;
}

/// Stage 1 takes half as long again for its passes, and less than nominal for the optimizer.
/// Transfers take 0.5 s and 1 s, the reduction 1 s after its last member.
inline Timeline hand_timeline() {
  return {.finish = 10.5,
          .first_operation = {0, 7, 14},
          .operation_end = {1, 1, 7, 9, 9, 10, 10.5,  //
                            1.5, 3, 6, 6, 6, 10, 10.4},
          .first_message = {0, 2, 4},
          .messages = {{}, {.sent = 6, .arrived = 7}, {.sent = 1, .arrived = 1.5}, {}},
          .collectives = {{{.first_join = 6,
                            .last_join = 9,
                            .end = 10,
                            .last_group = 0,
                            .last_operation = 4,
                            .amount = 2e9}}},
          .plan_bytes = {2e9, 2e9}};
}

}  // namespace headway
