#pragma once

#include <nlohmann/json.hpp>

#include "sim/result/prediction.h"

namespace headway {

/// An answer as `simulate` gives it, with round numbers: 5.51 + 0.61 + 0.45 + 0.25 + 0.07 + 0.05 =
/// 6.94 seconds.
inline Prediction sample_prediction() {
  Prediction p;
  p.question = {.model = "gpt3-175b",
                .cluster = "rail-400g",
                .node_type = "HGX H200",
                .nodes = 128,
                .accelerators = 1024,
                .strategy = "tp 8, pp 8, dp 16, global batch 1536, 1F1B",
                .profile = "h200-sxm (measured)",
                .scenario = nlohmann::json({{"schema", "headway/scenario/1"}, {"model", {{"layers", 96}}}}),
                .provenance = nlohmann::json({{"command_line", "headway simulate gpt3.json"},
                               {"headway", "0.1.0"},
                               {"files",
                                {{{"path", "gpt3.json"}, {"fingerprint", "0123456789abcdef"}},
                                 {{"path", "h200.json"}, {"fingerprint", "fedcba9876543210"}}}}})};
  p.iteration_time = 6.94_s;
  p.iteration_interval = {6.70, 7.22};
  p.confidence = {.software = {"fused", false, 214, 9},
                  .accelerator = {"h200-sxm", true, 31, 4},
                  .with_measured_step = {6.8, 7.1},
                  .job_kind = "dense pre-training", .model_error = 0.109, .kernel_spread = 0.02};
  p.replicas = 9;
  p.replica_time = {.mean = 6.95, .low = 6.9, .median = 6.94, .high = 7.0};
  p.micro_batches = 96;
  p.samples_per_second = 221.3;
  p.tokens_per_second = 453.2e3;
  p.tokens_per_second_per_accelerator = 442.6;
  p.model_flops_per_second_per_accelerator = 465e12;
  p.mfu = 0.47;
  p.mfu_whole_square = 0.481;
  p.hfu = 0.512;
  p.scaling = {.accelerators = 64,
               .iteration_time = 6.46_s,
               .efficiency = 0.931,
               .description = "data_parallel 1"};
  p.breakdown[Cause::compute] = 5.51_s;
  p.breakdown[Cause::tensor_parallel] = 0.61_s;
  p.breakdown[Cause::pipeline_bubble] = 0.45_s;
  p.breakdown[Cause::data_parallel_exposed] = 0.25_s;
  p.breakdown[Cause::optimizer] = 0.07_s;
  p.breakdown[Cause::other] = 0.05_s;
  p.critical_rank = "stage 7, replica 3";
  p.critical_path = {
      {"stage 0, replica 3", "forward", 0.0_s, 0.2_s, 1},
      {"stage 0, replica 3", "transfer from stage 0", 0.2_s, 0.3_s, 1},
      {"stage 1, replica 3", "forward", 0.3_s, 0.5_s, 1},
      {"stage 1, replica 3", "transfer from stage 1", 0.5_s, 0.65_s, 1},
      {"stage 7, replica 3", "backward", 0.65_s, 6.5_s, 96},
      {"stage 7, replica 3", "gradient reduce, stage 7", 6.5_s, 6.87_s, 4},
      {"stage 7, replica 3", "optimizer", 6.87_s, 6.94_s, 1},
  };
  p.memory.stages.assign(2, {.parameters = 5_GiB,
                             .gradients = 10_GiB,
                             .optimizer = 2_GiB,
                             .activations = 9_GiB,
                             .buffers = 3_GiB});
  p.memory.stages[0].activations = 12_GiB;
  p.memory.capacity = 128_GiB;
  p.busiest_links = {{"leaf-3", "spine-1", 50.0_GBps, 173.5_GB, 0.5},
                     {"node-7/nic-2", "leaf-3", 50.0_GBps, 86.75_GB, 0.25}};
  p.not_modelled = {"expert parallelism", "checkpoints"};
  p.counts = {
      .events = 123456, .flows = 40000, .settlings = 60000, .recomputed = 90000, .changed = 50000};
  return p;
}

}  // namespace headway
