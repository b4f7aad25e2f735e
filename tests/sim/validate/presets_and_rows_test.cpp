#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/files/input_files.h"
#include "sim/jobs/frameworks.h"
#include "sim/jobs/memory.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/read_strategy.h"
#include "sim/programs/closed_form.h"
#include "sim/validate/published_steps.h"
#include "sim/validate/validation_row.h"
#include "tests/support/shipped_profile.h"

namespace headway {
namespace {

/// The first published row of a dense model of a framework and release.
struct Found {
  PublishedRow row;
  Scenario scenario;
};
Found first_row(const std::vector<PublishedRow>& rows, const std::string& framework,
                const std::string& release) {
  for (const PublishedRow& row : rows) {
    if (row.head.framework != framework || row.release != release) continue;
    if (row.head.kind != "dense") continue;
    std::vector<std::string> assumed;
    auto outcome = scenario_of_row(row, {}, assumed);
    if (auto* scenario = std::get_if<Scenario>(&outcome)) return {row, std::move(*scenario)};
  }
  ADD_FAILURE() << "no row of " << framework << " " << release;
  return {};
}

/// What a user writes who knows the preset, the degrees and the batches, and nothing of kernels,
/// precisions of gradients and overlap.
Strategy as_user(const Found& found, const std::string& preset, const std::string& said) {
  const Strategy& row = *found.scenario.strategy;
  nlohmann::json strategy = nlohmann::json::parse(said);
  strategy["preset"] = preset;
  strategy["tensor_parallel"] = row.tensor_parallel;
  strategy["context_parallel"] = row.context_parallel;
  strategy["pipeline_parallel"] = row.pipeline_parallel;
  strategy["virtual_stages"] = row.virtual_stages;
  strategy["micro_batch"] = row.micro_batch;
  strategy["global_batch"] = row.global_batch;
  strategy["sequence_parallel"] = row.sequence_parallel;
  strategy["tensor_parallel_overlap"] = row.tensor_parallel_overlap;
  strategy["software_release"] = row.software_release;
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  const JsonCursor document(
      JsonDocument::parse("job", nlohmann::json{{"strategy", strategy}}.dump(), diagnostics));
  const auto model_document = JsonDocument::parse("model", "{}", diagnostics);
  const ReadModel model{.model = found.scenario.model, .cursor = JsonCursor(model_document)};
  const auto read = read_strategy(*document.member("strategy"), model,
                                  found.scenario.cluster->accelerators(), files);
  for (const Diagnostic& problem : diagnostics.all()) ADD_FAILURE() << problem.message;
  return read ? read->strategy : Strategy{};
}

struct Case {
  std::string framework;
  std::string release;
  std::string preset;
  std::string said;  ///< of the strategy, besides degrees and batches
};

TEST(PresetsAndRows, TheSameJobTakesTheSameTimeAndMemory) {
  const std::vector<Case> cases = {
      {"nemo", "25.02", "nemo", "{}"},
      {"megatron-2021", "2021", "megatron-2021", R"({"recompute": "full", "zero_stage": 0})"},
      {"megatron-deepspeed", "2022-02 late", "megatron-deepspeed", R"({"precision": "fp16"})"},
      {"composer-fsdp", "2024", "composer-fsdp", R"({"recompute": "full"})"},
      {"fms-fsdp", "2024", "fms-fsdp", "{}"},
      {"torchtitan", "compile", "torchtitan-2025", "{}"},
      {"maxtext", "25.02", "maxtext", "{}"},
      {"internevo", "2023", "internevo", "{}"},
      {"aleph-alpha", "rms", "aleph-alpha-rms", "{}"},
      {"aleph-alpha", "fa2", "aleph-alpha-fa2", "{}"},
      {"aleph-alpha", "fa1", "aleph-alpha-fa1", "{}"},
  };
  Diagnostics diagnostics;
  const auto rows = asked_rows({kBuiltInSteps}, {}, diagnostics);
  for (const Case& each : cases) {
    SCOPED_TRACE(each.preset);
    const Found found = first_row(rows, each.framework, each.release);
    const Scenario& scenario = found.scenario;
    // What the row says of the layout in so many words, a user would too.
    Strategy user = as_user(found, each.preset, each.said);
    user.recompute = scenario.strategy->recompute;
    user.sharding = scenario.strategy->sharding;
    user.reshard_after_forward = scenario.strategy->reshard_after_forward;
    user.shard_group = scenario.strategy->shard_group;
    user.fused_attention = scenario.strategy->fused_attention;
    user.cuda_graph = scenario.strategy->cuda_graph;
    user.layer_placement = scenario.strategy->layer_placement;
    user.precision = scenario.strategy->precision;
    user.scaling = scenario.strategy->scaling;
    const auto time = [&](const Strategy& strategy) {
      return closed_form_iteration(scenario.model, strategy, *scenario.profile, *scenario.cluster,
                                   scenario.placement, scenario.perturbation)
          .count();
    };
    EXPECT_EQ(time(user), time(*scenario.strategy));
    const auto of_user = stage_memory(scenario.model, user);
    const auto of_row = stage_memory(scenario.model, *scenario.strategy);
    ASSERT_EQ(of_user.size(), of_row.size());
    for (std::size_t stage = 0; stage < of_row.size(); ++stage) {
      EXPECT_EQ(of_user[stage].total(), of_row[stage].total());
    }
  }
}

TEST(PresetsAndRows, EveryPresetNamesItsKernels) {
  const std::shared_ptr<const Profile> profile = shipped("h100_sxm");
  for (const Framework& framework : frameworks()) {
    EXPECT_TRUE(profile->kernel_families.contains(framework.strategy.kernel_family))
        << framework.name;
  }
}

}  // namespace
}  // namespace headway
