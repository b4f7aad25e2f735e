#include "sim/jobs/presets.h"

#include <array>

namespace headway {

std::span<const Preset> presets() {
  // Every field that is not named keeps the default of Strategy.
  static const std::array kPresets = {
      Preset{.name = "none", .strategy = {}, .source = "Headway's defaults"},
      Preset{.name = "megatron",
             .strategy = {.sequence_parallel = true,
                          .overlap_tensor_parallel_backward = true,
                          .sharding = Sharding::optimizer,
                          .gradient_bucket = 160_MB},
             .source = "Megatron-LM core_r0.9 and later with --use-distributed-optimizer and both "
                       "overlaps; buckets of 40 M fp32 gradients (DistributedDataParallelConfig)"},
      Preset{.name = "megatron-2021",
             .strategy = {.fused_attention = false,
                          .overlap_gradient_reduce = false,
                          .overlap_parameter_gather = false,
                          .precision = Precision::fp16},
             .source = "Narayanan et al. 2021 (arXiv:2104.04473): fp16, an fp32 all-reduce of the "
                       "gradients after the last backward pass"},
      Preset{.name = "megatron-2022",
             .strategy = {.sequence_parallel = true,
                          .overlap_tensor_parallel_backward = true,
                          .fused_attention = false,
                          .recompute = Recompute::selective,
                          .overlap_gradient_reduce = false,
                          .overlap_parameter_gather = false,
                          .precision = Precision::fp16},
             .source = "Korthikanti et al. 2022 (arXiv:2205.05198): sequence parallelism and "
                       "selective recomputation on top of the above"},
      Preset{.name = "pytorch-ddp",
             .strategy = {.fused_normalization = false,
                          .fused_activation = false,
                          .vocabulary_parallel_loss = false,
                          .gradient_bucket = 25_MiB},
             .source = "PyTorch DistributedDataParallel, eager: bucket_cap_mb = 25 (MiB)"},
      Preset{.name = "pytorch-fsdp",
             .strategy = {.fused_normalization = false,
                          .fused_activation = false,
                          .vocabulary_parallel_loss = false,
                          .sharding = Sharding::full},
             .source = "PyTorch fully_shard on each layer, eager, reduce_dtype fp32, as torchtitan "
                       "sets it (arXiv:2410.06511)"},
      Preset{.name = "pytorch-fsdp-grad-op",
             .strategy = {.fused_normalization = false,
                          .fused_activation = false,
                          .vocabulary_parallel_loss = false,
                          .sharding = Sharding::full,
                          .reshard_after_forward = false},
             .source = "PyTorch FSDP with ShardingStrategy.SHARD_GRAD_OP, or fully_shard with "
                       "reshard_after_forward=False; else as pytorch-fsdp"},
      Preset{.name = "deepspeed-zero-1",
             .strategy = {.fused_normalization = false,
                          .fused_activation = false,
                          .vocabulary_parallel_loss = false,
                          .sharding = Sharding::optimizer,
                          .overlap_gradient_reduce = false,
                          .overlap_parameter_gather = false,
                          .gradient_bucket = 1_GB,
                          .gradient_precision = Precision::bf16},
             .source = "DeepSpeed's zero_optimization defaults: overlap_comm false, "
                       "reduce_bucket_size 5e8 elements, in the training precision"},
      Preset{.name = "deepspeed-zero-2",
             .strategy = {.fused_normalization = false,
                          .fused_activation = false,
                          .vocabulary_parallel_loss = false,
                          .sharding = Sharding::gradients,
                          .overlap_gradient_reduce = false,
                          .overlap_parameter_gather = false,
                          .gradient_bucket = 1_GB,
                          .gradient_precision = Precision::bf16},
             .source = "as deepspeed-zero-1, with stage 2"},
      Preset{.name = "deepspeed-zero-3",
             .strategy = {.fused_normalization = false,
                          .fused_activation = false,
                          .vocabulary_parallel_loss = false,
                          .sharding = Sharding::full,
                          .gradient_precision = Precision::bf16},
             .source = "DeepSpeed's zero_optimization defaults for stage 3: overlap_comm true, "
                       "parameters prefetched"},
      Preset{.name = "gpipe",
             .strategy = {.schedule = PipelineSchedule::gpipe,
                          .fused_attention = false,
                          .recompute = Recompute::full,
                          .overlap_gradient_reduce = false,
                          .overlap_parameter_gather = false},
             .source =
                 "Huang et al. 2019 (arXiv:1811.06965): layers are re-materialised, gradients "
                 "applied after all micro-batches"},
  };
  return kPresets;
}

}  // namespace headway
