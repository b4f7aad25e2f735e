#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hand_workload.h"
#include "sim/base/diagnostic.h"
#include "sim/engine/timeline_bytes.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Two groups with programs of their own, joined by a path and a communicator of both.
Workload pair_of(std::vector<Operation> first, std::vector<Operation> second) {
  Workload workload;
  workload.plans.resize(1);
  workload.communicators = {{.name = "both", .members = 2, .plan = 0}};
  for (std::vector<Operation>* operations : {&first, &second}) {
    const auto id = static_cast<std::int32_t>(workload.programs.size());
    Program program{
        .name = "stage " + std::to_string(id), .message_slots = 1, .collective_slots = 1};
    program.blocks = {{"forward", time_of(Cause::compute, 1_s)}};
    program.operations = std::move(*operations);
    workload.programs.push_back(std::move(program));
    workload.groups.push_back(
        {.program = id, .stage = id, .accelerators = {id}, .paths = {0}, .communicators = {0}});
  }
  return workload;
}

constexpr Operation kCompute{.kind = OperationKind::compute, .block = 0};
constexpr Operation kReceive{.kind = OperationKind::receive, .slot = 0};
constexpr Operation kWait{.kind = OperationKind::wait, .slot = 0};
Operation send(std::int32_t peer) {
  return {.kind = OperationKind::send, .peer = peer, .path = 0, .slot = 0, .amount = 1_B};
}
Operation join(Bytes amount) {
  return {.kind = OperationKind::join, .path = 0, .slot = 0, .amount = amount};
}

void simulate(const Workload& workload, FlowEngine engine = FlowEngine::incremental) {
  static_cast<void>(simulate_workload(workload, star({0_s, 0_s}), {}, {.flows = engine}));
}

TEST(FailingRuns, ADeadlockIsReportedWithWhatItHangsOn) {
  // Each waits for the other's message before it sends its own.
  const Workload workload = pair_of({kCompute, kReceive, send(1)}, {kReceive, kCompute, send(-1)});
  for (const FlowEngine engine : {FlowEngine::incremental, FlowEngine::simgrid}) {
    EXPECT_THAT([&] { simulate(workload, engine); },
                ThrowsMessage<InternalError>(
                    HasSubstr("2 of 2 rank groups did not finish: group 0 (stage 0) at operation 1 "
                              "of 3 (receive), group 1 (stage 1) at operation 0 of 3 (receive)")));
  }
}

TEST(FailingRuns, ACollectiveThatSomebodyNeverJoinsIsADeadlock) {
  EXPECT_THAT(
      [] {
        simulate(pair_of({join(1_B), kWait}, {kCompute}));
      },
      ThrowsMessage<InternalError>(
          HasSubstr("1 of 2 rank groups did not finish: group 0 (stage 0) at operation 1 "
                    "of 2 (wait)")));
}

TEST(FailingRuns, ProgramsThatContradictThemselvesAreReported) {
  EXPECT_THAT([] { simulate(pair_of({kWait}, {})); },
              ThrowsMessage<InternalError>(HasSubstr(
                  "group 0 (stage 0) waits for collective slot 0, which it never joined")));
  EXPECT_THAT(
      [] {
        simulate(pair_of({kCompute, send(1), send(1)}, {kReceive}));
      },
      ThrowsMessage<InternalError>(
          HasSubstr("group 0 (stage 0) sends a second message to slot 0 of group 1")));
  EXPECT_THAT(
      [] {
        simulate(pair_of({kCompute, join(1_B)}, {join(2_B)}));
      },
      ThrowsMessage<InternalError>(HasSubstr("joins both, number 0, with 1 bytes, others with 2")));
}

TEST(FailingRuns, ALinkWithoutCapacityIsReported) {
  Topology topology = star({0_s, 0_s});
  topology.link(0).capacity = BytesPerSecond(0.0);
  const Workload workload = workload_of({{across(topology, 0, 1), 1_GB}});
  EXPECT_THAT(
      [&] { static_cast<void>(simulate_workload(workload, topology, {})); },
      ThrowsMessage<InternalError>(HasSubstr("a route leads over a link without capacity")));
}

TEST(FailingRuns, LinksWithoutACommonPartAreNotForSimGrid) {
  // 1 and 1/sqrt(2): no amount goes into both a whole number of times.
  const Topology topology = star({0_s, 0_s});
  FlowPlan plan = across(topology, 0, 1);
  plan.links.back().weight = std::sqrt(0.5);
  const Workload workload = workload_of({{plan, 1_GB}});
  EXPECT_NEAR(simulate_workload(workload, topology, {}).finish, 0.02, 1e-9);
  try {
    static_cast<void>(simulate_workload(workload, topology, {}, {.flows = FlowEngine::simgrid}));
    FAIL() << "simulated";
  } catch (const InputError& error) {
    const Diagnostic& problem = error.diagnostics().front();
    EXPECT_EQ(problem.message,
              "SimGrid's flows load links a whole number of times, and those of this job or "
              "collective have no small common part");
    EXPECT_EQ(
        problem.help,
        "leave run.flows (of `headway collective`, --flows) out: the incremental solver takes "
        "any");
  }
}

TEST(FailingRuns, OneFailureLeavesTheProcessUsable) {
  const Topology topology = star({1_us, 1_us});
  EXPECT_THROW(simulate(pair_of({kReceive}, {})), InternalError);
  EXPECT_DOUBLE_EQ(
      arrivals({{across(topology, 0, 1), 50_GB}}, topology, FlowEngine::incremental)[0], 1.000002);
}

TEST(FailingRuns, ManyMessagesMayBeUnderWayAtOnce) {
  // 100 messages of 1 GB sent at once through one NIC of 50 GB/s arrive together after 2 s.
  for (const FlowEngine engine : {FlowEngine::incremental, FlowEngine::simgrid}) {
    const Topology topology = star({0_s, 0_s});
    std::vector<Operation> sends;
    std::vector<Operation> receives;
    for (std::int32_t slot = 0; slot < 100; ++slot) {
      sends.push_back(
          {.kind = OperationKind::send, .peer = 1, .path = 0, .slot = slot, .amount = 1_GB});
      receives.push_back({.kind = OperationKind::receive, .slot = slot});
    }
    Workload workload = pair_of(std::move(sends), std::move(receives));
    workload.programs[1].message_slots = 100;
    workload.plans[0] = across(topology, 0, 1);
    EXPECT_NEAR(simulate_workload(workload, topology, {}, {.flows = engine}).finish, 2.0, 2e-9);
  }
}

TEST(TimelineBytes, ReadBackAsTheyWere) {
  Timeline timeline{.finish = 3.5,
                    .first_operation = {0, 2},
                    .operation_end = {1.0, 3.5},
                    .first_message = {0, 1},
                    .messages = {{.sent = 0.5, .arrived = 1.0}},
                    .collectives = {{}, {{.first_join = 1.0, .end = 2.0, .amount = 7.0}}},
                    .plan_bytes = {7.0},
                    .counts = {.events = 11, .flows = 1, .changed = 7}};
  const std::string bytes = run_bytes({timeline, std::nullopt});
  const Timeline read = run_of_bytes(bytes).timeline;
  EXPECT_EQ(run_bytes({read, std::nullopt}), bytes);
  EXPECT_EQ(read.finish, 3.5);
  EXPECT_EQ(read.operation_end, timeline.operation_end);
  ASSERT_EQ(read.collectives.size(), 2U);
  EXPECT_EQ(read.collectives[1][0].amount, 7.0);
  EXPECT_EQ(read.counts.events, 11);
  EXPECT_EQ(read.counts.changed, 7);
}

TEST(TimelineBytes, CutShortAreRefused) {
  const Timeline timeline{.operation_end = {1.0, 2.0}, .collectives = {{}, {}}};
  const std::string bytes = run_bytes({timeline, std::nullopt});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(static_cast<void>(run_of_bytes(bytes.substr(0, size))), InternalError) << size;
  }
}

}  // namespace
}  // namespace headway
