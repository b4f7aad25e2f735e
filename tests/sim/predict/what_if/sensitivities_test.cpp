#include "sim/predict/what_if/sensitivities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/jobs/strategy.h"
#include "sim/predict/job_run.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

Scenario small_in_all_fields() { return scenario_of(small_scenario(2)); }

Scenario changed(const std::string& name) {
  const auto found = std::ranges::find(sensitivity_cases(), name, &SensitivityCase::name);
  return found->changed(small_in_all_fields());
}

TEST(Sensitivities, FasterProductsTakeElevenTenthsLessTime) {
  // A product's time is work / (peak x efficiency x ...) + overhead: with 1.1 times the peak the
  // layer's compute falls, attention (its rate a share of the peak, divided by as much) does not.
  const Scenario now = small_in_all_fields();
  const Scenario better = changed("gemm_rate");
  const double peak = now.profile->device.peak_flops.at(Precision::bf16).value;
  EXPECT_DOUBLE_EQ(better.profile->device.peak_flops.at(Precision::bf16).value, 1.1 * peak);
  EXPECT_DOUBLE_EQ(better.profile->device.attention_efficiency.value * 1.1,
                   now.profile->device.attention_efficiency.value);
  const Seconds before = built_job(now, *now.strategy).cost.layer().forward[Cause::compute];
  const Seconds after = built_job(better, *better.strategy).cost.layer().forward[Cause::compute];
  EXPECT_LT(after, before);
  EXPECT_GT(after, before / 1.1);
}

TEST(Sensitivities, CablesBetweenSwitchesTwiceAsFastLeaveThoseOfNicsAlone) {
  const auto found =
      std::ranges::find(sensitivity_cases(), "fabric_bandwidth", &SensitivityCase::name);
  nlohmann::json text = small_scenario(2);
  text["cluster"]["topology"]["fabric"] = {{"kind", "single_switch"}};
  EXPECT_FALSE(found->goes_with(scenario_of(text)));  // it has none
  text["cluster"]["topology"]["fabric"] = {{"kind", "clos"},
                                           {"attach", "rack"},
                                           {"nodes_per_unit", 1},
                                           {"leaf", {{"uplinks", 1}}},
                                           {"spine", {{"switches", 1}}}};
  const Scenario now = scenario_of(text);
  ASSERT_TRUE(found->goes_with(now));
  const Scenario better = found->changed(now);
  const Topology& before = now.cluster->topology;
  const Topology& after = better.cluster->topology;
  for (LinkId id = 0; id < before.link_count(); ++id) {
    const Link& link = before.link(id);
    const bool is_inside = before.is_switch(link.from) && before.is_switch(link.to);
    EXPECT_EQ(after.link(id).capacity, (is_inside ? 2.0 : 1.0) * link.capacity);
  }
}

TEST(Sensitivities, OnlyHashedFlowsCouldBeSprayed) {
  const auto sprayed =
      std::ranges::find(sensitivity_cases(), "sprayed_packets", &SensitivityCase::name);
  EXPECT_FALSE(sprayed->goes_with(small_in_all_fields()));
  nlohmann::json text = small_scenario(2);
  text["cluster"]["topology"]["routing"] = {{"kind", "ecmp"}};
  const Scenario hashed = scenario_of(text);
  EXPECT_TRUE(sprayed->goes_with(hashed));
  EXPECT_EQ(hashed.cluster->routing->efficiency(), 1.0);
  EXPECT_EQ(sprayed->changed(hashed).cluster->routing->efficiency(), 0.95);  // adaptive routing's
}

TEST(Sensitivities, NicsTwiceAsFastCarryTwiceAsMuchAndTheScaleUpFabricWhatItDid) {
  const Scenario now = small_in_all_fields();
  const Scenario better = changed("nic_bandwidth");
  EXPECT_EQ(better.cluster->node_type.nic_bandwidth, 2.0 * now.cluster->node_type.nic_bandwidth);
  EXPECT_EQ(better.cluster->topology.link(0).capacity,
            2.0 * now.cluster->topology.link(0).capacity);
  EXPECT_EQ(better.cluster->node_type.scale_up_bandwidth,
            now.cluster->node_type.scale_up_bandwidth);
}

TEST(Sensitivities, HalfTheLatencyHalvesWhatAnEmptyMessageWaits) {
  // wire + NIC + step: every part of it is halved, the launch is not.
  const Scenario now = small_in_all_fields();
  const Scenario better = changed("latency");
  EXPECT_EQ(better.cluster->topology.latency(0), 0.5 * now.cluster->topology.latency(0));
  EXPECT_EQ(better.cluster->node_type.nic_latency, 0.5 * now.cluster->node_type.nic_latency);
  EXPECT_EQ(better.profile->scale_out.latency.value, 0.5 * now.profile->scale_out.latency.value);
  EXPECT_EQ(better.profile->scale_out.overhead.value, now.profile->scale_out.overhead.value);
}

TEST(Sensitivities, TwiceTheMicroBatchesAreTwiceTheSamples) {
  EXPECT_EQ(changed("micro_batches").strategy->micro_batches(),
            2 * small_in_all_fields().strategy->micro_batches());
}

TEST(Sensitivities, FasterMemoryIsFasterOnCurvesToo) {
  const double now = small_in_all_fields().profile->device.memory_bandwidth.value;
  EXPECT_DOUBLE_EQ(changed("memory_bandwidth").profile->device.memory_bandwidth.value, 1.1 * now);
}

}  // namespace
}  // namespace headway
