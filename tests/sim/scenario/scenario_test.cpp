#include "sim/scenario/scenario.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/jobs/strategy.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

/// All problems of a scenario, one "pointer: message" a line.
std::string problems_of(const nlohmann::json& scenario, const ScenarioOptions& options = {}) {
  const ScratchFolder scratch;
  Diagnostics diagnostics;
  std::string text;
  try {
    (void)read_scenario(scratch.write("scenario.json", scenario.dump(2)), options, diagnostics);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      text += diagnostic.pointer + ": " + diagnostic.message + "\n";
    }
  }
  return text;
}

/// All that reading a scenario tells, in a text.
std::string told_by(const std::string& path, const ScenarioOptions& options) {
  Diagnostics diagnostics;
  std::string text;
  const auto tell = [&](const std::vector<Diagnostic>& problems) {
    for (const Diagnostic& problem : problems) text += rendered(problem);
  };
  try {
    const Scenario scenario = read_scenario(path, options, diagnostics);
    text = scenario.resolved->dump() + scenario.files->dump() + scenario.given->dump();
    tell(diagnostics.all());
  } catch (const InputError& error) {
    tell(error.diagnostics());
  }
  return text;
}

TEST(Scenario, EveryPartThatIsMissingIsShownByAnExample) {
  const ScratchFolder scratch;
  Diagnostics diagnostics;
  std::vector<std::string> helps;
  try {
    const std::string path = scratch.write("s.json", R"({"schema": "headway/scenario/1"})");
    (void)read_scenario(path, {}, diagnostics);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) helps.push_back(diagnostic.help);
  }
  EXPECT_EQ(helps, (std::vector<std::string>{
                       R"(for example "model": "llama3_8b")",
                       R"(for example "cluster": {"topology": "dgx_h100_superpod", "nodes": 8})",
                       R"(for example "profile": "h100_sxm")",
                       R"(for example "strategy": {"preset": "megatron", "global_batch": 512})"}));
}

TEST(Scenario, AMemoryOfOthersChangesNothingButTheTime) {
  const ScratchFolder scratch;
  nlohmann::json scenario = small_scenario(4);
  scenario["model"] = "model.json";
  scenario["cluster"] = {{"topology", "dgx_h100_superpod"}, {"nodes", 4}};
  scratch.write("model.json", small_scenario(4).at("model").dump(2));
  const std::string path = scratch.write("scenario.json", scenario.dump(2));
  const auto memory = std::make_shared<ReadMemory>();
  const std::vector<std::vector<Override>> questions{
      {},
      {{"/strategy/micro_batch", "2"}},
      {{"/strategy/micro_batch", "2"}, {"/model/layers", "6"}},
      {{"/strategy/micro_batch", "2"}, {"/cluster/nodes", "2"}},
      {{"/strategy/tensor_parallel", "3"}},
      {{"/cluster/nodes", "2"}},
      {{"/cluster/nodes", "100000"}},  // more than the fabric has room for
      {{"/model/layers", "6"}},        // in a file that is named
      {{"/model/layers", "\"six\""}},
      {{"/model", "llama3_8b"}},
      {{"/model", "\xff"}},       // no UTF-8
      {{"/model", "llama3_8c"}},  // did you mean
      {{"/model", "llama3_8b"}, {"/model/layers", "16"}},
      {{"/profile", "a100_sxm_80gb"}},  // of another accelerator
      {{"/profile", "[\"h100_sxm\", \"a100_sxm_80gb\"]"}},
      {{"/profile/device/launch", "1"}},  // no such field
      {{"/profile/name/x", "1"}},         // leads into a text
      {{"/cluster/topology/fabric/leaf/uplinks", "16"}},
      {{"/cluster/topology/nodes", "8"}, {"/cluster/nodes", "8"}}};
  for (int round = 0; round < 2; ++round) {
    for (const std::vector<Override>& overrides : questions) {
      EXPECT_EQ(told_by(path, {.overrides = overrides, .memory = memory}),
                told_by(path, {.overrides = overrides}))
          << round << " " << overrides.size();
    }
  }
}

TEST(Scenario, ASoundOneHasNoProblems) { EXPECT_EQ(problems_of(small_scenario(4)), ""); }

TEST(Scenario, AllProblemsOfAllPartsAreReportedAtOnce) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strateggy"] = 1;
  scenario["cluster"]["nodes"] = 0;
  scenario["strategy"] = {{"micro_batch", 1}, {"global_batch", 8}};
  scenario["run"] = {{"replicas", -1}, {"flows", "packets"}};
  scenario["perturbations"]["device_spread"] = "much";
  EXPECT_EQ(problems_of(scenario),
            "/cluster/nodes: nodes must be between 1 and 1000000\n"
            "/perturbations/device_spread: \"device_spread\" must be a number\n"
            "/run/replicas: replicas must be between 1 and 10000\n"
            "/run/flows: flows cannot be \"packets\"\n"
            "/strateggy: unknown field \"strateggy\"\n");
}

TEST(Scenario, WhatSpotNodesCostIsNotBlamedForARecordThatIsWrong) {
  nlohmann::json scenario = small_scenario(4);
  scenario["reliability"] = {{"duration", "1 d"},
                             {"detection", "1 min"},
                             {"restart", "1 min"},
                             {"availability", {{"soon", 4}}},
                             {"checkpoint", {{"storage_bandwidth", "1 GB/s"}}}};
  scenario["cost"] = {{"usd_per_gpu_hour", 2.0}, {"spot_usd_per_gpu_hour", 1.0}};
  const std::string found = problems_of(scenario);
  EXPECT_THAT(found, testing::HasSubstr("/reliability/availability"));
  EXPECT_THAT(found, testing::Not(testing::HasSubstr("/cost")));
}

TEST(Scenario, AProfileOfAnotherAcceleratorIsRefused) {
  nlohmann::json scenario = small_scenario(4);
  scenario["profile"] = "a100_sxm_80gb";
  EXPECT_EQ(problems_of(scenario),
            "/accelerator: the profile is of another accelerator than the cluster has\n");
}

TEST(Scenario, AKernelFamilyThatTheProfileDoesNotKnowIsRefused) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"]["kernel_family"] = "handwritten";
  EXPECT_EQ(problems_of(scenario),
            "/strategy/kernel_family: profile h100_sxm has no kernel family \"handwritten\"\n");
}

TEST(Scenario, AnAttentionKernelThatTheProfileDoesNotKnowIsRefused) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"]["attention_kernel"] = "flash-9";
  EXPECT_EQ(problems_of(scenario),
            "/strategy/attention_kernel: profile h100_sxm has no attention kernel \"flash-9\"\n");
  for (const char* known : {"flash-2", "fastest"}) {
    scenario["strategy"]["attention_kernel"] = known;
    EXPECT_EQ(problems_of(scenario), "") << known;
  }
}

TEST(Scenario, AReleaseThatTheKernelFamilyDoesNotKnowIsOneLikeAnyOther) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"]["software_release"] = "handwritten-1.0";
  const ScratchFolder scratch;
  Diagnostics diagnostics;
  (void)read_scenario(scratch.write("scenario.json", scenario.dump(2)), {}, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all().front().severity, Severity::warning);
  EXPECT_EQ(diagnostics.all().front().message,
            "kernel family \"fused\" of profile h100_sxm has no release \"handwritten-1.0\": it "
            "counts as one like any other");
}

TEST(Scenario, AHostThatTheProfileDoesNotKnowTakesNothingOver) {
  nlohmann::json scenario = small_scenario(4);
  scenario["profile"] = "b300_sxm";
  scenario["cluster"]["topology"]["node"]["accelerator"] = "b300-sxm";
  scenario["strategy"]["optimizer_offload"] = 1;
  EXPECT_EQ(problems_of(scenario),
            "/strategy/optimizer_offload: profile b300_sxm does not know how fast the link to the "
            "host is\n"
            "/strategy/optimizer_offload: profile b300_sxm does not know how fast the host's "
            "memory is\n");
}

TEST(Scenario, ARecipeThatTheProfileDoesNotKnowIsRefused) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"]["precision"] = "mxfp8";
  EXPECT_EQ(problems_of(scenario),
            "/strategy/precision: profile h100_sxm does not know what quantising to mxfp8 costs\n");
  scenario["strategy"]["precision"] = "fp8_current";
  EXPECT_EQ(problems_of(scenario), "");
}

TEST(Scenario, RankOrderNamesEveryDimensionOnce) {
  nlohmann::json scenario = small_scenario(4);
  scenario["cluster"]["rank_order"] = {"tensor", "pipeline", "pipeline"};
  EXPECT_EQ(problems_of(scenario), "/cluster/rank_order/2: rank_order names a dimension twice\n");
  scenario["cluster"]["rank_order"] = {"tensor", "pipeline", "data"};
  EXPECT_EQ(problems_of(scenario),
            "/cluster/rank_order: rank_order has to name all four dimensions\n");
  scenario["cluster"]["rank_order"] = {"tensor", "context", "pipeline", "data"};
  EXPECT_EQ(problems_of(scenario), "");
}

TEST(Scenario, SlowAcceleratorsAreOnesThatExist) {
  nlohmann::json scenario = small_scenario(2);
  scenario["perturbations"]["slow_accelerators"] = {{{"accelerator", 4}, {"time_factor", 2.0}},
                                                    {{"accelerator", 0}, {"time_factor", 0.0}}};
  EXPECT_EQ(problems_of(scenario),
            "/perturbations/slow_accelerators/0/accelerator: accelerator must be between 0 and 3\n"
            "/perturbations/slow_accelerators/1/time_factor: time_factor must be between 0.001 and "
            "1000\n");
}

TEST(Scenario, OptionsOfTheCommandLineWinAndAreRecorded) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("scenario.json", small_scenario(4).dump(2));
  Diagnostics diagnostics;
  const Scenario scenario = read_scenario(
      path, {.overrides = {parse_override("/strategy/global_batch=64")}, .seed = 9, .replicas = 3},
      diagnostics);
  EXPECT_EQ(scenario.strategy->global_batch, 64);
  EXPECT_EQ(scenario.perturbation.seed, 9U);
  EXPECT_EQ(scenario.run.replicas, 3);
  EXPECT_EQ((*scenario.resolved)["strategy"]["global_batch"], 64);
  EXPECT_EQ((*scenario.resolved)["run"]["seed"], 9);
}

TEST(Scenario, AProfileThatWasChangedOnTheWayStandsInWhatWasResolved) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("scenario.json", small_scenario(4).dump(2));
  Diagnostics diagnostics;
  const Scenario changed = read_scenario(
      path, {.overrides = {parse_override("/profile/device/memory_efficiency/value=0.5")}},
      diagnostics);
  const Scenario again = scenario_of(*changed.resolved);
  EXPECT_EQ(again.profile->device.memory_efficiency.value, 0.5);
  EXPECT_EQ(again.profile->kernel_families.size(), changed.profile->kernel_families.size());
  EXPECT_EQ(again.resolved, changed.resolved);
  const Scenario plain = read_scenario(path, {}, diagnostics);
  EXPECT_TRUE((*plain.resolved)["profile"].is_string());
}

TEST(Scenario, OfAConfigurationOfWordsTheLengthOfSequencesIsTaken) {
  const ScratchFolder scratch;
  const auto told = [&](nlohmann::json model) {
    nlohmann::json scenario = small_scenario(4);
    scenario["model"] = std::move(model);
    scenario["strategy"].erase("sequence_length");
    return told_by(scratch.write("scenario.json", scenario.dump(2)), {});
  };
  constexpr std::string_view kTaken = "sequences are taken to be";
  const nlohmann::json layers = {{"hidden_size", 1024},
                                 {"num_hidden_layers", 8},
                                 {"num_attention_heads", 16},
                                 {"intermediate_size", 4096}};
  nlohmann::json words = layers;
  words.update(
      {{"model_type", "gpt_neox"}, {"vocab_size", 32000}, {"max_position_embeddings", 1024}});
  EXPECT_NE(told(words).find(kTaken), std::string::npos) << told(words);
  nlohmann::json images = layers;
  images.update({{"model_type", "vit"}, {"image_size", 224}, {"patch_size", 16}});
  EXPECT_EQ(told(images).find(kTaken), std::string::npos);
  EXPECT_EQ(told(images).find("error"), std::string::npos) << told(images);
}

TEST(Scenario, AnOverrideThatNobodyReadsIsAnError) {
  EXPECT_NE(problems_of(small_scenario(4), {.overrides = {parse_override("/name/x=1")}}), "");
}

}  // namespace
}  // namespace headway
