#include "sim/programs/shared_queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/units.h"

namespace headway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Gradients of all else (0) with their gather (1), each with two ways, those of another copy (2),
/// and those of experts (3) with their gather (4).
class SharedQueues : public testing::Test {
 protected:
  SharedQueues() {
    for (const std::int32_t plan : {0, 2, 4, 5, 6}) {
      workload.communicators.push_back({.members = 8, .plan = plan});
    }
    workload.plans.assign(7, {.port_rate = 100_GBps});
    share_queue(workload, 0, 1);
    share_queue(workload, 3, 4);
  }

  Workload workload;
};

TEST_F(SharedQueues, OfOneProcessGroupIsOne) {
  std::vector<std::int32_t> queues;
  for (const Communicator& of : workload.communicators) queues.push_back(of.queue);
  EXPECT_THAT(queues, ElementsAre(0, 0, -1, 3, 3));
}

TEST_F(SharedQueues, AllWaysOfTwoProcessGroupsLeaveByTheSamePorts) {
  share_ports(workload, 0, 3);
  for (const std::size_t plan : {0, 1, 2, 3, 5, 6}) {
    EXPECT_THAT(workload.plans[plan].ports, ElementsAre(0)) << plan;
  }
  EXPECT_THAT(workload.plans[4].ports, IsEmpty());
}

TEST_F(SharedQueues, WhatStaysOutsideOfDomainsLeavesByNoPort) {
  workload.plans[1] = {};
  share_ports(workload, 0, 3);
  EXPECT_THAT(workload.plans[0].ports, ElementsAre(0));
  EXPECT_THAT(workload.plans[1].ports, IsEmpty());
}

TEST_F(SharedQueues, CopiesHavePortsOfTheirOwnThatExpertsShareWithEach) {
  share_ports(workload, 0, 3);
  share_ports(workload, 2, 3);
  EXPECT_THAT(workload.plans[0].ports, ElementsAre(0));
  EXPECT_THAT(workload.plans[4].ports, ElementsAre(2));
  EXPECT_THAT(workload.plans[5].ports, ElementsAre(0, 2));
  EXPECT_THAT(workload.plans[6].ports, ElementsAre(0, 2));
}

}  // namespace
}  // namespace headway
