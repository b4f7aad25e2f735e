#include "sim/programs/flows/nccl_costs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// Eight accelerators of 300 GB/s, NICs of 200 Gb/s behind PCIe that carries 24 GB/s.
NodeType node(bool reduces = false, HostProcessor processor = HostProcessor::amd) {
  NodeType type;
  type.accelerator = "a100-sxm-80gb";
  type.accelerators = 8;
  type.scale_up_bandwidth = 300_GBps;
  type.scale_up_reduces = reduces;
  type.processor = processor;
  type.nics = 8;
  type.nic_bandwidth = 25_GBps;
  type.nic_bus_bandwidth = 24_GBps;
  return type;
}

constexpr NcclPlace kTwoNodes{.domains = 2, .largest_domain = 8};

const NcclChoice& choice_of(const std::vector<NcclChoice>& choices, CollectiveAlgorithm algorithm,
                            NcclProtocol protocol) {
  const auto found = std::ranges::find_if(choices, [&](const NcclChoice& choice) {
    return choice.algorithm == algorithm && choice.protocol == protocol;
  });
  HEADWAY_CHECK(found != choices.end(), "no such choice");
  return *found;
}

TEST(NcclCosts, AnAllReduceRunsAsRingAndTreeAndWhereSwitchesReduceInThem) {
  EXPECT_EQ(nccl_choices(node(), CollectiveKind::all_reduce, kTwoNodes).size(), 6U);
  EXPECT_EQ(nccl_choices(node(true), CollectiveKind::all_reduce, kTwoNodes).size(), 7U);
  EXPECT_EQ(nccl_choices(node(true), CollectiveKind::all_gather, kTwoNodes).size(), 3U);
  EXPECT_EQ(nccl_choices(node(true), CollectiveKind::all_to_all, kTwoNodes).size(), 1U);
}

TEST(NcclCosts, ANicSendsNoMoreThanItsBusAndItsPacketsCarry) {
  const auto choices = nccl_choices(node(), CollectiveKind::all_reduce, kTwoNodes);
  const auto efficiency = [&](CollectiveAlgorithm algorithm, NcclProtocol protocol) {
    return choice_of(choices, algorithm, protocol).costs.scale_out_efficiency;
  };
  // 24 of 25 GB/s, 98 % of it data; half of that with LL, 92 % in a tree.
  EXPECT_DOUBLE_EQ(efficiency(CollectiveAlgorithm::ring, NcclProtocol::simple), 0.98 * 24 / 25);
  EXPECT_DOUBLE_EQ(efficiency(CollectiveAlgorithm::ring, NcclProtocol::ll), 0.98 * 0.5 * 24 / 25);
  EXPECT_DOUBLE_EQ(efficiency(CollectiveAlgorithm::tree, NcclProtocol::simple),
                   0.98 * 24 / 25 * 0.92);
}

TEST(NcclCosts, StepsOfARingTakeAsLongAsMessagesOfTheHost) {
  // On AMD 2 us for each with LL, 3 times that with Simple, whose all-reduce takes 1.4 times that.
  const auto amd = nccl_choices(node(), CollectiveKind::all_reduce, kTwoNodes);
  const auto step = [](const std::vector<NcclChoice>& choices, NcclProtocol protocol) {
    return choice_of(choices, CollectiveAlgorithm::ring, protocol).costs.scale_up_latency.count();
  };
  EXPECT_DOUBLE_EQ(step(amd, NcclProtocol::ll), 2e-6);
  EXPECT_DOUBLE_EQ(step(amd, NcclProtocol::simple), 1.4 * 6e-6);
  const auto gather = nccl_choices(node(), CollectiveKind::all_gather, kTwoNodes);
  EXPECT_DOUBLE_EQ(step(gather, NcclProtocol::simple), 6e-6);
  const auto intel =
      nccl_choices(node(false, HostProcessor::intel), CollectiveKind::all_reduce, kTwoNodes);
  EXPECT_DOUBLE_EQ(step(intel, NcclProtocol::ll), 1e-6);
  // Inside one node there are no messages: 0.79 us, as fitted.
  const auto inside = nccl_choices(node(), CollectiveKind::all_reduce, {.largest_domain = 8});
  EXPECT_DOUBLE_EQ(step(inside, NcclProtocol::ll), 0.79e-6);
}

TEST(NcclCosts, LowLatencyIsBoundByTheHostOverSeveralNodes) {
  // 22.5 GB/s on AMD at two nodes; alone 40 % of a ring's 63 % of 300 GB/s.
  const auto two = nccl_choices(node(), CollectiveKind::all_gather, kTwoNodes);
  EXPECT_DOUBLE_EQ(
      choice_of(two, CollectiveAlgorithm::ring, NcclProtocol::ll).costs.scale_up_efficiency,
      22.5 / 300.0);
  const auto one = nccl_choices(node(), CollectiveKind::all_gather, {.largest_domain = 8});
  EXPECT_DOUBLE_EQ(
      choice_of(one, CollectiveAlgorithm::ring, NcclProtocol::ll).costs.scale_up_efficiency,
      0.4 * 189.5 / 300.0);
}

TEST(NcclCosts, OnlyTreesAreStretched) {
  const auto choices = nccl_choices(node(), CollectiveKind::all_reduce, kTwoNodes);
  EXPECT_EQ(choice_of(choices, CollectiveAlgorithm::ring, NcclProtocol::ll).stretch(64_KiB), 1.0);
  EXPECT_DOUBLE_EQ(choice_of(choices, CollectiveAlgorithm::tree, NcclProtocol::ll).stretch(64_KiB),
                   1.0 / 0.6);
}

}  // namespace
}  // namespace headway
