#include "sim/jobs/read_strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "sim/jobs/frameworks.h"
#include "sim/jobs/memory.h"
#include "tests/sim/jobs/sample_models.h"
#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kGpt3;
using testing::kLlama3;
using testing::read_strategy_text;
using testing::StrategyReading;

Strategy strategy_of(const char* model, const std::string& fields,
                     std::optional<int> accelerators = std::nullopt) {
  const StrategyReading reading = read_strategy_text(model, fields, accelerators);
  EXPECT_EQ(reading.problems, "");
  return reading.read ? reading.read->strategy : Strategy{};
}

TEST(ReadStrategy, TakesEveryField) {
  const Strategy strategy = strategy_of(kLlama3, R"(
    "tensor_parallel": 4, "context_parallel": 2, "pipeline_parallel": 4, "data_parallel": 8,
    "virtual_stages": 2, "schedule": "1f1b", "layer_placement": "embedding_and_loss_as_layers",
    "micro_batch": 2, "global_batch": 256, "sequence_length": 4096,
    "sequence_parallel": true, "tensor_parallel_overlap": true, "attention": "unfused",
    "fused_normalization": false, "fused_activation": false, "fused_operators": false,
    "vocabulary_parallel_loss": false, "fused_loss": true, "recompute": "full", "zero_stage": 1, "overlap_gradient_reduce": false,
    "overlap_parameter_gather": false, "gradient_bucket": "40 MB",
    "overlap_pipeline_transfers": false, "precision": "fp8", "gradient_precision": "bf16",
    "kernel_family": "te", "preset": "none")");
  EXPECT_EQ(strategy.tensor_parallel, 4);
  EXPECT_EQ(strategy.context_parallel, 2);
  EXPECT_EQ(strategy.pipeline_parallel, 4);
  EXPECT_EQ(strategy.data_parallel, 8);
  EXPECT_EQ(strategy.virtual_stages, 2);
  EXPECT_EQ(strategy.schedule, schedule_named("1f1b"));
  EXPECT_EQ(strategy.layer_placement, LayerPlacement::embedding_and_loss_as_layers);
  EXPECT_EQ(strategy.micro_batch, 2);
  EXPECT_EQ(strategy.global_batch, 256);
  EXPECT_EQ(strategy.sequence_length, 4096);
  EXPECT_TRUE(strategy.sequence_parallel);
  EXPECT_TRUE(strategy.tensor_parallel_overlap);
  EXPECT_FALSE(strategy.fused_attention);
  EXPECT_FALSE(strategy.fused_normalization);
  EXPECT_FALSE(strategy.fused_activation);
  EXPECT_FALSE(strategy.fused_operators);
  EXPECT_FALSE(strategy.vocabulary_parallel_loss);
  EXPECT_TRUE(strategy.fused_loss);
  EXPECT_EQ(strategy.recompute, Recompute::full);
  EXPECT_EQ(strategy.sharding, Sharding::optimizer);
  EXPECT_FALSE(strategy.overlap_gradient_reduce);
  EXPECT_FALSE(strategy.overlap_parameter_gather);
  EXPECT_EQ(strategy.gradient_bucket, 40_MB);
  EXPECT_FALSE(strategy.overlap_pipeline_transfers);
  EXPECT_EQ(strategy.precision, Precision::fp8);
  EXPECT_EQ(strategy.gradient_precision, Precision::bf16);
  EXPECT_EQ(strategy.kernel_family, "te");
  EXPECT_EQ(strategy.micro_batches(), 16);
  EXPECT_EQ(strategy.ranks(), 256);
}

TEST(ReadStrategy, NeedsTheGlobalBatchOnly) {
  const Strategy strategy = strategy_of(kLlama3, R"("global_batch": 8)");
  EXPECT_EQ(strategy.ranks(), 1);
  EXPECT_EQ(strategy.micro_batch, 1);
  EXPECT_EQ(strategy.sequence_length, 8192);  // the model's
  EXPECT_EQ(strategy.precision, Precision::bf16);
  EXPECT_FALSE(strategy.overlap_parameter_gather);    // nothing is gathered
  EXPECT_FALSE(strategy.overlap_pipeline_transfers);  // nothing is interleaved
}

TEST(ReadStrategy, ScoresWithABiasAreFusedOnlyWhereThatIsSaid) {
  constexpr const char* kT5 = R"("model": {
    "family": "t5", "layers": 12, "hidden": 768, "attention_heads": 12, "ffn_hidden": 3072,
    "vocabulary": 32128})";
  const auto fused = [&](const std::string& fields) {
    const auto reading = read_strategy_text(kT5, fields + R"("global_batch": 8)");
    return reading.read.has_value() && reading.read->strategy.fused_attention;
  };
  EXPECT_FALSE(fused(""));
  EXPECT_FALSE(fused(R"("preset": "pytorch-ddp", )"));
  EXPECT_TRUE(fused(R"("attention": "flash", )"));
}

TEST(ReadStrategy, DataParallelIsWhatTheOtherDegreesLeave) {
  const Strategy strategy = strategy_of(
      kGpt3, R"("tensor_parallel": 8, "pipeline_parallel": 16, "global_batch": 1536)", 1024);
  EXPECT_EQ(strategy.data_parallel, 8);
}

TEST(ReadStrategy, OverlapsTransfersOfInterleavedStages) {
  EXPECT_TRUE(strategy_of(kGpt3, R"("pipeline_parallel": 8, "virtual_stages": 3,
                                    "global_batch": 64)")
                  .overlap_pipeline_transfers);
}

TEST(ReadStrategy, ResolvesToEveryFieldAndReadsBack) {
  const StrategyReading reading = read_strategy_text(
      kLlama3, R"("preset": "megatron", "tensor_parallel": 2, "global_batch": 128)", 16);
  ASSERT_TRUE(reading.read);
  const nlohmann::json& resolved = reading.read->resolved;
  EXPECT_EQ(resolved, nlohmann::json::parse(R"({
    "preset": "megatron",
    "tensor_parallel": 2, "context_parallel": 1, "pipeline_parallel": 1, "data_parallel": 8,
    "context_parallel_method": "ring",
    "virtual_stages": 1, "schedule": "1f1b", "layer_placement": "even",
    "micro_batch": 1, "global_batch": 128, "micro_batches_by_speed": false,
    "sequence_length": 8192, "packed_length": 8192, "task": "pretrain",
    "sequence_parallel": true, "tensor_parallel_overlap": false,
    "overlap_tensor_parallel_backward": true, "attention": "flash",
    "fused_normalization": true, "fused_activation": true, "fused_operators": true,
    "vocabulary_parallel_loss": true, "fused_loss": false, "recompute": "none", "offload_layers": 0, "optimizer": "adam",
    "zero_stage": 1, "optimizer_offload": 0.0, "overlap_gradient_reduce": true,
    "overlap_parameter_gather": true, "gradient_bucket": "160 MB", "gradient_cycle": "0 s",
    "overlap_pipeline_transfers": false, "precision": "bf16", "gradient_precision": "fp32",
    "collective_library": "profile", "kernel_family": "fused", "software_release": "",
    "cuda_graph": "none", "image_kernels": "library",
    "expert_parallel": 1, "expert_tensor_parallel": 1, "expert_dispatch": "all_to_all",
    "overlap_expert_exchange": false, "expert_imbalance": 1.0,
    "memory": {
      "quantised_weights": false, "quantised_copies": 2, "quantised_activation_input": false,
      "gathered_inputs": false, "copied_attention_output": false, "previous_logits": false,
      "fused_softmax": true, "wide_residuals": false, "communicators": 0,
      "flattened_gradients": false, "standing_buckets": false, "freed_gradients": false,
      "offloaded_gradients": false, "allocator_reserve": 0.15}})"));
}

TEST(ReadStrategy, OffloadingTheOptimizerMayOverlap) {
  const Strategy plain = strategy_of(kLlama3, R"("optimizer_offload": 0.5, "global_batch": 8)");
  EXPECT_EQ(plain.optimizer_offload, 0.5);
  EXPECT_FALSE(plain.overlap_optimizer_offload);
  const Strategy overlapped = strategy_of(
      kLlama3, R"("optimizer_offload": 1, "overlap_optimizer_offload": true, "global_batch": 8)");
  EXPECT_EQ(overlapped.optimizer_offload, 1.0);
  EXPECT_TRUE(overlapped.overlap_optimizer_offload);
}

TEST(ReadStrategy, RecomputationNamesItsLayersOrModules) {
  const Strategy layers =
      strategy_of(kLlama3, R"("recompute": "full", "recompute_layers": 4, "global_batch": 8)");
  EXPECT_EQ(layers.recompute_layers, 4);
  const Strategy modules = strategy_of(
      kLlama3,
      R"("recompute": "modules", "recompute_modules": ["layernorm", "mlp"], "global_batch": 8)");
  EXPECT_THAT(modules.recompute_modules,
              ::testing::ElementsAre(RecomputePart::layernorm, RecomputePart::mlp));
}

TEST(ReadStrategy, LayersOfStagesReadBackAsTheyWereNamed) {
  const StrategyReading first = read_strategy_text(
      kLlama3, R"("pipeline_parallel": 2, "layers_per_stage": [15, 17], "global_batch": 8)", 2);
  EXPECT_EQ(first.problems, "");
  ASSERT_TRUE(first.read);
  EXPECT_THAT(first.read->strategy.layers_per_stage, ::testing::ElementsAre(15, 17));
  const std::string text = first.read->resolved->dump();
  const StrategyReading second = read_strategy_text(kLlama3, text.substr(1, text.size() - 2), 2);
  EXPECT_EQ(second.problems, "");
  ASSERT_TRUE(second.read);
  EXPECT_EQ(second.read->resolved, first.read->resolved);
}

TEST(ReadStrategy, APrecisionNamesItsRecipe) {
  const auto recipe = [](const std::string& word) {
    const Strategy strategy =
        strategy_of(kLlama3, R"("global_batch": 8, "precision": ")" + word + "\"");
    return std::pair(strategy.precision, strategy.scaling);
  };
  EXPECT_EQ(recipe("fp8"), std::pair(Precision::fp8, Scaling::delayed));
  EXPECT_EQ(recipe("fp8_current"), std::pair(Precision::fp8, Scaling::current));
  EXPECT_EQ(recipe("fp8_rowwise"), std::pair(Precision::fp8, Scaling::rowwise));
  EXPECT_EQ(recipe("fp8_blockwise"), std::pair(Precision::fp8, Scaling::blockwise));
  EXPECT_EQ(recipe("mxfp8"), std::pair(Precision::fp8, Scaling::mxfp8));
  EXPECT_EQ(recipe("nvfp4"), std::pair(Precision::fp4, Scaling::nvfp4));
}

/// Fields of a strategy with values that often fit together.
std::string random_fields(std::mt19937& random) {
  const auto pick = [&](const std::vector<std::string>& values) {
    return values[random() % values.size()];
  };
  const std::vector<std::string> degrees = {"1", "1", "2", "4", "8", "3"};
  const std::vector<std::string> flags = {"true", "false"};
  std::string fields = "\"global_batch\": " + pick({"64", "192", "768"});
  const auto add = [&](const std::string& field, const std::vector<std::string>& values) {
    if (random() % 3 != 0) fields += ", \"" + field + "\": " + pick(values);
  };
  add("tensor_parallel", degrees);
  add("context_parallel", degrees);
  add("pipeline_parallel", degrees);
  add("data_parallel", {"1", "2", "4", "16"});
  add("virtual_stages", {"1", "2", "4"});
  add("micro_batch", {"1", "2"});
  add("schedule", {"\"1f1b\"", "\"1f1b\"", "\"gpipe\"", "\"zb_h1\"", "\"zb_v\"", "\"dualpipe\""});
  add("layer_placement", {"\"even\"", "\"embedding_and_loss_as_layers\""});
  add("sequence_parallel", flags);
  add("recompute", {"\"none\"", "\"selective\"", "\"every_second_product\"", "\"full\""});
  add("attention", {"\"flash\"", "\"unfused\""});
  add("zero_stage", {"0", "1", "2", "3"});
  add("vocabulary_parallel_loss", flags);
  add("fused_loss", flags);
  add("task", {"\"pretrain\"", "\"sft\"", "\"lora\""});
  add("preset", {"\"none\"", "\"megatron\"", "\"pytorch-fsdp\"", "\"gpipe\""});
  return fields;
}

TEST(ReadStrategy, AcceptsOnlyWhatTheRestOfTheLayerCanWorkWith) {
  constexpr unsigned kSeed = 20261120;
  std::mt19937 random(kSeed);
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string fields = random_fields(random);
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", case " << i << ": " << fields);
    const StrategyReading reading = read_strategy_text(kLlama3, fields, 64);
    EXPECT_NE(reading.read.has_value(), reading.problems.find("error:") != std::string::npos);
    if (!reading.read) continue;
    ++accepted;
    const nlohmann::json& resolved = reading.read->resolved;
    nlohmann::json written = {{"preset", resolved.at("preset")}, {"lora_rank", "of another job"}};
    write_strategy(reading.read->strategy, testing::llama(32, 4096, 32, 8, 14'336), written);
    EXPECT_EQ(written, resolved);
    const Strategy& strategy = reading.read->strategy;
    EXPECT_EQ(strategy.ranks(), 64);
    const Model model = testing::llama(32, 4096, 32, 8, 14'336);
    const std::vector<StageMemory> stages = stage_memory(model, strategy);
    EXPECT_EQ(stages.size(), static_cast<std::size_t>(strategy.pipeline_parallel));
    for (const StageMemory& stage : stages) EXPECT_GT(stage.activations, Bytes(0.0));
    EXPECT_GE(stages.front().total(), stages.front().parameters);
  }
  EXPECT_GT(accepted, 100);
}

TEST(Presets, ReadBackFromWhatTheyResolveTo) {
  for (const Framework& preset : frameworks()) {
    SCOPED_TRACE(preset.name);
    for (const char* split : {R"("tensor_parallel": 2, "data_parallel": 4)",
                              R"("tensor_parallel": 1, "data_parallel": 8)"}) {
      const StrategyReading first = read_strategy_text(
          kGpt3, "\"preset\": \"" + preset.name + "\", \"global_batch\": 64, " + split, 8);
      const bool is_cut = std::string_view(split).find("\"tensor_parallel\": 2") == 0;
      if (is_cut && !first.read) {
        EXPECT_THAT(first.problems,
                    ::testing::HasSubstr("a worker of parameter servers holds the whole"));
        continue;
      }
      EXPECT_EQ(first.problems, "");
      ASSERT_TRUE(first.read);
      const std::string text = first.read->resolved->dump();
      const StrategyReading second = read_strategy_text(kGpt3, text.substr(1, text.size() - 2), 8);
      EXPECT_EQ(second.problems, "");
      ASSERT_TRUE(second.read);
      EXPECT_EQ(second.read->resolved, first.read->resolved);
    }
  }
}

TEST(Presets, SetWhatTheFrameworkDoes) {
  const auto preset = [](const std::string& name) {
    return strategy_of(kGpt3, "\"preset\": \"" + name +
                                  R"(", "tensor_parallel": 8, "data_parallel": 4,
                                     "global_batch": 64)");
  };
  EXPECT_TRUE(preset("megatron").sequence_parallel);
  EXPECT_EQ(preset("megatron").sharding, Sharding::optimizer);
  EXPECT_FALSE(preset("megatron-2021").sequence_parallel);
  EXPECT_EQ(preset("megatron-2021").sharding, Sharding::none);
  EXPECT_FALSE(preset("megatron-2021").overlap_gradient_reduce);
  EXPECT_EQ(preset("megatron-2021").gradient_precision, Precision::fp16);
  EXPECT_EQ(preset("megatron-2021").kernel_family, "megatron-2021");
  EXPECT_FALSE(preset("megatron-2021").fused_attention);
  EXPECT_EQ(preset("megatron-2022").recompute, Recompute::selective);
  EXPECT_EQ(preset("pytorch-ddp").gradient_bucket, 25_MiB);
  EXPECT_EQ(preset("pytorch-fsdp").sharding, Sharding::full);
  EXPECT_TRUE(preset("pytorch-fsdp").overlap_parameter_gather);
  EXPECT_EQ(preset("deepspeed-zero-1").sharding, Sharding::optimizer);
  EXPECT_FALSE(preset("deepspeed-zero-1").overlap_gradient_reduce);
  EXPECT_EQ(preset("gpipe").schedule, schedule_named("gpipe"));
}

TEST(Presets, ReduceInTheFormatThatGoesWithThePrecision) {
  // Megatron-LM raises gradients of bf16 to fp32 by itself, and leaves those of fp16.
  const auto gradients = [](const std::string& precision) {
    return strategy_of(kGpt3, R"("preset": "megatron-2021", "global_batch": 64, "precision": ")" +
                                  precision + "\"")
        .gradient_precision;
  };
  EXPECT_EQ(gradients("fp16"), Precision::fp16);
  EXPECT_EQ(gradients("bf16"), Precision::fp32);
}

TEST(Presets, YieldToExplicitFields) {
  const Strategy strategy = strategy_of(kLlama3, R"("preset": "megatron", "tensor_parallel": 2,
      "sequence_parallel": false, "zero_stage": 0, "global_batch": 8)");
  EXPECT_FALSE(strategy.sequence_parallel);
  EXPECT_EQ(strategy.sharding, Sharding::none);
  EXPECT_FALSE(strategy.overlap_parameter_gather);
  EXPECT_EQ(strategy.gradient_bucket, 160_MB);  // still the preset's
}

// Said again where a strategy is written, or the preset would have its way with it once more.
TEST(Presets, WordsThatTakeOneBackAreWritten) {
  const std::string job = R"("preset": "internevo", "global_batch": 8)";
  const auto resolved = [](const std::string& fields) {
    return read_strategy_text(kLlama3, fields).read->resolved->at("optimizer_shards");
  };
  EXPECT_EQ(resolved(job), "tensors");
  EXPECT_EQ(resolved(job + R"(, "optimizer_shards": "slices")"), "slices");
  const Strategy taken_back = strategy_of(kLlama3, job + R"(, "optimizer_shards": "slices")");
  nlohmann::json written = nlohmann::json::object();
  write_strategy(taken_back, Model{}, written);
  EXPECT_EQ(written.at("optimizer_shards"), "slices");
}

TEST(Presets, CiteTheirSources) {
  for (const Framework& preset : frameworks()) {
    EXPECT_FALSE(preset.about.empty()) << preset.name;
    EXPECT_TRUE(preset.name == "none" || !preset.links.empty()) << preset.name;
  }
}

TEST(ReadStrategy, ProblemsOfAFieldStandWhereItIsSaid) {
  const auto problem_at = [](const std::string& fields, const char* field) {
    const StrategyReading reading = read_strategy_text(kLlama3, "\"global_batch\": 8" + fields, 8);
    EXPECT_EQ(reading.problems, "");
    return reading.read->problem(field, "no such thing");
  };
  EXPECT_EQ(problem_at("", "kernel_family").pointer, "/strategy");
  const std::string preset = R"(, "preset": "pytorch-ddp")";
  const Diagnostic of_preset = problem_at(preset, "kernel_family");
  EXPECT_EQ(of_preset.pointer, "/strategy/preset");
  EXPECT_EQ(of_preset.label, R"(says "kernel_family": "torch-eager")");
  EXPECT_EQ(problem_at(preset, "synchronisation").label, R"(says what "synchronisation" is)");
  const Diagnostic written = problem_at(preset + R"(, "kernel_family": "fused")", "kernel_family");
  EXPECT_EQ(written.pointer, "/strategy/kernel_family");
  EXPECT_EQ(written.label, "");
}

TEST(ReadStrategy, SamplesThatAreNoSequencesHaveNoLength) {
  constexpr const char* kImages =
      R"("model": {"layers": [{"products": [{"outputs": 8, "inputs": 4}]}]})";
  EXPECT_EQ(testing::problems(kImages, R"("global_batch": 8)"), "");
  const std::string said =
      testing::problems(kImages, R"("global_batch": 8, "sequence_length": 512)");
  EXPECT_NE(said.find("error: sequence_length needs a model that reads tokens"), std::string::npos)
      << said;
  EXPECT_EQ(said.find("unknown field"), std::string::npos) << said;
}

}  // namespace
}  // namespace headway
