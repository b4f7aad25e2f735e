#pragma once

#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/programs/stage_costs/stage_cost.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"

namespace headway {

inline constexpr double kMi = 1024.0 * 1024.0;
inline constexpr double kGi = 1024.0 * kMi;
inline constexpr double kRate = 50e12;     // bf16, half of the peak
inline constexpr double kMemory = 0.5e12;  // half of the bandwidth

/// One sequence of 1,024 tokens through a layer of 8 heads of 128, MLP of 4,096, on a device whose
/// products take 2 m n k / 50 TFLOP/s and nothing more.
class StageCostTest : public testing::Test {
 protected:
  StageCostTest() {
    model = {.layers = 4,
             .hidden = 1024,
             .attention_heads = 8,
             .kv_heads = 8,
             .head_size = 128,
             .ffn_hidden = 4096,
             .vocabulary = 32768};
    strategy.sequence_length = 1024;
    profile.device.gemm_quantisation = estimate(0.0);
    profile.device.gemm_inner_half = estimate(0.0);
    profile.device.gemm_overhead = estimate(0.0);
  }

  [[nodiscard]] StageCost cost() const {
    return stage_cost(layers_of(model), strategy, profile, *cluster_of(cluster.text()));
  }

  TransformerModel model;
  Strategy strategy;
  Profile profile = round_profile();
  ClusterText cluster = {.nodes = 2, .accelerators = 8, .nics = 8};

  // Products, in Gi operations: 1,024 tokens x 1,024 x (3,072 + 1,024 + 4,096 + 4,096) x 2.
  const double linears = 24.0 * kGi / kRate;
  // 4 x 1,024^2 x 8 x 128 / 2 operations at 50 TFLOP/s / (1 + 1,024 / 1,024).
  const double attention = 2.0 * kGi / (kRate / 2.0);
  // Norms 20 x 1,024 and activation 4 x 4,096 bytes a token.
  const double streaming = (20.0 + 16.0) * kMi / kMemory;
};

}  // namespace headway
