// Files that start jobs, against golden ones.
#include "sim/launch/launch_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/launch/launch_job.h"
#include "tests/sim/launch/jobs_to_launch.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Of every job under Megatron-LM.
constexpr const char* kOfCommandLine =
    "What is no matter of speed is for the command line: --train-iters 100 --lr 1e-4.";

/// HEADWAY_UPDATE_GOLDEN=1 writes the files instead of comparing them.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = source_folder() + "/tests/sim/launch/golden/" + name;
  if (const char* update = std::getenv("HEADWAY_UPDATE_GOLDEN"); update && *update == '1') {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream stream(path);
  std::ostringstream known;
  known << stream.rdbuf();
  EXPECT_EQ(text, known.str()) << "HEADWAY_UPDATE_GOLDEN=1 rewrites " << path;
}

TEST(LaunchFiles, MegatronOfAMixtureOfExperts) {
  const LaunchFile file =
      launch_script(shipped_scenario("qwen3_235b_a22b_256"), LaunchFramework::megatron);
  EXPECT_THAT(file.remarks, ElementsAre(kOfCommandLine));
  expect_golden("megatron_experts.sh", file.text);
}

TEST(LaunchFiles, MegatronOnTwoKindsOfNodesHasUnevenStages) {
  const LaunchFile file =
      launch_script(shipped_scenario("llama3_8b_h100_a100_64"), LaunchFramework::megatron);
  EXPECT_THAT(file.remarks, ElementsAre(kOfCommandLine,
                                        "Nodes are of several kinds: node ranks have to be in "
                                        "the topology's order."));
  expect_golden("megatron_kinds.sh", file.text);
}

TEST(LaunchFiles, ANodeAloneIsTheFirst) {
  nlohmann::json scenario = small_scenario(1);
  scenario["strategy"] = {{"micro_batch", 2}, {"global_batch", 64}};
  const std::string text =
      launch_script(scenario_of(scenario).resolved, LaunchFramework::deepspeed).text;
  EXPECT_THAT(text, HasSubstr("NODE_RANK=\"${NODE_RANK:-${PET_NODE_RANK:-0}}\"\n"
                              "MASTER_ADDR=\"${MASTER_ADDR:-${PET_MASTER_ADDR:-localhost}}\"\n"));
}

/// The flags of a model on four nodes of two accelerators, and what is said of the rest.
LaunchFile megatron_of(const char* model) {
  nlohmann::json scenario = small_scenario(4);
  scenario["model"] = model;
  scenario["strategy"] = {{"micro_batch", 1}, {"global_batch", 64}};
  return launch_script(scenario_of(scenario).resolved, LaunchFramework::megatron);
}

// Sizes of the configuration that its makers published: 61 layers, the first 3 without experts.
TEST(LaunchFiles, MegatronOfLatentAttentionAndSharedExperts) {
  const LaunchFile file = megatron_of("deepseek_v3");
  for (const char* flag :
       {"--multi-latent-attention", "--qk-layernorm", "--q-lora-rank 1536", "--kv-lora-rank 512",
        "--qk-head-dim 128", "--qk-pos-emb-head-dim 64", "--v-head-dim 128", "--num-experts 256",
        "--moe-router-topk 8", "--moe-shared-expert-intermediate-size 2048",
        "--moe-layer-freq \"([0]*3+[1]*58)\"", "--mtp-num-layers 1"}) {
    EXPECT_THAT(file.text, HasSubstr(flag));
  }
}

TEST(LaunchFiles, MegatronOfExpertsInEverySecondLayer) {
  EXPECT_THAT(megatron_of("llama4_maverick").text, HasSubstr("--moe-layer-freq 2"));
}

TEST(LaunchFiles, MegatronOfBiasesOfQueriesAlone) {
  const std::string text = megatron_of("qwen2_7b").text;
  EXPECT_THAT(text, HasSubstr("--disable-bias-linear"));
  EXPECT_THAT(text, HasSubstr("--add-qkv-bias"));
}

TEST(LaunchFiles, MegatronOfNormsOfQueriesAndKeys) {
  EXPECT_THAT(megatron_of("qwen3_30b_a3b").text, HasSubstr("--qk-layernorm"));
  EXPECT_THAT(megatron_of("llama3_8b").text, Not(HasSubstr("--qk-layernorm")));
  JsonValue scenario =
      shipped_scenario("llama3_8b_64", {{"/model/query_key_norms", "\"all_heads\""}});
  const LaunchFile file = launch_script(scenario, LaunchFramework::megatron);
  EXPECT_THAT(file.text, Not(HasSubstr("--qk-layernorm")));
  EXPECT_THAT(file.remarks, Contains(HasSubstr("is not told of model.query_key_norms")));
}

TEST(LaunchFiles, MegatronIsNotToldOfWindowsAndSinks) {
  const LaunchFile file = megatron_of("gpt_oss_20b");
  EXPECT_THAT(file.remarks, Contains("Megatron-LM is not told of model.sliding_window."));
  EXPECT_THAT(file.remarks, Contains("Megatron-LM is not told of model.attention_sinks."));
}

TEST(LaunchFiles, ParametersAreGatheredInEightBitsWhereTheyAreTold) {
  const JsonValue scenario = shipped_scenario(
      "llama3_8b_64",
      {{"/strategy/precision", "\"fp8\""}, {"/strategy/quantised_parameter_gathers", "true"}});
  EXPECT_THAT(launch_script(scenario, LaunchFramework::megatron).text,
              HasSubstr("--fp8-param-gather"));
}

// Megatron-Core's layer-wise optimizer has whole matrices; its distributed one has not.
TEST(LaunchFiles, MegatronSharesOutMuonByMatrices) {
  const auto script = [](std::vector<Override> more) {
    more.emplace_back("/strategy/optimizer", "muon");
    return launch_script(shipped_scenario("llama3_8b_64", std::move(more)),
                         LaunchFramework::megatron);
  };
  const LaunchFile whole = script({{"/strategy/optimizer_shards", "tensors"}});
  EXPECT_THAT(whole.text, HasSubstr("--optimizer dist_muon"));
  EXPECT_THAT(whole.text, HasSubstr("--ckpt-format torch \\"));  // it has no other
  EXPECT_THAT(whole.text, Not(HasSubstr("--use-distributed-optimizer")));
  EXPECT_THAT(whole.remarks, Not(Contains(HasSubstr("optimizer"))));
  const LaunchFile slices = script({});
  EXPECT_THAT(slices.remarks, Contains(HasSubstr("no setting for: optimizer muon")));
  const LaunchFile alone = script({{"/strategy/zero_stage", "0"}});
  EXPECT_THAT(alone.text, HasSubstr("--optimizer muon"));
  EXPECT_THAT(alone.text, HasSubstr("--ckpt-format torch \\"));
}

TEST(LaunchFiles, MegatronTrainsNoImages) {
  nlohmann::json scenario = small_scenario(4);
  scenario["model"] = "resnet_50";
  scenario["strategy"] = {{"micro_batch", 2}, {"global_batch", 64}};
  const LaunchFile file = launch_script(scenario_of(scenario).resolved, LaunchFramework::megatron);
  EXPECT_THAT(file.remarks,
              Contains("pretrain_gpt.py trains decoders only: the model is for another script."));
}

TEST(LaunchFiles, TorchtitanFullySharded) {
  const LaunchFile file =
      launch_script(shipped_scenario("llama3_70b_fsdp_256"), LaunchFramework::torchtitan);
  EXPECT_EQ(launch_framework_of(shipped_scenario("llama3_70b_fsdp_256")),
            LaunchFramework::torchtitan);
  expect_golden("torchtitan.sh", file.text);
}

TEST(LaunchFiles, EveryShippedScenarioHasThemForEveryFramework) {
  for (const auto& file : std::filesystem::directory_iterator(source_folder() + "/scenarios")) {
    if (file.path().extension() != ".json") continue;
    const JsonValue scenario = shipped_scenario(file.path().stem().string());
    for (const auto& [name, framework] : kWords<LaunchFramework>) {
      EXPECT_THAT(launch_script(scenario, framework).text, HasSubstr("set -euo pipefail"))
          << file.path() << " for " << name;
    }
  }
}

// How many layers a stage has is not said of a list of them.
TEST(LaunchFiles, TorchtitanOfAListOfLayersLeavesItsStagesToTheScript) {
  const JsonValue scenario =
      shipped_scenario("listed_layers_16", {{"/strategy/pipeline_parallel", "2"},
                                            {"/strategy/virtual_stages", "2"},
                                            {"/strategy/data_parallel", "8"}});
  const LaunchFile file = launch_script(scenario, LaunchFramework::torchtitan);
  EXPECT_THAT(file.text, HasSubstr("pipeline_parallel_degree = 2"));
  EXPECT_THAT(file.text, Not(HasSubstr("layers_per_stage")));
  EXPECT_THAT(file.remarks, Contains(HasSubstr("virtual_stages 2")));
}

TEST(LaunchFiles, DeepSpeedWithShardedGradients) {
  const JsonValue scenario = replicas({{"preset", "deepspeed-zero-2"}});
  EXPECT_EQ(launch_framework_of(scenario), LaunchFramework::deepspeed);
  expect_golden("deepspeed.sh", launch_script(scenario, LaunchFramework::deepspeed).text);
}

TEST(LaunchFiles, HorovodWithItsBufferAndCycle) {
  const JsonValue scenario = replicas({{"preset", "horovod"}});
  EXPECT_EQ(launch_framework_of(scenario), LaunchFramework::horovod);
  expect_golden("horovod.sh", launch_script(scenario, LaunchFramework::horovod).text);
}

TEST(LaunchFiles, AccelerateWithItsFlagsAndThoseOfTheTrainer) {
  const JsonValue scenario =
      replicas({{"preset", "transformers-bf16"}, {"zero_stage", 3}, {"recompute", "full"}});
  EXPECT_EQ(launch_framework_of(scenario), LaunchFramework::accelerate);
  expect_golden("accelerate.sh", launch_script(scenario, LaunchFramework::accelerate).text);
}

TEST(LaunchFiles, AnMpiJobStartsHorovod) {
  const JsonValue scenario = replicas({{"preset", "horovod"}});
  expect_golden("mpijob.yaml", launch_manifest(scenario, LaunchFramework::horovod,
                                               usual_manifest(LaunchFramework::horovod))
                                   .text);
}

TEST(LaunchFiles, APyTorchJobStartsTheOthers) {
  const JsonValue scenario = replicas({{"preset", "deepspeed-zero-2"}});
  expect_golden("pytorchjob.yaml", launch_manifest(scenario, LaunchFramework::deepspeed,
                                                   usual_manifest(LaunchFramework::deepspeed))
                                       .text);
}

TEST(LaunchFiles, ATrainJobToo) {
  expect_golden("trainjob.yaml",
                launch_manifest(shipped_scenario("llama3_70b_fsdp_256"),
                                LaunchFramework::torchtitan, JobManifest::train_job)
                    .text);
}

TEST(LaunchFiles, MpiStartsHorovodAndNobodyElse) {
  EXPECT_TRUE(can_start(JobManifest::mpi_job, LaunchFramework::horovod));
  EXPECT_FALSE(can_start(JobManifest::pytorch_job, LaunchFramework::horovod));
  EXPECT_FALSE(can_start(JobManifest::mpi_job, LaunchFramework::megatron));
  EXPECT_TRUE(can_start(JobManifest::train_job, LaunchFramework::megatron));
}

TEST(LaunchFiles, MegatronHasALayoutOfLayersThatDoNotSplitEvenly) {
  // 10 layers in 4 x 2 chunks: two have 2, six have 1, the first ones the larger.
  const FlagList uneven = megatron_flags(10, {{"pipeline_parallel", 4}, {"virtual_stages", 2}});
  EXPECT_THAT(uneven.settings, Contains("--pipeline-model-parallel-layout \"Et*2|t*2|(t|)*5tL\""));
  for (const std::string& setting : uneven.settings) {
    EXPECT_THAT(setting, Not(HasSubstr("num-virtual-stages")));  // one of the two is refused
  }
  EXPECT_THAT(megatron_flags(5, {{"pipeline_parallel", 2}}).settings,
              Contains("--pipeline-model-parallel-layout \"Et*3|t*2L\""));
  EXPECT_THAT(megatron_flags(8, {{"pipeline_parallel", 4}, {"virtual_stages", 2}}).settings,
              Contains("--num-virtual-stages-per-pipeline-rank 2"));
}

TEST(LaunchFiles, MegatronHasALayoutOfLayersThatAreGiven) {
  const FlagList given =
      megatron_flags(8, {{"pipeline_parallel", 2}, {"layers_per_stage", {6, 2}}});
  EXPECT_THAT(given.settings, Contains("--pipeline-model-parallel-layout \"Et*6|t*2L\""));
  EXPECT_THAT(given.unsaid, IsEmpty());
}

TEST(LaunchFiles, MegatronHasTheVariableThatItAsserts) {
  const auto script = [](const nlohmann::json& strategy, const char* accelerator) {
    nlohmann::json scenario = small_scenario(4);
    scenario["strategy"] = {{"preset", "megatron"}, {"micro_batch", 1}, {"global_batch", 64}};
    scenario["strategy"].update(strategy);
    JsonValue resolved = scenario_of(scenario).resolved;
    (*resolved)["cluster"]["topology"]["node"]["accelerator"] = accelerator;
    return launch_script(resolved, LaunchFramework::megatron).text;
  };
  constexpr const char* kVariable = "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  EXPECT_THAT(script({{"tensor_parallel", 2}}, "h100-sxm"), HasSubstr(kVariable));
  EXPECT_THAT(script({{"tensor_parallel", 2}}, "gb200"), Not(HasSubstr(kVariable)));
  EXPECT_THAT(script({{"tensor_parallel", 2}}, "rtx-5090"), Not(HasSubstr(kVariable)));
  EXPECT_THAT(script({{"tensor_parallel", 1}}, "h100-sxm"), Not(HasSubstr(kVariable)));
  // Fully sharded it is refused, and checkpoints have one format only.
  const std::string sharded = script({{"tensor_parallel", 2}, {"zero_stage", 3}}, "h100-sxm");
  EXPECT_THAT(sharded, Not(HasSubstr(kVariable)));
  EXPECT_THAT(sharded, HasSubstr("--ckpt-format fsdp_dtensor"));
}

TEST(LaunchFiles, TorchtitanRecomputesByItsDefaultWhereItCannotBeTold) {
  const auto remarks = [](const char* recompute) {
    return launch_job(shipped_scenario("llama3_70b_fsdp_256", {{"/strategy/recompute", recompute}}),
                      LaunchFramework::torchtitan)
        .remarks;
  };
  EXPECT_THAT(remarks("activation"), Contains(HasSubstr("every second layer")));
  EXPECT_THAT(remarks("full"), Not(Contains(HasSubstr("every second layer"))));
}

TEST(LaunchFiles, APresetWithoutALauncherHasNone) {
  EXPECT_EQ(launch_framework_of(replicas(nlohmann::json::object())), std::nullopt);
}

/// A name that goes on in a new line would be a command there.
TEST(LaunchFiles, NamesOfAScenarioAreCommentsWhateverIsInThem) {
  const std::string name = "a\ntouch planted\r\n\u2028touch: planted\n$(touch planted)\x1b[2K";
  for (const std::string framework :
       {"megatron", "pytorch-fsdp", "deepspeed-zero-3", "horovod", "transformers"}) {
    nlohmann::json scenario = small_scenario(4);
    scenario["name"] = name;
    scenario["model"]["name"] = name;
    scenario["cluster"]["topology"]["name"] = name;
    scenario["strategy"] = {{"preset", framework}, {"micro_batch", 2}, {"global_batch", 64}};
    const JsonValue resolved = scenario_of(scenario).resolved;
    const LaunchFramework launched = launch_framework_of(resolved).value();
    for (const std::string& text :
         {launch_script(resolved, launched).text,
          launch_manifest(resolved, launched, usual_manifest(launched)).text}) {
      EXPECT_THAT(text, HasSubstr("touch planted"));
      EXPECT_THAT(text, Not(HasSubstr("\u2028")));
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        if (line.find("planted") == std::string::npos) continue;
        EXPECT_EQ(line.front(), '#') << line;
      }
    }
  }
}

}  // namespace
}  // namespace headway
