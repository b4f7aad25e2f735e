#include "sim/network/cluster.h"

#include <gtest/gtest.h>

#include "read_text.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

TEST(Cluster, AnAcceleratorSendsByTheNicNextToIt) {
  // 2 nodes of 8 accelerators and 4 NICs: accelerator i of a node uses NIC floor(i / 2).
  const auto cluster = cluster_of(R"({"schema": "headway/topology/1", "name": "t", "nodes": 2,
      "node": {"accelerator": "any", "accelerators": 8, "scale_up": {"bandwidth": "1 GB/s"},
               "nics": {"count": 4, "bandwidth": "100 Gb/s"}},
      "fabric": {"kind": "single_switch"}})");
  EXPECT_EQ(cluster->accelerators(), 16);
  const auto endpoint = [&](int accelerator) {
    return std::string(cluster->topology.name(cluster->endpoint_of(accelerator)));
  };
  EXPECT_EQ(endpoint(0), "node0/nic0");
  EXPECT_EQ(endpoint(1), "node0/nic0");
  EXPECT_EQ(endpoint(7), "node0/nic3");
  EXPECT_EQ(endpoint(10), "node1/nic1");
  EXPECT_THROW(static_cast<void>(cluster->endpoint_of(16)), InternalError);
  EXPECT_THROW(static_cast<void>(cluster->endpoint_of(-1)), InternalError);
}

TEST(Cluster, TheSiteMaySayWhichNicIsNearest) {
  const auto cluster = cluster_of(R"({"schema": "headway/topology/1", "name": "t", "nodes": 2,
      "node": {"accelerator": "any", "accelerators": 2, "scale_up": {"bandwidth": "1 GB/s"},
               "nics": {"count": 2, "bandwidth": "100 Gb/s", "nearest": [1, 0]}},
      "fabric": {"kind": "single_switch"}})");
  EXPECT_EQ(cluster->topology.name(cluster->endpoint_of(0)), "node0/nic1");
  EXPECT_EQ(cluster->topology.name(cluster->endpoint_of(3)), "node1/nic0");
}

TEST(Cluster, AScaleUpDomainIsANodeUnlessTheFileSaysOtherwise) {
  const auto text = [](const std::string& domain) {
    return R"({"schema": "headway/topology/1", "name": "t", "nodes": 4,
        "node": {"accelerator": "any", "accelerators": 4,
                 "scale_up": {"bandwidth": "900 GB/s")" +
           domain + R"(},
                 "nics": {"count": 4, "bandwidth": "400 Gb/s"}},
        "fabric": {"kind": "single_switch"}})";
  };
  const auto nodes = cluster_of(text(""));
  EXPECT_EQ(nodes->scale_up_domain, 4);
  EXPECT_EQ(nodes->node_of(7), 1);
  EXPECT_EQ(nodes->domain_of(7), 1);
  const auto racks = cluster_of(text(R"(, "domain": 8)"));
  EXPECT_EQ(racks->domain_of(7), 0);
  EXPECT_EQ(racks->domain_of(8), 1);
}

}  // namespace
}  // namespace headway
