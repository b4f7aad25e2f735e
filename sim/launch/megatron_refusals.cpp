#include "sim/launch/megatron_refusals.h"

namespace headway {
namespace {

bool recomputes_all(const MegatronSettings& settings) { return settings.recomputes_all; }

constexpr RefusedSetting<MegatronSettings> kRefusals[] = {
    {"--overlap-param-gather", "overlap_parameter_gather", "overlap_gradient_reduce false",
     [](const MegatronSettings& settings) { return !settings.overlaps_gradient_reduce; }},
    {"--overlap-moe-expert-parallel-comm", "overlap_expert_exchange", "recompute full",
     recomputes_all},
    {"--overlap-moe-expert-parallel-comm", "overlap_expert_exchange", "stages of one chunk each",
     [](const MegatronSettings& settings) { return settings.stages > 1 && settings.chunks == 1; }},
    {"--cuda-graph", "cuda_graph", "recompute full", recomputes_all},
    {"--no-overlap-p2p-communication", "overlap_pipeline_transfers", "two interleaved stages",
     [](const MegatronSettings& settings) { return settings.stages == 2 && settings.chunks > 1; }},
    {"--cpu-offloading-num-layers", "offload_layers", "a pipeline",
     [](const MegatronSettings& settings) { return settings.stages > 1; }},
    {"--cpu-offloading-num-layers", "offload_layers", "CUDA graphs",
     [](const MegatronSettings& settings) { return settings.captures_graphs; }},
    {"--cpu-offloading-num-layers", "offload_layers", "no layer that keeps its activations",
     [](const MegatronSettings& settings) { return settings.offloads_all; }},
};

}  // namespace

std::span<const RefusedSetting<MegatronSettings>> megatron_refusals() { return kRefusals; }

}  // namespace headway
