#include "sim/jobs/rank_shape_of.h"

#include <algorithm>

namespace headway {
namespace {

/// Whether what products take can be quantised before others gather it.
bool is_quantised_before_gathers(const Strategy& strategy) {
  return has_quantised_inputs(strategy) && !trains_adapters(strategy);
}

}  // namespace

RankShape rank_shape_of(const Strategy& strategy) {
  const double element = working_bytes_per_element(strategy.precision);
  const double quantised = std::min(element, bytes_per_element(strategy.precision));
  RankShape shape{
      .micro_batch = static_cast<double>(strategy.micro_batch),
      .sequence_length = static_cast<double>(strategy.sequence_length),
      .packed_length = static_cast<double>(strategy.packed_length),
      .tensor_parallel = static_cast<double>(strategy.tensor_parallel),
      .context_parallel = static_cast<double>(strategy.context_parallel),
      .scattered_heads = strategy.context_parallel_method == ContextParallelMethod::all_to_all,
      .sequence_parallel = strategy.sequence_parallel,
      .split_messages = strategy.sequence_parallel || strategy.split_stage_transfers,
      .expert_parallel = static_cast<double>(strategy.expert_parallel),
      .expert_tensor_parallel = static_cast<double>(strategy.expert_tensor_parallel),
      .expert_capacity = strategy.expert_capacity_factor,
      .expert_masks = strategy.expert_masks,
      .expert_imbalance = strategy.expert_imbalance,
      .tables = strategy.tables,
      .table_ranks = static_cast<double>(strategy.data_parallel),
      .fused_attention = strategy.fused_attention,
      .fused_normalization = strategy.fused_normalization,
      .fused_activation = strategy.fused_activation,
      .fused_operators = strategy.fused_operators,
      .fused_softmax = strategy.memory.fused_softmax,
      .copied_attention = strategy.memory.copied_attention_output,
      .gathered_inputs = strategy.memory.gathered_inputs,
      .framework_images = strategy.image_kernels == ImageKernels::framework,
      .wide_residuals = strategy.memory.wide_residuals,
      .expert_precision =
          bytes_per_element(strategy.precision) == 2.0 ? strategy.expert_precision : std::nullopt,
      .element_bytes = element,
      .product_bytes = quantised,
      .gathered_bytes = strategy.quantised_tensor_gathers && can_gather_quantised(strategy)
                            ? bytes_per_element(strategy.scaling)
                            : element,
      .whole_loss = !strategy.vocabulary_parallel_loss,
      .activation_input_bytes = strategy.memory.quantised_activation_input ? quantised : element};
  if (trains_adapters(strategy)) {
    shape.frozen = true;
    shape.adapters = strategy.lora_targets;
    shape.wide_adapters = strategy.lora_precision == Precision::fp32 && element < 4.0;
  }
  return shape;
}

bool has_quantised_inputs(const Strategy& strategy) {
  return bytes_per_element(strategy.precision) < working_bytes_per_element(strategy.precision) &&
         strategy.scaling != Scaling::rowwise;
}

bool can_gather_quantised(const Strategy& strategy) {
  return strategy.sequence_parallel && strategy.tensor_parallel > 1 &&
         is_quantised_before_gathers(strategy);
}

bool can_gather_quantised_parameters(const Strategy& strategy) {
  return strategy.sharding != Sharding::none && is_quantised_before_gathers(strategy);
}

double gathered_parameter_bytes(const Strategy& strategy) {
  return strategy.quantised_parameter_gathers && can_gather_quantised_parameters(strategy)
             ? bytes_per_element(strategy.scaling)
             : working_bytes_per_element(strategy.precision);
}

double working_bytes_per_element(Precision precision) {
  return std::max(bytes_per_element(precision), 2.0);
}

bool trains_adapters(const Strategy& strategy) { return strategy.task == Task::lora; }

double adapter_rank(const Strategy& strategy) {
  return trains_adapters(strategy) ? strategy.lora_rank : 0.0;
}

}  // namespace headway
