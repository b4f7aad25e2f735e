#pragma once

#include <string>

namespace headway {

/// A profile that reads clean, with every optional part, on short lines.
inline std::string small_profile_text() {
  return R"({
  "schema": "headway/profile/1",
  "name": "small",
  "accelerator": "bench",
  "kind": "measured",
  "provenance": {"device": "bench 1", "command": "headway-calibrate"},
  "device": {
    "peak_flops_per_s": {
      "bf16": {"value": 1e14, "spread": 0.01, "source": "sheet"}
    },
    "memory_bytes": {"value": 8e10, "spread": 0, "source": "sheet"},
    "memory_bandwidth_bytes_per_s": {"value": 1e12, "spread": 0.01, "source": "sheet"},
    "multiprocessors": {"value": 108, "spread": 0, "source": "sheet"},
    "gemm_efficiency": {
      "bf16": {"value": 0.7, "spread": 0.03, "source": "bench"}
    },
    "gemm_inner_half": {"value": 200, "spread": 0.2, "source": "bench"},
    "gemm_quantisation": {"value": 0.6, "spread": 0.3, "source": "bench"},
    "gemm_overhead_s": {"value": 4e-6, "spread": 0.3, "source": "bench"},
    "gemm_table": {"source": "bench", "points": [
      {"precision": "bf16", "m": 1024, "n": 2048, "k": 4096, "time_s": 3e-4, "spread": 0.02},
      {"precision": "bf16", "m": 4096, "n": 2048, "k": 4096, "time_s": 1e-3, "spread": 0.02}
    ]},
    "cast_bytes_per_element": {"value": 5, "spread": 0.3, "source": "bench"}, "cast_bytes_by_recipe": {"fp8_current": {"value": 12, "spread": 0.3, "source": "bench"}, "mxfp8": {"value": 6, "spread": 0.3, "source": "bench"}},
    "attention_efficiency": {"value": 0.5, "spread": 0.1, "source": "bench"},
    "attention_backward": {"value": 0.8, "spread": 0.1, "source": "bench"},
    "attention_sequence_half": {"value": 200, "spread": 0.5, "source": "bench"},
    "attention_head_exponent": {"value": 0.2, "spread": 0.5, "source": "bench"},
    "attention_context_factor": {"value": 1.1, "spread": 0.1, "source": "bench"}, "attention_table": {"source": "bench", "points": [ {"pass": "forward", "sequences": 2, "length": 1024, "query_heads": 8, "key_heads": 2, "head_size": 128, "causal": true, "time_s": 1e-4, "spread": 0.02}, {"pass": "backward", "sequences": 2, "length": 1024, "query_heads": 8, "key_heads": 2, "head_size": 128, "causal": true, "time_s": 3e-4, "spread": 0.03} ]},
    "batched_gemm_efficiency": {"value": 0.5, "spread": 0.2, "source": "bench"},
    "misaligned_head_factor": {"value": 3, "spread": 0.5, "source": "bench"},
    "unfused_forward_bytes_per_score": {"value": 11, "spread": 0.2, "source": "bench"},
    "unfused_backward_bytes_per_score": {"value": 16, "spread": 0.2, "source": "bench"},
    "memory_efficiency": {"value": 0.8, "spread": 0.05, "source": "bench"},
    "memory_curve": {"source": "bench", "spread": 0.03, "points": [
      {"traffic_bytes": 1e6, "time_s": 4e-6},
      {"traffic_bytes": 1e9, "time_s": 1.2e-3}
    ]},
    "optimizer_bytes_per_parameter": {"value": 34, "spread": 0.1, "source": "bench"},
    "optimizer_curve": {"source": "bench", "spread": 0.03, "points": [
      {"weight_bytes": 1e6, "time_s": 1e-5}
    ]}
  },
  "kernel_families": {
    "fused": {
      "memory_traffic": {"value": 0.8, "spread": 0.2, "source": "bench"},
      "attention_rate": {"value": 1, "spread": 0, "source": "bench"},
      "launch_gap_s": {"value": 2e-6, "spread": 0.5, "source": "bench"},
      "loss_traffic": {"value": 1.5, "spread": 0.1, "source": "bench"},
      "gradient_traffic": {"value": 1.2, "spread": 0.1, "source": "bench"},
      "micro_batch_overhead_s": {"value": 6e-5, "spread": 0.1, "source": "bench"},
      "releases": {"bench-1.0": {"value": 1.1, "spread": 0.1, "source": "bench"}},
      "host_per_layer_s": {"value": 2e-4, "spread": 0.5, "source": "bench"},
      "step_overhead_s": {"value": 8e-3, "spread": 0.5, "source": "bench"}
    }
  },
  "scale_up": {
    "bandwidth_efficiency": {"value": 0.75, "spread": 0.1, "source": "bench"},
    "latency_s": {"value": 1e-6, "spread": 0.3, "source": "bench"},
    "overhead_s": {"value": 6e-6, "spread": 0.3, "source": "bench"},
    "collectives": [
      {"kind": "all_gather", "ranks": 8, "source": "bench", "spread": 0.02, "points": [
        {"message_bytes": 1e6, "time_s": 2e-5}, {"message_bytes": 1e9, "time_s": 2.6e-3}
      ]}
    ]
  },
  "scale_out": {
    "bandwidth_efficiency": {"value": 0.85, "spread": 0.1, "source": "bench"},
    "latency_s": {"value": 4e-6, "spread": 0.3, "source": "bench"},
    "overhead_s": {"value": 6e-6, "spread": 0.3, "source": "bench"}
  },
  "overlap": {
    "tensor_parallel_overlapped": {"value": 0.35, "spread": 0.3, "source": "bench"},
    "context_parallel_floor": {"value": 0.25, "spread": 0.3, "source": "bench"},
    "gradient_reduce_floor": {"value": 0.15, "spread": 0.3, "source": "bench"},
    "sharded_interference": {"value": 0.25, "spread": 0.5, "source": "bench"}
  },
  "variation": {
    "device_speed": {"value": 0.02, "spread": 0.3, "source": "bench"},
    "operation_time": {"value": 0.01, "spread": 0.3, "source": "bench"}
  }
}
)";
}

}  // namespace headway
