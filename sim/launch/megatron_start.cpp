#include "sim/launch/megatron_start.h"

#include "sim/launch/megatron_refusals.h"

namespace headway {

void leave_out_what_megatron_refuses(const Model& model, Strategy& strategy) {
  const MegatronSettings settings{.recomputes_all = strategy.recompute == Recompute::full,
                                  .overlaps_gradient_reduce = strategy.overlap_gradient_reduce,
                                  .stages = strategy.pipeline_parallel,
                                  .chunks = strategy.virtual_stages,
                                  .captures_graphs = strategy.cuda_graph != CudaGraph::none,
                                  .offloads_all = strategy.offload_layers == model.layer_count()};
  const auto refuses = [&](std::string_view field) { return megatron_refuses(field, settings); };
  if (refuses("overlap_parameter_gather")) strategy.overlap_parameter_gather = false;
  if (refuses("overlap_expert_exchange")) strategy.overlap_expert_exchange = false;
  if (refuses("overlap_pipeline_transfers")) strategy.overlap_pipeline_transfers = true;
  if (refuses("cuda_graph")) strategy.cuda_graph = CudaGraph::none;
  if (refuses("offload_layers")) strategy.offload_layers = 0;
}

}  // namespace headway
