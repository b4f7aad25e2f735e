#include "sim/validate/validation_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/parameters.h"
#include "sim/validate/published_steps.h"

namespace headway {
namespace {

nlohmann::json row_json() {
  return {{"id", "row"},
          {"framework", "nemo"},
          {"release", "25.04"},
          {"gpu", "H100"},
          {"gpus", 64},
          {"nvlink_domain", 8},
          {"nic_GBps_per_gpu", 50},
          {"model",
           {{"layers", 32},
            {"hidden", 4096},
            {"heads", 32},
            {"kv_heads", 8},
            {"head_dim", 128},
            {"ffn", 14336},
            {"gated", true},
            {"vocab", 128256},
            {"seq", 8192}}},
          {"train",
           {{"task", "pretrain"},
            {"precision", "bf16"},
            {"tp", 1},
            {"pp", 1},
            {"vpp", 1},
            {"cp", 1},
            {"dp", 64},
            {"micro_batch", 1},
            {"global_batch", 128},
            {"distributed_optimizer", true},
            {"fsdp", "none"},
            {"recompute", "none"},
            {"flash", true}}},
          {"measured", {{"iteration_time_s", 5.0}}}};
}

using Profiles = std::vector<std::shared_ptr<const Profile>>;

std::variant<Scenario, Refusal> read(const nlohmann::json& json, const Profiles& profiles = {},
                                     RowDetail detail = RowDetail::all) {
  Diagnostics diagnostics;
  nlohmann::json file;
  file["rows"].push_back(json);
  const JsonCursor cursor(JsonDocument::parse("rows", file.dump(), diagnostics));
  const PublishedRow row = read_published_steps(cursor, diagnostics).at(0);
  EXPECT_FALSE(diagnostics.has_errors());
  std::vector<std::string> assumed;
  return scenario_of_row(row, profiles, assumed, detail);
}

Scenario scenario_of(const nlohmann::json& json) {
  auto outcome = read(json);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) ADD_FAILURE() << refusal->reason;
  return std::get<Scenario>(std::move(outcome));
}

double fc1_outputs(const Model& model) {
  for (const Product& product : model.layer(0).products) {
    if (product.target == AdapterTarget::fc1) return product.outputs;
  }
  ADD_FAILURE() << "no MLP";
  return 0.0;
}

double norm_parameters_of(const Model& model) {
  return parameters(model.layer(0)).of(Part::normalization);
}

TEST(ValidationRow, AnNvl72RackIsOneDomainOfNodesOfFour) {
  nlohmann::json json = row_json();
  json["gpu"] = "GB200";
  json["nvlink_domain"] = 72;
  const Scenario scenario = scenario_of(json);
  EXPECT_EQ(scenario.cluster->accelerators(), 64);
  EXPECT_EQ(scenario.cluster->node_type.accelerators, 4);
  EXPECT_EQ(scenario.cluster->scale_up_domain, 72);
  EXPECT_EQ(scenario.profile->name, "gb200");
}

TEST(ValidationRow, AJobOnSeveralNvl72RacksTakesAsMuchOfEach) {
  nlohmann::json json = row_json();
  json["gpu"] = "GB200";
  json["nvlink_domain"] = 72;
  json["gpus"] = json["train"]["dp"] = 128;
  EXPECT_EQ(scenario_of(json).cluster->scale_up_domain, 64);  // two racks, 16 nodes of each
  json["gpus"] = json["train"]["dp"] = 144;
  json["train"]["global_batch"] = 144;
  EXPECT_EQ(scenario_of(json).cluster->scale_up_domain, 72);
}

TEST(ValidationRow, ADgx2IsANodeOfSixteen) {
  nlohmann::json json = row_json();
  json["gpu"] = "V100";
  json["nvlink_domain"] = 16;
  json["train"]["precision"] = "fp16";
  const Scenario scenario = scenario_of(json);
  EXPECT_EQ(scenario.cluster->node_type.accelerators, 16);
  EXPECT_EQ(scenario.cluster->scale_up_domain, 16);
}

TEST(ValidationRow, ASliceOfATorusIsOneDomainOfNodesOfFour) {
  nlohmann::json json = row_json();
  json["gpu"] = "TPU v5p";
  json["nvlink_domain"] = json["gpus"] = json["train"]["dp"] = json["train"]["global_batch"] = 2048;
  const Scenario slice = scenario_of(json);
  EXPECT_EQ(slice.cluster->node_type.accelerators, 4);
  EXPECT_EQ(slice.cluster->scale_up_domain, 2048);
  EXPECT_EQ(slice.profile->name, "tpu_v5p");
  json["nvlink_domain"] = 1024;
  EXPECT_EQ(scenario_of(json).cluster->scale_up_domain, 1024);  // two slices
}

TEST(ValidationRow, ACapacityOfExpertsIsTakenAsItIsGiven) {
  nlohmann::json json = row_json();
  json["model"]["moe"] = {{"experts", 8}, {"topk", 2}, {"moe_ffn", 2048}};
  EXPECT_EQ(scenario_of(json).strategy->expert_capacity_factor, 0.0);
  json["train"]["expert_capacity_factor"] = 1.25;
  EXPECT_EQ(scenario_of(json).strategy->expert_capacity_factor, 1.25);
}

TEST(ValidationRow, TheReleaseTellsTheKernelFamily) {
  nlohmann::json json = row_json();
  json["framework"] = "aleph-alpha";
  json["release"] = "rms";
  EXPECT_EQ(scenario_of(json).strategy->kernel_family, "aleph-alpha");
  json["release"] = "fa2";
  EXPECT_EQ(scenario_of(json).strategy->kernel_family, "aleph-alpha-unfused-norm");
  json["release"] = "fa1";
  EXPECT_EQ(scenario_of(json).strategy->kernel_family, "aleph-alpha-flash-1");
}

TEST(ValidationRow, RecipesOfATaskAreForThatTask) {
  nlohmann::json json = row_json();
  json["framework"] = "nemo-mlperf";
  json["release"] = "v5.0";
  json["gpu"] = "B200";
  json["model"]["name"] = "Llama2 70B LoRA (MLPerf)";
  EXPECT_FALSE(scenario_of(json).strategy->memory.quantised_weights);
  json["train"]["task"] = "lora";
  const Strategy strategy = *scenario_of(json).strategy;
  EXPECT_TRUE(strategy.memory.quantised_weights);
  EXPECT_EQ(strategy.memory.allocator_reserve, 0.05);  // the preset's
}

TEST(ValidationRow, TheModelTellsTheSoftwareOfSingleRuns) {
  nlohmann::json json = row_json();
  json["framework"] = "full_runs";
  EXPECT_EQ(scenario_of(json).strategy->kernel_family, "torch-eager");
  json["model"]["name"] = "Pythia 12B (GPT-NeoX)";
  EXPECT_EQ(scenario_of(json).strategy->kernel_family, "deepspeed");
}

TEST(ValidationRow, MixturesOfExpertsMayHaveSoftwareOfTheirOwn) {
  nlohmann::json json = row_json();
  json["framework"] = "automodel";
  EXPECT_EQ(scenario_of(json).strategy->kernel_family, "torch-eager");
  json["model"]["moe"] = {{"experts", 8}, {"topk", 2}, {"moe_ffn", 2048}};
  EXPECT_EQ(scenario_of(json).strategy->kernel_family, "fused");
  EXPECT_EQ(scenario_of(json).strategy->expert_dispatch, ExpertDispatch::deduplicated);
}

TEST(ValidationRow, ModelsAreMadeUpAsTheyArePublished) {
  nlohmann::json json = row_json();
  json["model"]["gated"] = false;
  // GPT's kin: as many outputs of FC1 as the MLP is wide, positions from a table, norms with
  // biases.
  const Model guessed = scenario_of(json).model;
  EXPECT_EQ(fc1_outputs(guessed), 14336);
  EXPECT_TRUE(guessed.tied);
  EXPECT_TRUE(guessed.most_positions.has_value());
  EXPECT_EQ(norm_parameters_of(guessed), 2 * 2 * 4096);

  json["model"]["name"] = "Nemotron4 15B";
  const Model nemotron = scenario_of(json).model;
  EXPECT_EQ(fc1_outputs(nemotron), 14336);
  EXPECT_FALSE(nemotron.tied);
  EXPECT_FALSE(nemotron.most_positions.has_value());
  EXPECT_EQ(norm_parameters_of(nemotron), 2 * 2 * 4096);

  json["model"]["name"] = "InternLM 7B";
  const Model intern = scenario_of(json).model;
  EXPECT_EQ(fc1_outputs(intern), 2 * 14336);
  EXPECT_EQ(norm_parameters_of(intern), 2 * 4096);
}

TEST(ValidationRow, NothingIsGatheredWhereNothingIsSharded) {
  nlohmann::json json = row_json();
  json["train"]["distributed_optimizer"] = false;
  const Strategy strategy = *scenario_of(json).strategy;
  EXPECT_EQ(strategy.sharding, Sharding::none);
  EXPECT_TRUE(strategy.overlap_gradient_reduce);
  EXPECT_FALSE(strategy.overlap_parameter_gather);
}

TEST(ValidationRow, GroupsThatShareOutTheOptimizerAreTakenWhereItIsShared) {
  nlohmann::json json = row_json();
  EXPECT_EQ(scenario_of(json).strategy->shard_ranks(), 64);
  json["train"]["optimizer_shard_group"] = 8;
  EXPECT_EQ(scenario_of(json).strategy->shard_ranks(), 8);
  json["train"]["distributed_optimizer"] = false;
  EXPECT_EQ(scenario_of(json).strategy->shard_ranks(), 64);
}

TEST(ValidationRow, FineTuningPacksDocumentsAndMayTrainAdaptersOnly) {
  nlohmann::json json = row_json();
  json["train"]["task"] = "sft";
  EXPECT_EQ(scenario_of(json).strategy->task, Task::sft);
  EXPECT_EQ(scenario_of(json).strategy->packed_length, 3277);
  json["train"]["task"] = "lora";
  EXPECT_EQ(scenario_of(json).strategy->task, Task::lora);
  EXPECT_EQ(scenario_of(json).strategy->lora_rank, 8);
  json["train"]["task"] = "dpo";
  const auto refused = read(json);
  ASSERT_TRUE(std::holds_alternative<Refusal>(refused));
  EXPECT_EQ(std::get<Refusal>(refused).reason, "training task \"dpo\" is not modelled");
}

TEST(ValidationRow, WaysToShardParametersAreTakenAsTheyAreCalled) {
  nlohmann::json json = row_json();
  json["train"]["fsdp"] = "full";
  EXPECT_EQ(scenario_of(json).strategy->sharding, Sharding::full);
  EXPECT_TRUE(scenario_of(json).strategy->reshard_after_forward);
  EXPECT_EQ(scenario_of(json).strategy->shard_ranks(), 64);
  json["train"]["fsdp"] = "grad_op";
  EXPECT_EQ(scenario_of(json).strategy->sharding, Sharding::full);
  EXPECT_FALSE(scenario_of(json).strategy->reshard_after_forward);
  json["train"]["fsdp"] = "hsdp";
  EXPECT_EQ(scenario_of(json).strategy->shard_ranks(), 8);
}

TEST(ValidationRow, WaysToRecomputeAreTakenAsTheyAreCalled) {
  nlohmann::json json = row_json();
  json["train"]["recompute"] = "half";
  EXPECT_EQ(scenario_of(json).strategy->recompute, Recompute::full);
  EXPECT_EQ(scenario_of(json).strategy->recompute_layers, 16);
  json["train"]["recompute"] = "sac";
  EXPECT_EQ(scenario_of(json).strategy->recompute, Recompute::alternate);
  json["train"]["recompute"] = "modules";
  json["train"]["recompute_modules"] = {"mlp", "core_attn"};
  EXPECT_EQ(scenario_of(json).strategy->recompute_modules.size(), 2U);
  json["train"]["recompute"] = "some";
  const auto refused = read(json);
  ASSERT_TRUE(std::holds_alternative<Refusal>(refused));
  EXPECT_EQ(std::get<Refusal>(refused).reason, "recomputation of \"some\" is not modelled");
}

TEST(ValidationRow, AProfileOfItsAcceleratorTakesThePlaceOfTheOneThatShips) {
  const Scenario shipped = scenario_of(row_json());
  EXPECT_EQ(shipped.profile->name, "h100_sxm");
  Profile own = *shipped.profile;
  own.name = "here";
  own.variation.device_speed.value = 0.5;
  Profile other = own;
  other.accelerator = "a100-sxm-80gb";
  const Profiles given = {std::make_shared<const Profile>(other),
                          std::make_shared<const Profile>(own)};
  const auto outcome = read(row_json(), given);
  EXPECT_EQ(std::get<Scenario>(outcome).profile, given.back());
  EXPECT_EQ(std::get<Scenario>(outcome).perturbation.device_spread, 0.5);

  own.kernel_families.clear();
  const auto refused = read(row_json(), {std::make_shared<const Profile>(own)});
  EXPECT_EQ(std::get<Refusal>(refused).reason, "here has no kernel family fused");
}

TEST(ValidationRow, RecipesOfOneGenerationAreRefusedOnAnother) {
  nlohmann::json json = row_json();
  json["train"]["precision"] = "fp8cs";
  const Scenario scenario = scenario_of(json);
  EXPECT_EQ(scenario.strategy->precision, Precision::fp8);
  EXPECT_EQ(scenario.strategy->scaling, Scaling::current);
  json["train"]["precision"] = "mxfp8";
  const auto refused = read(json);
  ASSERT_TRUE(std::holds_alternative<Refusal>(refused));
  EXPECT_EQ(std::get<Refusal>(refused).reason, "h100_sxm has no costs of mxfp8");
}

nlohmann::json row_of_recipe() {
  nlohmann::json json = row_json();
  json["framework"] = "megatron-bridge";
  json["release"] = "25.11";
  json["model"]["name"] = "Qwen3_30B_a3B";
  json["train"]["cuda_graph"] = "transformer_engine";
  return json;
}

TEST(ValidationRow, AGraphModeThatTheRowOnlyAssumesGivesWayToTheRecipe) {
  nlohmann::json json = row_of_recipe();
  EXPECT_EQ(scenario_of(json).strategy->cuda_graph, CudaGraph::layer);
  json["defaults_used"] = {"CUDA-graph mode transformer_engine taken from the sibling release"};
  EXPECT_EQ(scenario_of(json).strategy->cuda_graph, CudaGraph::none);
  json["release"] = "26.02";  // whose recipe is not known
  EXPECT_EQ(scenario_of(json).strategy->cuda_graph, CudaGraph::layer);
}

TEST(ValidationRow, Qwen3HasNormsOfQueriesAndKeys) {
  nlohmann::json json = row_json();
  const auto has_norms = [&] {
    return std::ranges::count(scenario_of(json).model.layer(0).passes, "query_key_norms",
                              &MemoryPass::name) == 1;
  };
  EXPECT_FALSE(has_norms());
  json["model"]["name"] = "Qwen3-235B";
  EXPECT_TRUE(has_norms());
}

TEST(ValidationRow, TheRecipeNamesADispatcherThatTheRowLeavesOpen) {
  nlohmann::json json = row_of_recipe();
  json["model"]["name"] = "DeepSeekV3 (dropless)";
  json["model"]["moe"] = {{"experts", 64}, {"topk", 8}, {"moe_ffn", 2048}};
  json["train"]["ep"] = 64;
  const Strategy open = *scenario_of(json).strategy;
  EXPECT_EQ(open.expert_dispatch, ExpertDispatch::deduplicated);
  EXPECT_TRUE(open.overlap_expert_exchange);
  json["train"]["moe_dispatcher"] = "alltoall";
  const Strategy said = *scenario_of(json).strategy;
  EXPECT_EQ(said.expert_dispatch, ExpertDispatch::all_to_all);
  EXPECT_FALSE(said.overlap_expert_exchange);
}

TEST(ValidationRow, WithoutItsChoicesAJobIsAsItsPresetHasIt) {
  nlohmann::json json = row_of_recipe();
  json["model"]["moe"] = {{"experts", 64}, {"topk", 8}, {"moe_ffn", 2048}};
  json["train"].update(
      {{"ep", 8}, {"recompute", "full"}, {"cuda_graph", "full_iteration"}, {"precision", "fp8cs"}});
  json["train"]["moe_dispatcher"] = "alltoall";
  const Strategy all = *scenario_of(json).strategy;
  EXPECT_EQ(all.recompute, Recompute::full);
  EXPECT_EQ(all.cuda_graph, CudaGraph::full);
  EXPECT_EQ(all.expert_dispatch, ExpertDispatch::all_to_all);
  const auto outcome = read(json, {}, RowDetail::no_choices);
  ASSERT_TRUE(std::holds_alternative<Scenario>(outcome));
  const Strategy& strategy = *std::get<Scenario>(outcome).strategy;
  EXPECT_EQ(strategy.recompute, Recompute::none);
  EXPECT_EQ(strategy.cuda_graph, CudaGraph::layer);  // "when_experts" of megatron-bridge
  EXPECT_EQ(strategy.expert_dispatch, ExpertDispatch::deduplicated);
  EXPECT_TRUE(strategy.overlap_expert_exchange);
  EXPECT_EQ(strategy.expert_parallel, 8);
  EXPECT_EQ(strategy.data_parallel, 64);
  EXPECT_EQ(strategy.global_batch, 128);
  EXPECT_EQ(strategy.precision, Precision::fp8);
}

}  // namespace
}  // namespace headway
