// Scenarios whose nodes hold several kinds of accelerators.
#include <gtest/gtest.h>

#include "sim/scenario/resolved_scenario.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// Two nodes of H100 and, from node 2 on, two of A100.
nlohmann::json mixed_scenario() {
  nlohmann::json scenario = headway::mixed_scenario("a100-sxm-40gb", "a100_sxm_40gb");
  std::swap(scenario["profile"][0], scenario["profile"][1]);  // their order says nothing
  return scenario;
}

/// Pointers and messages of what is wrong.
std::string problems_of_kinds(const nlohmann::json& scenario) {
  std::string text;
  try {
    (void)scenario_of(scenario);
  } catch (const InputError& error) {
    for (const Diagnostic& problem : error.diagnostics()) {
      text += problem.pointer + ": " + problem.message + " (" + problem.label + ")\n";
    }
  }
  return text;
}

TEST(KindsInScenarios, EveryNodeTakesTheProfileOfItsAccelerator) {
  const Scenario scenario = scenario_of(mixed_scenario());
  EXPECT_EQ(scenario.profile->name, "h100_sxm");
  ASSERT_EQ(scenario.other_profiles.size(), 1U);
  EXPECT_EQ(scenario.other_profiles.front()->name, "a100_sxm_40gb");
  EXPECT_EQ(&scenario.profiles().of(1), scenario.other_profiles.front().get());
}

TEST(KindsInScenarios, AListMayNameMoreThanTheNodesHave) {
  nlohmann::json scenario = small_scenario(4);
  scenario["profile"] = {"a100_sxm_40gb", "h100_sxm"};
  const Scenario read = scenario_of(scenario);
  EXPECT_EQ(read.profile->name, "h100_sxm");
  EXPECT_TRUE(read.other_profiles.empty());
}

TEST(KindsInScenarios, ReadBackAsTheyWere) {
  const Scenario scenario = scenario_of(mixed_scenario());
  Diagnostics diagnostics;
  const Scenario again = read_resolved_scenario(*scenario.resolved, "again", diagnostics);
  EXPECT_EQ(again.cluster->kind_of_node, scenario.cluster->kind_of_node);
  EXPECT_EQ(*again.resolved, *scenario.resolved);
}

TEST(KindsInScenarios, NodesWithoutAProfileAreRefused) {
  nlohmann::json scenario = mixed_scenario();
  scenario["profile"] = "h100_sxm";
  EXPECT_EQ(problems_of_kinds(scenario),
            "/profile: no profile is of a100-sxm-40gb, which 2 nodes, the first of them node 2, "
            "have (of h100-sxm)\n");
  scenario["cluster"]["topology"]["other_nodes"][0]["count"] = 1;
  EXPECT_EQ(problems_of_kinds(scenario),
            "/profile: no profile is of a100-sxm-40gb, which node 2 has (of h100-sxm)\n");
}

/// What is warned of where the H100's numbers were measured on an `accelerator`; the scenario that
/// comes of it is `read`.
std::string warnings_of(nlohmann::json scenario, const std::string& accelerator,
                        std::optional<Scenario>& read) {
  scenario["profile"] = "h100_sxm";
  ScenarioOptions options;
  options.overrides = {{"/profile/kind", R"("measured")"},
                       {"/profile/accelerator", '"' + accelerator + '"'}};
  const ScratchFolder scratch;
  Diagnostics diagnostics;
  read = read_scenario(scratch.write("scenario.json", scenario.dump(2)), options, diagnostics);
  std::string text;
  for (const Diagnostic& problem : diagnostics.all()) {
    text += problem.pointer + ": " + problem.message + "\n";
  }
  return text;
}

TEST(KindsInScenarios, AProfileMeasuredOnAnotherAcceleratorIsUsedWithAWarning) {
  std::optional<Scenario> read;
  EXPECT_EQ(warnings_of(small_scenario(4), "h100-sxm", read), "");
  EXPECT_EQ(warnings_of(small_scenario(4), "v100-sxm", read),
            "/accelerator: the profile was measured on v100-sxm, and the nodes have h100-sxm\n");
  EXPECT_EQ(
      warnings_of(mixed_scenario(), "v100-sxm", read),
      "/accelerator: the profile was measured on v100-sxm, and the nodes have h100-sxm\n"
      "/accelerator: the profile was measured on v100-sxm, and the nodes have a100-sxm-40gb\n");
  EXPECT_EQ(read->other_profiles.front()->accelerator, "v100-sxm");
}

TEST(KindsInScenarios, BesideOneMeasuredProfileOtherNodesTakeWhatShipsOfTheirs) {
  std::optional<Scenario> read;
  EXPECT_EQ(
      warnings_of(mixed_scenario(), "h100-sxm", read),
      "/profile: the profile was measured on h100-sxm, and nodes with a100-sxm-40gb take what "
      "ships: a100_sxm_40gb\n");
  EXPECT_EQ(read->profile->kind, "measured");
  EXPECT_EQ(read->other_profiles.front()->name, "a100_sxm_40gb");
  EXPECT_EQ(read->resolved->at("profile").size(), 2U);
}

TEST(KindsInScenarios, AListNamesAProfile) {
  nlohmann::json scenario = mixed_scenario();
  scenario["profile"] = nlohmann::json::array();
  EXPECT_EQ(problems_of_kinds(scenario), "/profile: a list of profiles names at least one ()\n");
}

TEST(KindsInScenarios, AListHasOneProfileOfEachAccelerator) {
  nlohmann::json scenario = mixed_scenario();
  scenario["profile"].push_back("h100_sxm");
  EXPECT_EQ(problems_of_kinds(scenario), "/profile/2: a second profile of h100-sxm ()\n");
  scenario["profile"][2] = "v100_sxm";
  Diagnostics diagnostics;
  (void)read_resolved_scenario(scenario, "mixed", diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all().front().message, "no node has v100-sxm");
  EXPECT_EQ(diagnostics.all().front().severity, Severity::warning);
}

TEST(KindsInScenarios, EachProfileHasToKnowWhatTheJobNeeds) {
  nlohmann::json scenario = mixed_scenario();
  scenario["strategy"]["precision"] = "fp8";
  EXPECT_EQ(problems_of_kinds(scenario),
            "/strategy/precision: profile a100_sxm_40gb has no peak of a100-sxm-40gb in fp8 (it "
            "has fp32, "
            "tf32, fp16, bf16)\n");
}

TEST(KindsInScenarios, NcclIsNotKnownOverEveryTransport) {
  nlohmann::json scenario = mixed_scenario();
  scenario["strategy"]["collective_library"] = "nccl";
  scenario["cluster"]["topology"]["fabric"]["transport"] = "other";
  EXPECT_EQ(problems_of_kinds(scenario),
            "/strategy/collective_library: nothing is known of NCCL over the transport of this "
            "fabric ()\n");
}

TEST(KindsInScenarios, ParameterServersAreOfOneKind) {
  nlohmann::json scenario = mixed_scenario();
  scenario["strategy"] = {{"global_batch", 32},
                          {"synchronisation", {{"scheme", "parameter_server"}, {"servers", 2}}}};
  EXPECT_EQ(problems_of_kinds(scenario),
            "/strategy/synchronisation: parameter servers are modelled on nodes of one kind only "
            "(the nodes have h100-sxm and a100-sxm-40gb)\n");
}

TEST(KindsInScenarios, AnAnchorTellsOfTheAcceleratorsItWasMeasuredOn) {
  nlohmann::json scenario = mixed_scenario();
  scenario["anchor"] = {{"measured_iteration_time", "1 s"}, {"scenario", small_scenario(4)}};
  EXPECT_EQ(problems_of_kinds(scenario),
            "/anchor/scenario: an anchor tells of the accelerators it was measured on only "
            "(measured on h100-sxm, to be applied to h100-sxm and a100-sxm-40gb)\n");
}

}  // namespace
}  // namespace headway
