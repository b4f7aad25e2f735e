// What Megatron-LM exits on beside the rest is said, not told.
#include "sim/launch/megatron_refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/sim/launch/jobs_to_launch.h"

namespace headway {
namespace {

using testing::Contains;
using testing::Not;

// validate_args: "Must use --overlap-param-gather with --overlap-grad-reduce".
TEST(MegatronRefusals, AreNotTold) {
  const FlagList late = megatron_flags(8, {{"overlap_gradient_reduce", false}});
  EXPECT_THAT(late.settings, Contains("--use-distributed-optimizer"));
  EXPECT_THAT(late.settings, Not(Contains("--overlap-param-gather")));
  EXPECT_THAT(words_of(late.unsaid),
              Contains("overlap_parameter_gather true beside overlap_gradient_reduce false"));
  // "... and p2p communication overlap is disabled, pipeline-model-parallel size should be greater
  // than 2"
  const FlagList two = megatron_flags(
      8, {{"pipeline_parallel", 2}, {"virtual_stages", 2}, {"overlap_pipeline_transfers", false}});
  EXPECT_THAT(two.settings, Not(Contains("--no-overlap-p2p-communication")));
  EXPECT_THAT(words_of(two.unsaid),
              Contains("overlap_pipeline_transfers false beside two interleaved stages"));
}

// TransformerConfig: "disable full recomputation when enabling overlap_moe_expert_parallel_comm",
// and with a pipeline "virtual_pipeline_model_parallel_size must be specified".
TEST(MegatronRefusals, ExpertsOverlapBetweenChunksThatAreNotComputedAgain) {
  const auto job = [](std::vector<Override> more) {
    more.emplace_back("/strategy/overlap_expert_exchange", "true");
    return launch_job(shipped_scenario("qwen3_235b_a22b_256", std::move(more)),
                      LaunchFramework::megatron);
  };
  constexpr const char* kFlag = "--overlap-moe-expert-parallel-comm";
  const Override chunks{"/strategy/virtual_stages", "2"};
  const Override nothing_again{"/strategy/recompute", "none"};
  const Override all_again{"/strategy/recompute", "full"};
  EXPECT_THAT(job({chunks, nothing_again}).flags.settings, Contains(kFlag));
  EXPECT_THAT(job({chunks, all_again}).flags.settings, Not(Contains(kFlag)));
  EXPECT_THAT(words_of(job({chunks, all_again}).flags.unsaid),
              Contains("overlap_expert_exchange true beside recompute full"));
  EXPECT_THAT(job({{"/strategy/virtual_stages", "1"}, nothing_again}).flags.settings,
              Not(Contains(kFlag)));
}

// TransformerConfig: "Currently there is no support for Pipeline parallelism with CPU offloading",
// "CUDA graphs not supported with CPU offloading", "... only for layers less than".
TEST(MegatronRefusals, LayersAreOffloadedWithoutPipelinesAndGraphs) {
  constexpr const char* kFlag = "--cpu-offloading-num-layers 2";
  const FlagList alone = megatron_flags(8, {{"offload_layers", 2}});
  EXPECT_THAT(alone.settings, Contains(kFlag));
  const FlagList stages = megatron_flags(8, {{"offload_layers", 2}, {"pipeline_parallel", 2}});
  EXPECT_THAT(stages.settings, Not(Contains(kFlag)));
  EXPECT_THAT(words_of(stages.unsaid), Contains("offload_layers 2 beside a pipeline"));
  const FlagList graphs = megatron_flags(8, {{"offload_layers", 2}, {"cuda_graph", "layer"}});
  EXPECT_THAT(graphs.settings, Not(Contains(kFlag)));
  EXPECT_THAT(words_of(graphs.unsaid), Contains("offload_layers 2 beside CUDA graphs"));
  const FlagList all = megatron_flags(2, {{"offload_layers", 2}});
  EXPECT_THAT(all.settings, Not(Contains(kFlag)));
  EXPECT_THAT(words_of(all.unsaid),
              Contains("offload_layers 2 beside no layer that keeps its activations"));
}

}  // namespace
}  // namespace headway
