// What fields of a strategy are in the words of frameworks.
#include "sim/launch/flag_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/jobs/strategy_fields.h"
#include "sim/launch/launch_job.h"
#include "tests/sim/launch/jobs_to_launch.h"

namespace headway {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(FlagTable, HasEveryFieldOfAStrategy) {
  for (const FieldDescription& field : strategy_fields().described()) {
    if (field.name.find('.') != std::string::npos) continue;  // of an object that has a row
    const bool has_row = std::ranges::any_of(
        flag_table(), [&](const FlagRow& row) { return row.field == field.name; });
    EXPECT_NE(has_row, describes_software(field.name)) << field.name;
  }
}

TEST(FlagTable, HasNoFieldsThatAreNone) {
  const std::vector<FieldDescription> fields = strategy_fields().described();
  for (const FlagRow& row : flag_table()) {
    EXPECT_TRUE(std::ranges::any_of(fields, [&](const FieldDescription& field) {
      return field.name == row.field;
    })) << row.field;
  }
}

TEST(FlagTable, AnInterleavedScheduleIsTorchtitansOwnWord) {
  // 8 layers in 2 x 2 chunks: 2 each. 64 sequences over 2 replicas are 32 for each pipeline.
  const JsonValue scenario = replicas({{"preset", "torchtitan"},
                                       {"zero_stage", 0},
                                       {"tensor_parallel", 2},
                                       {"pipeline_parallel", 2},
                                       {"virtual_stages", 2}});
  const std::vector<std::string> settings =
      flags_of(scenario, LaunchFramework::torchtitan).settings;
  EXPECT_THAT(settings, Contains("parallelism.pipeline_parallel_schedule=\"Interleaved1F1B\""));
  EXPECT_THAT(settings, Contains("parallelism.pipeline_parallel_layers_per_stage=2"));
  EXPECT_THAT(settings, Contains("parallelism.pipeline_parallel_microbatch_size=2"));
  EXPECT_THAT(settings, Contains("training.local_batch_size=32"));
  EXPECT_THAT(settings, Contains("parallelism.data_parallel_replicate_degree=2"));
}

/// Of a preset's replicas under torchtitan.
std::vector<std::string> torchtitan_settings(const nlohmann::json& strategy) {
  return flags_of(replicas(strategy), LaunchFramework::torchtitan).settings;
}

TEST(FlagTable, TorchtitanIsToldToCompile) {
  const FlagList compiled =
      flags_of(replicas({{"preset", "torchtitan"}}), LaunchFramework::torchtitan);
  EXPECT_THAT(compiled.settings, Contains("compile.enable=true"));
  EXPECT_THAT(words_of(compiled.unsaid), Not(Contains("fused_loss true")));  // compiled, too
  EXPECT_THAT(torchtitan_settings({{"preset", "torchtitan-eager"}}),
              Not(Contains("compile.enable=true")));
}

// It makes the first and the last stage smaller by a layer where nobody says otherwise.
TEST(FlagTable, TorchtitansStagesCountTheirEnds) {
  // 8 layers and 2 ends in 2 chunks are 5 each.
  const nlohmann::json ends = {{"preset", "torchtitan"},
                               {"zero_stage", 0},
                               {"pipeline_parallel", 2},
                               {"layer_placement", "embedding_and_loss_as_layers"}};
  constexpr const char* kFirst = "parallelism.pipeline_parallel_first_stage_less_layers=0";
  EXPECT_THAT(torchtitan_settings(ends), Not(Contains(kFirst)));
  const std::vector<std::string> even =
      torchtitan_settings({{"preset", "torchtitan"}, {"zero_stage", 0}, {"pipeline_parallel", 2}});
  EXPECT_THAT(even, Contains(kFirst));
  EXPECT_THAT(even, Contains("parallelism.pipeline_parallel_last_stage_less_layers=0"));
  nlohmann::json chunks = ends;
  chunks["virtual_stages"] = 2;  // 10 in 4 chunks: 3 at most
  EXPECT_THAT(torchtitan_settings(chunks),
              Contains("parallelism.pipeline_parallel_layers_per_stage=3"));
  chunks["virtual_stages"] = 3;  // 10 in 6 chunks: 2 at most, which would be 5 chunks
  for (const std::string& setting : torchtitan_settings(chunks)) {
    EXPECT_THAT(setting, Not(HasSubstr("layers_per_stage")));
  }
}

TEST(FlagTable, TorchtitansFloatsOfEightBitsHaveATableOfTheirOwn) {
  const LaunchFile file =
      launch_script(replicas({{"preset", "torchtitan"}, {"precision", "fp8_rowwise"}}),
                    LaunchFramework::torchtitan);
  EXPECT_THAT(file.text, HasSubstr("[model]\nconverters = [\"quantize.linear.float8\"]\n"));
  EXPECT_THAT(file.text, HasSubstr("[quantize.linear.float8]\nrecipe_name = \"rowwise\"\n"));
}

// Of bf16 it reduces in fp32 unasked, of fp16 it does not (arguments.py, "Parameters dtype").
TEST(FlagTable, MegatronReducesGradientsOfFp16AsTheyAre) {
  const auto flags = [](const char* precision) {
    return flags_of(replicas({{"precision", "fp16"}, {"gradient_precision", precision}}),
                    LaunchFramework::megatron);
  };
  EXPECT_THAT(flags("fp32").settings, Contains("--accumulate-allreduce-grads-in-fp32"));
  EXPECT_THAT(flags("fp16").settings, Not(Contains("--accumulate-allreduce-grads-in-fp32")));
  EXPECT_THAT(flags("fp16").unsaid, IsEmpty());
}

TEST(FlagTable, MegatronNamesModulesThatAreComputedAgain) {
  const FlagList list = flags_of(
      replicas({{"recompute", "modules"}, {"recompute_modules", {"core_attn", "layernorm"}}}),
      LaunchFramework::megatron);
  EXPECT_THAT(list.settings, Contains("--recompute-modules core_attn layernorm"));
  EXPECT_THAT(list.unsaid, IsEmpty());
}

/// What graphs of layers hold under Megatron-LM, of a strategy of the model.
std::vector<std::string> graph_settings(const char* model,
                                        const nlohmann::json& strategy = nlohmann::json::object()) {
  nlohmann::json scenario = small_scenario(4);
  scenario["model"] = model;
  scenario["strategy"] = {{"micro_batch", 1}, {"global_batch", 64}, {"cuda_graph", "layer"}};
  scenario["strategy"].update(strategy);
  std::vector<std::string> settings =
      flags_of(scenario_of(scenario).resolved, LaunchFramework::megatron).settings;
  std::erase_if(settings,
                [](const std::string& setting) { return !setting.starts_with("--cuda-graph"); });
  return settings;
}

// "moe cuda graph is only supported with drop-padding MoE"; "attn cuda graph is not supported with
// core_attn recompute"; "moe_preprocess cuda graph is not supported when there are DtoH copies".
TEST(FlagTable, MegatronsGraphsHoldWhatOfALayerTheyCan) {
  constexpr const char* kGraphs = "--cuda-graph-impl transformer_engine";
  EXPECT_THAT(graph_settings("llama3_8b"), ElementsAre(kGraphs, "--cuda-graph-scope attn mlp"));
  EXPECT_THAT(graph_settings("qwen3_30b_a3b"),
              ElementsAre(kGraphs, "--cuda-graph-scope attn moe_router moe_preprocess"));
  EXPECT_THAT(graph_settings("qwen3_30b_a3b", {{"expert_capacity_factor", 1.0}}),
              ElementsAre(kGraphs, "--cuda-graph-scope attn moe_router"));
  const auto again = [](std::vector<std::string> modules) {
    return nlohmann::json{{"recompute", "modules"}, {"recompute_modules", std::move(modules)}};
  };
  EXPECT_THAT(graph_settings("deepseek_v3", again({"mla_up_proj", "mlp"})),
              ElementsAre(kGraphs, "--cuda-graph-scope moe_router moe_preprocess"));
  EXPECT_THAT(graph_settings("deepseek_v3", again({"moe"})),
              ElementsAre(kGraphs, "--cuda-graph-scope attn"));
  EXPECT_THAT(graph_settings("llama3_8b", {{"attention", "unfused"}, {"recompute", "selective"}}),
              ElementsAre(kGraphs, "--cuda-graph-scope mlp"));
  EXPECT_THAT(graph_settings("llama3_8b", again({"core_attn", "mlp"})), IsEmpty());
}

// What a graph of the whole iteration holds has one size.
TEST(FlagTable, MegatronsWholeGraphsHoldExpertsOfACapacity) {
  constexpr const char* kWhole = "--cuda-graph-scope full_iteration";
  const auto settings = [](const char* model, nlohmann::json strategy) {
    strategy["cuda_graph"] = "full";
    return graph_settings(model, strategy);
  };
  EXPECT_THAT(settings("llama3_8b", {}), Contains(kWhole));
  EXPECT_THAT(settings("qwen3_30b_a3b", {{"expert_capacity_factor", 1.0}}), Contains(kWhole));
  EXPECT_THAT(settings("qwen3_30b_a3b", {}), IsEmpty());
}

// --reset-attention-mask would let documents see each other all the same.
TEST(FlagTable, MegatronsScriptKeepsPackedDocumentsApart) {
  const FlagList list = flags_of(replicas({{"packed_length", 256}}), LaunchFramework::megatron);
  EXPECT_THAT(words_of(list.of_script), Contains("packed_length 256"));
  for (const std::string& setting : list.settings) EXPECT_THAT(setting, Not(HasSubstr("--reset")));
}

// Compression.fp16 is an argument of DistributedOptimizer; horovodrun exits on a flag for it.
TEST(FlagTable, HorovodsScriptReducesInFp16) {
  const FlagList list = flags_of(replicas({{"preset", "horovod"}, {"gradient_precision", "fp16"}}),
                                 LaunchFramework::horovod);
  EXPECT_THAT(words_of(list.of_script), Contains("gradient_precision fp16"));
}

TEST(FlagTable, AccelerateHasTheOptimizersOfTheTrainer) {
  const auto settings = [](const char* optimizer) {
    return flags_of(replicas({{"preset", "transformers"}, {"optimizer", optimizer}}),
                    LaunchFramework::accelerate)
        .settings;
  };
  EXPECT_THAT(settings("adam"), Contains("--optim adamw_torch_fused"));
  EXPECT_THAT(settings("adam_8bit"), Contains("--optim adamw_bnb_8bit"));
  EXPECT_THAT(settings("lion"), Contains("--optim lion_32bit"));
}

// Context-parallel ranks have parts of a gradient, as replicas do.
TEST(FlagTable, ContextParallelRanksReduceGradients) {
  const auto settings = [](int context) {
    nlohmann::json scenario = small_scenario(1);
    scenario["strategy"] = {{"preset", "megatron"},
                            {"micro_batch", 1},
                            {"global_batch", 4},
                            {"tensor_parallel", 2 / context},
                            {"context_parallel", context}};
    return flags_of(scenario_of(scenario).resolved, LaunchFramework::megatron).settings;
  };
  EXPECT_THAT(settings(2), Contains("--overlap-grad-reduce"));
  EXPECT_THAT(settings(2), Contains("--overlap-param-gather"));
  EXPECT_THAT(settings(1), Not(Contains("--overlap-grad-reduce")));
  EXPECT_THAT(settings(1), Not(Contains("--overlap-param-gather")));
}

TEST(FlagTable, WhatAFrameworkCannotBeToldIsSaid) {
  const FlagList list =
      flags_of(replicas({{"tensor_parallel", 2}, {"zero_stage", 1}}), LaunchFramework::horovod);
  const std::vector<std::string> unsaid = words_of(list.unsaid);
  EXPECT_THAT(unsaid, Contains("tensor_parallel 2"));
  EXPECT_THAT(unsaid, Contains("zero_stage 1"));
}

TEST(FlagTable, MegatronSendsWholeActivations) {
  const auto unsaid = [](const char* preset) {
    return words_of(flags_of(replicas({{"preset", preset},
                                       {"tensor_parallel", 2},
                                       {"pipeline_parallel", 2},
                                       {"sequence_parallel", false}}),
                             LaunchFramework::megatron)
                        .unsaid);
  };
  EXPECT_THAT(unsaid("megatron"), Not(Contains(HasSubstr("split_stage_transfers"))));
  EXPECT_THAT(unsaid("megatron-2021"), Contains("split_stage_transfers true"));
}

TEST(FlagTable, GroupsThatShareOutTheOptimizerAreMegatronsInstances) {
  // Eight replicas in groups of two: four copies of the states.
  const JsonValue scenario = replicas({{"zero_stage", 1}, {"shard_group", 2}});
  EXPECT_THAT(flags_of(scenario, LaunchFramework::megatron).settings,
              Contains("--num-distributed-optimizer-instances 4"));
}

TEST(FlagTable, FieldsWithoutEffectAreNotTold) {
  const FlagList list = flags_of(replicas({{"preset", "megatron"}}), LaunchFramework::megatron);
  for (const std::string& setting : list.settings) {
    EXPECT_THAT(setting, Not(HasSubstr("parallel-size")));
    EXPECT_THAT(setting, Not(HasSubstr("cp-comm-type")));
  }
  // Megatron's buckets count elements: 160 MB of fp32.
  EXPECT_THAT(list.settings, Contains("--ddp-bucket-size 40000000"));
}

}  // namespace
}  // namespace headway
