#include "sim/programs/shared_queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/units.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"

namespace headway {
namespace {

using testing::ElementsAre;

/// Gradients of all else (0) with their gather (1), and those of experts (2) with theirs (3).
class SharedQueues : public testing::Test {
 protected:
  SharedQueues() {
    for (std::int32_t i = 0; i < 4; ++i) {
      workload.plans.push_back({.rate_cap = 100_GBps});
      workload.communicators.push_back({.members = i < 2 ? 8 : 4, .plan = i});
    }
    share_queue(workload, 0, 1);
    share_queue(workload, 2, 3);
  }

  [[nodiscard]] std::vector<std::int32_t> queues() const {
    std::vector<std::int32_t> found;
    for (const Communicator& of : workload.communicators) found.push_back(of.queue);
    return found;
  }

  std::shared_ptr<const Cluster> cluster = cluster_of(ClusterText{.nodes = 2}.text());
  Workload workload;
};

TEST_F(SharedQueues, OfOneProcessGroupIsOne) { EXPECT_THAT(queues(), ElementsAre(0, 0, 2, 2)); }

TEST_F(SharedQueues, PortsThatAreNoLinksServeOneAfterTheOther) {
  share_ports(workload, cluster->topology, 0, 2);
  EXPECT_THAT(queues(), ElementsAre(0, 0, 0, 0));
}

TEST_F(SharedQueues, LinksAreSharedAsTheyAre) {
  // A load of 1,000 on a link slows the flow far below what the accelerator may send.
  workload.plans[2].links = {{.link = 0, .weight = 1e3}};
  share_ports(workload, cluster->topology, 0, 2);
  EXPECT_THAT(queues(), ElementsAre(0, 0, 2, 2));
}

TEST_F(SharedQueues, CopiesHaveAcceleratorsOfTheirOwn) {
  workload.communicators[0].members = 2;
  share_ports(workload, cluster->topology, 0, 2);
  EXPECT_THAT(queues(), ElementsAre(0, 0, 2, 2));
}

}  // namespace
}  // namespace headway
