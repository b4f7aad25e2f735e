#pragma once

#include "sim/jobs/strategy.h"
#include "sim/layers/rank_shape.h"

namespace headway {

/// What one rank of the job has of a layer.
[[nodiscard]] RankShape rank_shape_of(const Strategy& strategy);

/// Bytes of an activation or a parameter as the forward pass uses it.
[[nodiscard]] double working_bytes_per_element(Precision precision);

/// Whether products take their inputs in fewer than 16 bits, and these are known before a gather.
[[nodiscard]] bool has_quantised_inputs(const Strategy& strategy);

/// Whether sequence-parallel ranks gather what only products take, in fewer than 16 bits: adapters
/// read it in 16, and a scale a row leaves it to be quantised behind the gather (torchtitan,
/// parallelize.py: enable_float8_tensorwise_tp).
[[nodiscard]] bool can_gather_quantised(const Strategy& strategy);

/// Whether ranks that share out states gather the parameters of layers as products take them, in
/// fewer than 16 bits: a scale a row leaves them to be quantised behind the gather (torchao,
/// Float8LinearConfig), and what is frozen is not updated.
[[nodiscard]] bool can_gather_quantised_parameters(const Strategy& strategy);
/// Bytes in which such ranks gather a parameter of a layer; embedding and head stay in the working
/// format.
[[nodiscard]] double gathered_parameter_bytes(const Strategy& strategy);

/// Whether low-rank adapters are trained, beside frozen matrices.
[[nodiscard]] bool trains_adapters(const Strategy& strategy);

/// Their rank; 0 without any.
[[nodiscard]] double adapter_rank(const Strategy& strategy);

}  // namespace headway
