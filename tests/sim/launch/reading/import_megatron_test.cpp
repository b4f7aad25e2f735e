// Scripts that start Megatron-LM, and logs of its runs, as scenarios.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/launch/launch_files.h"
#include "sim/launch/reading/megatron_layout.h"
#include "sim/launch/reading/megatron_model_reading.h"
#include "tests/sim/launch/reading/imported_job.h"
#include "tests/support/file_content.h"

namespace headway {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kModel =
    "--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 "
    "--max-position-embeddings 4096 --micro-batch-size 2 --global-batch-size 128 "
    "--vocab-size 32000 --bf16 ";

Imported imported_job(const std::string& text, const ImportRequest& request = {}) {
  return imported_text("megatron-lm", text, request);
}

std::string started(const std::string& flags, int nodes = 2) {
  return "torchrun --nproc_per_node 8 --nnodes " + std::to_string(nodes) + " pretrain_gpt.py " +
         kModel + flags + "\n";
}

TEST(ImportMegatron, ReadsWhatTheJobIs) {
  json job = imported_job(started("--tensor-model-parallel-size 4 --swiglu "
                                  "--normalization RMSNorm --position-embedding-type rope "
                                  "--group-query-attention --num-query-groups 4"))
                 .scenario;
  EXPECT_THAT(job.at("model").at("source").get<std::string>(), HasSubstr("job.txt"));
  job.at("model").erase("source");
  const json model = {{"schema", "headway/model/1"},
                      {"name", "job"},
                      {"layers", 8},
                      {"hidden", 1024},
                      {"attention_heads", 16},
                      {"kv_heads", 4},
                      {"ffn_hidden", 2688},  // 4 x 1024 x 2/3 = 2,730.7, a multiple of 64
                      {"mlp", "gated"},
                      {"vocabulary", 32000},
                      {"tied_embeddings", true},
                      {"normalization", "rms_norm"},
                      {"position_encoding", "rotary"},
                      {"qkv_bias", true},
                      {"projection_bias", true},
                      {"mlp_bias", true},
                      {"sequence_length", 2048}};
  EXPECT_EQ(job.at("model"), model);
  EXPECT_EQ(job.at("cluster"), json({{"topology", "dgx_a100_superpod"}, {"nodes", 2}}));
  // Unasked, Megatron-LM neither shards nor overlaps, and repeats what tensor-parallel ranks share.
  const json strategy = {
      {"preset", "megatron"},       {"tensor_parallel", 4}, {"data_parallel", 4},
      {"micro_batch", 2},           {"global_batch", 128},  {"precision", "bf16"},
      {"sequence_parallel", false}, {"zero_stage", 0},      {"overlap_gradient_reduce", false}};
  EXPECT_EQ(job.at("strategy"), strategy);
}

TEST(ImportMegatron, ReadsNormsOfQueriesAndKeys) {
  const json model = imported_job(started("--qk-layernorm")).scenario.at("model");
  EXPECT_EQ(model.at("query_key_norms"), "each_head");
  EXPECT_FALSE(imported_job(started("")).scenario.at("model").contains("query_key_norms"));
  // Latent attention has them by itself.
  const Imported latent = imported_job(started("--multi-latent-attention --qk-layernorm"));
  EXPECT_FALSE(latent.scenario.at("model").contains("query_key_norms"));
  EXPECT_THAT(latent.told, Not(HasSubstr("--qk-layernorm")));
}

TEST(ImportMegatron, ReadsWhatOneFlagBringsAlong) {
  const auto strategy = [](const std::string& flags) {
    return imported_job(started(flags)).scenario.at("strategy");
  };
  EXPECT_EQ(strategy("--fp8-format hybrid").at("precision"), "fp8");
  EXPECT_EQ(strategy("--fp8-format e4m3 --fp8-recipe blockwise").at("precision"), "fp8_blockwise");
  EXPECT_EQ(strategy("--recompute-activations").at("recompute"), "selective");
  EXPECT_EQ(strategy("--recompute-granularity full").at("recompute"), "full");
  const json some = strategy(
      "--recompute-granularity full --recompute-method block "
      "--recompute-num-layers 2");
  EXPECT_EQ(some.at("recompute_layers"), 2);
  EXPECT_EQ(strategy("--recompute-granularity selective --recompute-modules mlp layernorm")
                .at("recompute_modules"),
            json({"mlp", "layernorm"}));
  EXPECT_EQ(strategy("--pipeline-model-parallel-size 2 "
                     "--num-layers-per-virtual-pipeline-stage 2")
                .at("virtual_stages"),
            2);
  EXPECT_EQ(strategy("--cuda-graph-impl local").at("cuda_graph"), "layer");
  EXPECT_EQ(strategy("--cuda-graph-impl local --cuda-graph-scope full_iteration").at("cuda_graph"),
            "full");
  EXPECT_EQ(strategy("--use-distributed-optimizer --num-distributed-optimizer-instances 2")
                .at("shard_group"),
            8);
}

TEST(ImportMegatron, ReadsMixtures) {
  const json job =
      imported_job(started("--num-experts 64 --moe-router-topk 6 --moe-ffn-hidden-size 512 "
                           "--moe-layer-freq '([0]*1+[1]*7)' --expert-model-parallel-size 8 "
                           "--moe-enable-deepep --use-distributed-optimizer"))
          .scenario;
  const json experts = {{"experts", 64},
                        {"experts_per_token", 6},
                        {"expert_hidden", 512},
                        {"leading_dense_layers", 1}};
  EXPECT_EQ(job.at("model").at("mixture_of_experts"), experts);
  EXPECT_EQ(job.at("strategy").at("expert_parallel"), 8);
  EXPECT_EQ(job.at("strategy").at("expert_dispatch"), "deduplicated");
  EXPECT_THAT(imported_job(started("--num-experts 8 --moe-layer-freq '[1]*4+[0]*4'")).told,
              HasSubstr("gives experts to layers that no model here can have them in"));
}

TEST(ImportMegatron, KnowsWhichLayersHaveExperts) {
  EXPECT_THAT(expert_layers("2", 4), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(expert_layers("([0]*2+[1]*2)", 4), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(expert_layers("[0]+[1]*2", 3), ElementsAre(0, 1, 1));
  EXPECT_THAT(expert_layers("0 1 1", 3), ElementsAre(0, 1, 1));
  for (const char* broken : {"0x", "[2]*3", "([0]*3)*2", "-1", "0", ""}) {
    EXPECT_THAT(expert_layers(broken, 4), IsEmpty()) << broken;
  }
}

TEST(ImportMegatron, ReadsLayouts) {
  EXPECT_THAT(layers_of_layout("Et*3|(tt|)*2m|L"), ElementsAre(3, 2, 2, 0, 0));
  EXPECT_THAT(layers_of_layout("Et|t|t|tL"), ElementsAre(1, 1, 1, 1));
  for (const char* broken :
       {"", "E|L", "tx", "(t", "((t))", "t*", "t*999999999", "(t*9999)*9999"}) {
    EXPECT_THAT(layers_of_layout(broken), IsEmpty()) << broken;
  }
  const json strategy = imported_job(started("--pipeline-model-parallel-size 2 "
                                             "--pipeline-model-parallel-layout 'Et|t*3|t*3|tL'"))
                            .scenario.at("strategy");
  EXPECT_EQ(strategy.at("virtual_stages"), 2);
  EXPECT_EQ(strategy.at("layers_per_stage"), json({1, 3, 3, 1}));
  EXPECT_THAT(imported_job(started("--pipeline-model-parallel-size 2 "
                                   "--pipeline-model-parallel-layout 'Et|t*3|L'"))
                  .told,
              HasSubstr("is no layout of 8 layers over 2 stages"));
}

TEST(ImportMegatron, SaysWhatItDoesNotRead) {
  const Imported job = imported_job(started("--lr 1e-4 --hybrid-override-pattern M-M*"));
  EXPECT_THAT(job.told, HasSubstr("warning: not read: --hybrid-override-pattern\n"));
  EXPECT_FALSE(job.scenario.is_null());
}

TEST(ImportMegatron, SaysAllThatIsMissing) {
  const ScratchFolder scratch;
  Diagnostics diagnostics;
  const auto made = imported(
      launch_format("megatron-lm"),
      {.paths = {scratch.write("train.sh", "python pretrain_gpt.py --num-layers $L --bf16\n")},
       .name = "job"},
      diagnostics);
  EXPECT_FALSE(made);
  const std::string told = rendered(diagnostics.all(), "nothing was imported");
  EXPECT_THAT(told, HasSubstr("--num-layers takes a whole number up to 1,000,000,000, not \"$L\""));
  EXPECT_THAT(told,
              HasSubstr("the script does not say what $L is: set it in a line before, L=..."));
  EXPECT_THAT(told, HasSubstr("--hidden-size is not given"));
  EXPECT_THAT(told, HasSubstr("--micro-batch-size is not given"));
  EXPECT_THAT(told, HasSubstr("say it: --vocabulary N"));
  EXPECT_THAT(told, HasSubstr("--topology NAME: a file, or one of `headway list topologies`"));
  EXPECT_THAT(told, HasSubstr("--profile NAME: a file, or one of `headway list profiles`"));
  EXPECT_THAT(imported_job("echo hello\n").told, HasSubstr("there are no flags of Megatron-LM"));
}

TEST(ImportMegatron, SaysWhichAttentionIsPredicted) {
  EXPECT_THAT(imported_job(started("--attention-backend flash")).told,
              HasSubstr("warning: --attention-backend: switches cuDNN's kernel off"));
  EXPECT_EQ(imported_job(started("--attention-backend fused")).told, "");
}

TEST(ImportMegatron, SaysWhatIsNoNumber) {
  const std::string told = imported_job(started("--tensor-model-parallel-size $TP "
                                                "--context-parallel-size two "
                                                "--expert-model-parallel-size -1"))
                               .told;
  EXPECT_THAT(told,
              HasSubstr("--tensor-model-parallel-size takes a number from 0 up, not \"$TP\"\n"));
  EXPECT_THAT(told, HasSubstr("the script does not say what $TP is"));
  EXPECT_THAT(told, HasSubstr("--context-parallel-size takes a number from 0 up, not \"two\""));
  EXPECT_THAT(told, HasSubstr("--expert-model-parallel-size takes a number from 0 up, not \"-1\""));
}

TEST(ImportMegatron, TakesNodesAsAsked) {
  ImportRequest request;
  request.nodes = 4;
  const json job = imported_job(started(""), request).scenario;
  EXPECT_EQ(job.at("cluster").at("nodes"), 4);
  EXPECT_FALSE(job.at("strategy").contains("data_parallel"));  // what the nodes make it
  EXPECT_THAT(imported_job(std::string("python pretrain_gpt.py ") + kModel).told,
              HasSubstr("how many nodes the job runs on is not in the file"));
}

/// Fields that the script of a job says, and that Megatron-LM does unasked, as they were.
TEST(ImportMegatron, ReadsBackWhatLaunchFilesSay) {
  const std::vector<std::pair<std::string, std::vector<Override>>> jobs = {
      {"gpt3_175b_1024", {}},
      {"llama3_405b_16384", {}},
      {"llama3_405b_16384", {{"/strategy/precision", "fp8_current"}}},
      {"llama3_405b_16384", {{"/strategy/recompute", "full"}, {"/strategy/zero_stage", "0"}}},
      {"llama3_8b_64", {{"/strategy/preset", "megatron"}, {"/strategy/zero_stage", "1"}}},
      {"qwen3_235b_a22b_256", {{"/strategy/preset", "megatron"}}},
  };
  for (const auto& [name, overrides] : jobs) {
    const JsonValue before = shipped_scenario(name, overrides);
    const LaunchFile script = launch_script(before, LaunchFramework::megatron);
    const json given = json::parse(content_of(source_folder() + "/scenarios/" + name + ".json"));
    ImportRequest request;
    request.topology = given.at("cluster").at("topology");
    request.profile = given.at("profile");
    request.preset = before->at("strategy").at("preset");
    const Imported job = imported_job(script.text, request);
    ASSERT_FALSE(job.scenario.is_null()) << name << "\n" << job.told;
    const json after = scenario_of(job.scenario).resolved->at("strategy");
    const FlagList flags = flags_of(before, LaunchFramework::megatron);
    std::set<std::string> unsaid;
    for (const UnsaidField& field : flags.unsaid) unsaid.insert(field.field);
    for (const auto& [field, value] : before->at("strategy").items()) {
      if (describes_software(field) || unsaid.contains(field) || field == "memory" ||
          field == "kernel_family") {
        continue;
      }
      EXPECT_EQ(after.value(field, json()), value) << name << ": " << field << "\n" << script.text;
    }
    const json model = scenario_of(job.scenario).resolved->at("model");
    for (const auto& [field, value] : model.items()) {
      if (field == "name" || field == "source") continue;
      EXPECT_EQ(value, before->at("model").value(field, json())) << name << ": model." << field;
    }
  }
}

// Its arguments.py: --use-flash-attn and the like are off by themselves.
TEST(ImportMegatron, MegatronDeepSpeedKeepsScoresUnlessItIsToldNotTo) {
  const std::string deepspeed = "--deepspeed --zero-stage 1 --no-pipeline-parallel ";
  const auto strategy = [&](const std::string& flags) {
    const Imported job = imported_job(started(flags));
    EXPECT_EQ(job.told, "");
    return job.scenario.at("strategy");
  };
  EXPECT_EQ(strategy(deepspeed).value("attention", ""), "unfused");
  EXPECT_EQ(strategy(deepspeed + "--use-flash-attn-v2").value("attention", "flash"), "flash");
  EXPECT_EQ(strategy(deepspeed + "--use-flash-attn").value("attention", "flash"), "flash");
  EXPECT_EQ(strategy("").value("attention", "flash"), "flash");
}

TEST(ImportMegatron, ReadsTheLogOfARun) {
  const char* const samples = std::getenv("HEADWAY_SAMPLES");
  if (samples == nullptr) GTEST_SKIP() << "set HEADWAY_SAMPLES to the folder of sample files";
  const ScratchFolder scratch;
  Diagnostics diagnostics;
  const auto made =
      imported(launch_format("megatron-lm"),
               {.paths = {std::string(samples) + "/logs/megatron-deepspeed-train.log"},
                .name = "gpt",
                .topology = "dgx_a100_superpod",
                .profile = "a100_sxm_80gb"},
               diagnostics);
  ASSERT_TRUE(made) << rendered(diagnostics.all(), "");
  const json job = shorter_scenario(*made, diagnostics);
  EXPECT_EQ(rendered(diagnostics.all(), ""), "");
  EXPECT_EQ(job.at("model").at("layers"), 32);
  EXPECT_EQ(job.at("model").at("vocabulary"), 50304);  // as it is padded there
  EXPECT_FALSE(job.at("model").contains("mixture_of_experts"));
  const json strategy = {{"preset", "megatron-deepspeed"},
                         {"tensor_parallel", 1},
                         {"data_parallel", 16},
                         {"micro_batch", 2},
                         {"global_batch", 2048},
                         {"precision", "fp16"},
                         {"attention", "unfused"}};
  EXPECT_EQ(job.at("strategy"), strategy);
}

}  // namespace
}  // namespace headway
