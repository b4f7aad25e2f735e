#pragma once

#include <string_view>

#include "sim/jobs/strategy.h"
#include "sim/models/operators.h"
#include "sim/models/transformer.h"

namespace headway {

// Low-rank adapters (LoRA; Hu et al. 2021, arXiv:2106.09685, section 4.1): beside a frozen matrix
// [k x n] stand A [k x r] and B [r x n]; the layer gives x W + (x A) B. Tensor-parallel ranks hold
// 1/t of both, as NeMo's ParallelLinearAdapter cuts them; what it exchanges of the r-wide
// intermediate result is not modelled. Adapters and their states stay in 16 and 32 bits.

/// As operators.h names it: "qkv", "projection", "fc1" or "fc2".
[[nodiscard]] std::string_view adapter_target_name(AdapterTarget target);

[[nodiscard]] bool trains_adapters(const Strategy& strategy);
[[nodiscard]] bool has_adapter(const Strategy& strategy, AdapterTarget target);

/// Parameters of one layer's adapters on one rank: r (k + n) / t for each target; 0 without any.
[[nodiscard]] double adapter_parameters_per_rank(const TransformerModel& model,
                                                 const Strategy& strategy);

/// A layer of which only adapters are trained: its products have no weight gradient, each target
/// has two products and a sum beside it.
[[nodiscard]] Operators adapted(Operators layer, const Strategy& strategy);

/// Operators of which nothing is trained.
[[nodiscard]] Operators frozen(Operators operators);

}  // namespace headway
