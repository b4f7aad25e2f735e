#include "sim/programs/stage_costs/rank_work.h"

#include <utility>

#include "sim/jobs/adapters.h"

namespace headway {

ShardShape shard_of(const Strategy& strategy) {
  return {.micro_batch = static_cast<double>(strategy.micro_batch),
          .sequence_length = static_cast<double>(strategy.sequence_length),
          .packed_length = static_cast<double>(strategy.packed_length),
          .tensor_parallel = static_cast<double>(strategy.tensor_parallel),
          .context_parallel = static_cast<double>(strategy.context_parallel),
          .scattered_heads = strategy.context_parallel_method == ContextParallelMethod::all_to_all,
          .sequence_parallel = strategy.sequence_parallel,
          .fused_attention = strategy.fused_attention,
          .expert_parallel = static_cast<double>(strategy.expert_parallel),
          .expert_tensor_parallel = static_cast<double>(strategy.expert_tensor_parallel),
          .expert_capacity = strategy.expert_capacity_factor,
          .expert_imbalance = strategy.expert_imbalance};
}

Precision wide_precision(Precision precision) {
  return bytes_per_element(precision) < 2.0 ? Precision::bf16 : precision;
}

Operators layer_work(const TransformerModel& model, const Strategy& strategy, LayerKind kind) {
  Operators work = layer_operators(model, shard_of(strategy), kind);
  return trains_adapters(strategy) ? adapted(std::move(work), strategy) : work;
}

Operators head_work(const TransformerModel& model, const Strategy& strategy) {
  Operators work = head_operators(model, shard_of(strategy));
  return trains_adapters(strategy) ? frozen(std::move(work)) : work;
}

LinearProducts linear_products(const GemmShape& forward) {
  const auto [m, n, k] = forward;
  return {{m, n, k}, {m, k, n}, {n, k, m}};
}

}  // namespace headway
