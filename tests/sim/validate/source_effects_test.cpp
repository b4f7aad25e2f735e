#include "sim/validate/source_effects.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/validate/changed_profile.h"
#include "sim/validate/free_constants.h"
#include "sim/validate/left_out_source.h"

namespace headway {
namespace {

Scenario scenario_of(const std::string& profile, const std::string& family) {
  Scenario scenario;
  scenario.profile = changed_profile(profile, nlohmann::json::object());
  scenario.strategy = std::make_shared<const Strategy>(Strategy{.kernel_family = family});
  return scenario;
}

TEST(SourceEffects, AreFactorsOnWhatTheFamilyOfTheRowHas) {
  const Scenario before = scenario_of("a100_sxm_80gb", "deepspeed");
  const Scenario after = with_source_effects(
      before, {.kernel_time = 1.25, .memory_traffic = 2.0, .gradient_traffic = 4.0});
  const KernelFamily& was = before.profile->kernel_families.at("deepspeed");
  const KernelFamily& is = after.profile->kernel_families.at("deepspeed");
  EXPECT_EQ(is.memory_traffic.value, 2.0 * was.memory_traffic.value);
  EXPECT_EQ(is.gradient_traffic.value, 4.0 * was.gradient_traffic.value);
  EXPECT_EQ(is.releases.at(after.strategy->software_release).value, 1.25);
  EXPECT_EQ(after.profile->kernel_families.at("fused").memory_traffic.value,
            before.profile->kernel_families.at("fused").memory_traffic.value);
  EXPECT_TRUE(was.releases.empty());  // the profile itself is everybody's
}

TEST(SourceEffects, ReleasesAndMixturesOfASourceMultiplyWhatItIs) {
  const std::map<std::string, SourceEffects> known = {{"lab", {.kernel_time = 1.5}},
                                                      {"lab, 2.0", {.kernel_time = 0.5}},
                                                      {"lab, mixtures", {.kernel_time = 3.0}},
                                                      {"tuned, dense", {.kernel_time = 0.25}},
                                                      {"lab, 2.0, mixtures", {.kernel_time = 7.0}}};
  EXPECT_EQ(effects_of_source(known, "lab", "1.0", false).kernel_time, 1.5);
  EXPECT_EQ(effects_of_source(known, "lab", "2.0", false).kernel_time, 0.75);
  EXPECT_EQ(effects_of_source(known, "lab", "", true).kernel_time, 4.5);
  EXPECT_EQ(effects_of_source(known, "lab", "2.0", true).kernel_time, 15.75);
  EXPECT_EQ(effects_of_source(known, "tuned", "", false).kernel_time, 0.25);
  EXPECT_EQ(effects_of_source(known, "tuned", "", true).kernel_time, 1.0);
  EXPECT_EQ(effects_of_source(known, "nobody", "2.0", true).kernel_time, 1.0);
}

TEST(SourceEffects, ConstantsThatHaveNotSeenASourceAreOthers) {
  const Scenario known = scenario_of("a100_sxm_80gb", "aleph-alpha");
  const Scenario unseen = without_source(known, "alephalpha_layouts", false);
  EXPECT_NE(unseen.profile->device.memory_efficiency.value,
            known.profile->device.memory_efficiency.value);
  EXPECT_EQ(without_source(known, "nobody", false).profile, known.profile);
}

TEST(SourceEffects, ASourceThatIsLeftOutIsStillOfItsKind) {
  // A table of tuned benchmarks: how much faster such dense models are, the others tell.
  const Scenario known = scenario_of("h100_sxm", "fused");
  const Scenario dense = without_source(known, "dgxc_benchmarking", false);
  const Scenario mixture = without_source(known, "dgxc_benchmarking", true);
  const auto factor = [](const Scenario& scenario) {
    return scenario.profile->kernel_families.at("fused")
        .releases.at(scenario.strategy->software_release)
        .value;
  };
  EXPECT_LT(factor(dense), 1.0);
  EXPECT_EQ(factor(mixture), 1.0);
}

TEST(FreeConstants, AreAtMostAHundredAndNoneRestsOnOneRow) {
  const std::vector<FreeConstant> constants = free_constants();
  EXPECT_LE(constants.size(), 100U);
  EXPECT_GT(constants.size(), 50U);
  for (const FreeConstant& constant : constants) {
    EXPECT_GT(constant.rows, 1) << constant.constant << " of " << constant.of;
    EXPECT_GE(constant.rows, constant.configurations) << constant.constant;
    EXPECT_GE(constant.configurations, constant.sources) << constant.constant;
    EXPECT_LE(constant.spread, constant.width * 1.01) << constant.constant;
  }
}

}  // namespace
}  // namespace headway
