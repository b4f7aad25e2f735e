#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/launch/refusals.h"

namespace headway {

/// What of a job decides which of its settings torchtitan refuses.
struct TorchtitanSettings {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 1;  ///< ranks that split each expert
  std::int64_t shards = 1;         ///< its data_parallel_shard_degree, where parameters are sharded
  bool is_sharded = false;         ///< zero_stage 3
  bool is_in_few_bits = false;     ///< precision is of 16 bits or less
};

/// What torchtitan (0.2) asserts of the degrees in distributed/parallel_dims.py and raises where
/// models are split (models/*/infra/parallelize.py), and where it trains in 32 bits instead
/// (maybe_enable_amp of distributed/utils.py).
[[nodiscard]] std::span<const RefusedSetting<TorchtitanSettings>> torchtitan_refusals();

/// Whether it starts, and trains as it is told.
[[nodiscard]] bool torchtitan_starts(const TorchtitanSettings& settings);

}  // namespace headway
