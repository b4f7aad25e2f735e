#include "sim/launch/torchtitan_refusals.h"

namespace headway {
namespace {

constexpr const char* kDegrees = "parallelism.data_parallel_";

/// Splits layers over ranks, which only fully_shard goes with.
bool splits_layers(const TorchtitanSettings& job) { return job.tensor * job.pipeline > 1; }

constexpr RefusedSetting<TorchtitanSettings> kTorchtitanRefusals[] = {
    // "DDP has not supported > 1D parallelism"
    {kDegrees, "zero_stage", "tensor or pipeline parallelism",
     [](const TorchtitanSettings& job) {
       return !job.is_sharded && job.data > 1 && splits_layers(job);
     }},
    // Ranks that share a sequence are among those that share out parameters (dp_shard_cp).
    {kDegrees, "zero_stage", "context parallelism",
     [](const TorchtitanSettings& job) { return !job.is_sharded && job.context > 1; }},
    {kDegrees, "zero_stage", "expert parallelism",
     [](const TorchtitanSettings& job) { return !job.is_sharded && job.expert > 1; }},
    // "Currently we only support ETP=TP or ETP=1"
    {"parallelism.expert_tensor_parallel_degree", "expert_tensor_parallel",
     "another tensor_parallel",
     [](const TorchtitanSettings& job) {
       return job.expert > 1 && job.expert_tensor > 1 && job.expert_tensor != job.tensor;
     }},
    // Experts are shared out over all ranks that share sequences, those that share tensors unless
    // each expert is split over them, and over some that share out parameters.
    {"parallelism.expert_parallel_degree", "expert_parallel",
     "other degrees that it is no multiple of, or shards that it does not divide",
     [](const TorchtitanSettings& job) {
       const bool splits_experts = job.expert_tensor > 1 && job.expert_tensor == job.tensor;
       const std::int64_t within = job.context * (splits_experts ? 1 : job.tensor);
       const std::int64_t shards = job.is_sharded ? job.shards : job.data;
       return job.expert > 1 && (job.expert % within != 0 || shards * within % job.expert != 0);
     }},
    // "Mixed precision training with TP or PP is only supported when FSDP/HSDP/CP is enabled."
    {"training.mixed_precision_param", "precision", "tensor or pipeline parallelism alone",
     [](const TorchtitanSettings& job) {
       return job.is_in_few_bits && job.data * job.context == 1 && splits_layers(job);
     }},
};

}  // namespace

std::span<const RefusedSetting<TorchtitanSettings>> torchtitan_refusals() {
  return kTorchtitanRefusals;
}

bool torchtitan_starts(const TorchtitanSettings& settings) {
  return std::ranges::none_of(kTorchtitanRefusals,
                              [&](const RefusedSetting<TorchtitanSettings>& refusal) {
                                return refusal.is_refused(settings);
                              });
}

}  // namespace headway
