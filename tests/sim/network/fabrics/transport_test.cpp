#include "sim/network/fabrics/transport.h"

#include <gtest/gtest.h>

#include "tests/sim/network/read_text.h"

namespace headway {
namespace {

std::string fabric(const std::string& transport) {
  return with_fabric("\"fabric\": {\n\"kind\": \"single_switch\"" + transport + "}");
}

FabricTransport transport_of(const std::string& words) {
  const auto cluster = cluster_of(fabric(words));
  return cluster ? cluster->node_type.transport : FabricTransport{};
}

TEST(TransportKind, WhatIsNotStatedCountsAsInfiniBand) {
  const FabricTransport unsaid = transport_of("");
  EXPECT_EQ(unsaid.kind, TransportKind::unstated);
  EXPECT_EQ(unsaid.costs.goodput, transport_costs(TransportKind::infiniband).goodput);
  EXPECT_EQ(transport_of(R"(, "transport": "efa-v1")").kind, TransportKind::efa_v1);
}

TEST(TransportKind, FramesAreTakenOff) {
  // 4096 bytes in RoCEv2's 82 more, 1460 in 1538 on Ethernet.
  EXPECT_NEAR(transport_costs(TransportKind::roce).goodput, 0.9804, 1e-4);
  EXPECT_NEAR(transport_costs(TransportKind::tcp).goodput, 0.9493, 1e-4);
}

TEST(TransportKind, ASiteKnowsBetter) {
  const TransportCosts costs = transport_of(R"(, "transport": "tcp", "transport_costs":
          {"goodput": 0.99, "message_latency": "9 us", "connection_bandwidth": "6 GB/s"})")
                                   .costs;
  EXPECT_EQ(costs.goodput, 0.99);
  EXPECT_EQ(costs.message_latency, 9_us);
  EXPECT_EQ(costs.bulk_latency, 54_us);  // as of any TCP
  EXPECT_EQ(costs.connection, 6_GBps);
  EXPECT_FALSE(costs.carries_lines);
}

TEST(TransportKind, GoesInTheClearUnlessItIsSaid) {
  EXPECT_EQ(transport_costs(TransportKind::tcp).encryption, std::nullopt);
  const TransportCosts costs = transport_of(R"(, "transport": "tcp", "transport_costs":
          {"encryption_bandwidth": "2 GB/s", "encryption_latency": "7 us"})")
                                   .costs;
  EXPECT_EQ(costs.encryption, 2_GBps);
  EXPECT_EQ(costs.encryption_latency, 7_us);
}

TEST(TransportKind, ANameThatIsNoneIsRefused) {
  EXPECT_EQ(problem_of(fabric(",\n\"transport\": \"tcpx\"")),
            "error: transport cannot be \"tcpx\"\n"
            "  --> t.json:6:14   /fabric/transport\n"
            "   |\n"
            " 6 | \"transport\": \"tcpx\"}}\n"
            "   |              ^^^^^^\n"
            "  help: did you mean \"tcp\"? It is one of \"infiniband\", \"roce\", \"tcp\", "
            "\"efa-v1\", \"efa\", \"slingshot\", \"other\"\n");
}

}  // namespace
}  // namespace headway
