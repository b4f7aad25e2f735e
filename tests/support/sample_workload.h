#pragma once

#include <initializer_list>

#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// Two stages, two replicas, two micro-batches: groups 0 and 1 are the stages of replica 0, groups
/// 2 and 3 those of replica 1, which runs a second behind from the start. Forward takes 1 s,
/// backward 2 s, a transfer 1.5 s, a reduction 1 s, the optimizer 0.5 s. The two activations of a
/// replica are under way at once, so that stage 0 needs two tracks to send.
struct SampleRun {
  Workload workload;
  Timeline timeline;
};

namespace sample {

enum Slot : std::int32_t { kActivation0, kActivation1, kGradient0, kGradient1, kSlots };

inline Operation compute(std::int32_t block, std::int32_t micro_batch) {
  return {.kind = OperationKind::compute, .block = block, .micro_batch = micro_batch};
}
inline Operation send(std::int32_t peer, std::int32_t slot, std::int32_t micro_batch) {
  return {.kind = OperationKind::send,
          .peer = peer,
          .path = 0,
          .slot = slot,
          .amount = Bytes(3e6),
          .micro_batch = micro_batch};
}
inline Operation receive(std::int32_t slot, std::int32_t micro_batch) {
  return {.kind = OperationKind::receive, .slot = slot, .micro_batch = micro_batch};
}

inline Program program(std::string name, std::vector<Operation> passes) {
  Program made{.name = std::move(name), .message_slots = kSlots, .collective_slots = 1};
  for (const auto& [block, seconds] : {std::pair{"forward", 1.0}, {"backward", 2.0}}) {
    made.blocks.push_back({block, {}});
    made.blocks.back().time[Cause::compute] = Seconds(seconds);
  }
  made.blocks.push_back({"optimizer", {}});
  made.blocks.back().time[Cause::optimizer] = 0.5_s;
  made.operations = std::move(passes);
  made.operations.push_back(
      {.kind = OperationKind::join, .path = 0, .slot = 0, .amount = Bytes(1e9)});
  made.operations.push_back({.kind = OperationKind::wait, .slot = 0});
  made.operations.push_back(compute(2, -1));
  return made;
}

inline Workload workload() {
  Workload made;
  made.programs.push_back(program(
      "stage 0", {compute(0, 0), send(1, kActivation0, 0), compute(0, 1), send(1, kActivation1, 1),
                  receive(kGradient0, 0), compute(1, 0), receive(kGradient1, 1), compute(1, 1)}));
  made.programs.push_back(
      program("stage 1",
              {receive(kActivation0, 0), compute(0, 0), compute(1, 0), send(-1, kGradient0, 0),
               receive(kActivation1, 1), compute(0, 1), compute(1, 1), send(-1, kGradient1, 1)}));
  for (const std::int32_t replica : {0, 1}) {
    for (const std::int32_t stage : {0, 1}) {
      made.groups.push_back({.program = stage,
                             .stage = stage,
                             .replica = replica,
                             .paths = {0},
                             .communicators = {stage, -1}});
    }
  }
  for (const char* name : {"gradient reduce, stage 0", "gradient reduce, stage 1"}) {
    made.communicators.push_back(
        {.name = name, .kind = CollectiveKind::reduce_scatter, .members = 2, .plan = 0});
  }
  made.plans.resize(1);
  return made;
}

inline Timeline timeline() {
  Timeline made{.finish = 14.5, .first_operation = {0}, .first_message = {0}};
  const auto add = [&](std::initializer_list<double> ends,
                       std::initializer_list<Timeline::Message> messages) {
    made.operation_end.insert(made.operation_end.end(), ends);
    made.messages.insert(made.messages.end(), messages);
    made.first_operation.push_back(std::ssize(made.operation_end));
    made.first_message.push_back(std::ssize(made.messages));
  };
  constexpr Timeline::Message kNone{};
  add({1, 1, 2, 2, 7, 9, 10, 12, 12, 14, 14.5}, {kNone, kNone, {5.5, 7}, {8.5, 10}});
  add({2.5, 3.5, 5.5, 5.5, 5.5, 6.5, 8.5, 8.5, 8.5, 10.5, 11}, {{1, 2.5}, {2, 3.5}, kNone, kNone});
  add({2, 2, 3, 3, 8, 10, 11, 13, 13, 14, 14.5}, {kNone, kNone, {6.5, 8}, {9.5, 11}});
  add({3.5, 4.5, 6.5, 6.5, 6.5, 7.5, 9.5, 9.5, 9.5, 10.5, 11}, {{2, 3.5}, {3, 4.5}, kNone, kNone});
  made.collectives = {{{.first_join = 12,
                        .last_join = 13,
                        .end = 14,
                        .last_group = 2,
                        .last_operation = 8,
                        .amount = 1e9}},
                      {{.first_join = 8.5,
                        .last_join = 9.5,
                        .end = 10.5,
                        .last_group = 3,
                        .last_operation = 8,
                        .amount = 1e9}}};
  return made;
}

}  // namespace sample

inline SampleRun sample_run() { return {sample::workload(), sample::timeline()}; }

}  // namespace headway
