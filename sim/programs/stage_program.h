#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "sim/layers/model.h"
#include "sim/programs/flows/collective_price.h"
#include "sim/programs/stage_costs/stage_cost.h"
#include "sim/programs/workload.h"

namespace headway {

struct Strategy;

/// Indices into RankGroup::paths that stage programs use.
inline constexpr std::int32_t kPathToNext = 0;
inline constexpr std::int32_t kPathToPrevious = 1;

// What stage programs call the communicators that they join.
inline constexpr std::string_view kGradientReduce = "gradient reduce";
inline constexpr std::string_view kParameterGather = "parameter gather";
/// What compressed parts of the gradients are put together by.
inline constexpr std::string_view kCompressedGather = "compressed gather";
inline constexpr std::string_view kTiedEmbedding = "tied embedding";
/// Between copies of the sharded parameters.
inline constexpr std::string_view kReplicaReduce = "gradient reduce between copies";
/// Reduces the gradients of routed experts, over their own replicas.
inline constexpr std::string_view kExpertReduce = "expert gradient reduce";
inline constexpr std::string_view kExpertGather = "expert parameter gather";
/// The same of the second chunk, where it is of another copy of the model than the first
/// (DualPipe); empty of communicators that there are once.
[[nodiscard]] constexpr std::string_view of_other_copy(std::string_view communicator) {
  if (communicator == kGradientReduce) return "other gradient reduce";
  if (communicator == kParameterGather) return "other parameter gather";
  if (communicator == kExpertReduce) return "other expert gradient reduce";
  if (communicator == kExpertGather) return "other expert parameter gather";
  return {};
}

/// Whether gradients or what they update travel so, between ranks that share the states out.
[[nodiscard]] constexpr bool is_of_updates(std::string_view communicator) {
  return communicator == kGradientReduce || communicator == kParameterGather ||
         communicator == kCompressedGather || communicator == kReplicaReduce ||
         communicator == kExpertReduce || communicator == kExpertGather;
}

/// All that decides what a stage does, beside its number.
struct JobShape {
  const Model* model = nullptr;
  const Strategy* strategy = nullptr;
  StageCost cost;
  std::vector<int> layers_of_chunk;  ///< whole model, first to last chunk
  /// What each collective that programs join costs, by its name.
  std::map<std::string_view, PricedCollective> prices;
  /// Share of gradient and parameter traffic that is seen although it could overlap: it competes
  /// with compute for the device's memory and multiprocessors.
  double never_hidden = 0.0;
  /// Fully sharded: by what share of the shorter one compute and transfers slow each other down
  /// while both run, and how long the transfers take alone.
  double interference = 0.0;
  /// How many times as long as its bytes take the exchange of gradients and parameters is under
  /// way: its flows have so many times the bytes that are sent.
  double gradient_traffic = 1.0;
  double memory_seconds_per_byte = 0.0;          ///< of what streams through a device's memory
  double optimizer_seconds_per_parameter = 0.0;  ///< of those a rank updates
  double end_seconds_per_parameter = 0.0;        ///< of those of them in the embedding and the head
  double norm_seconds_per_parameter = 0.0;       ///< of those a rank holds
  /// The costs whose passes tell when gradients leave by time (gradient_cycle): replicas cut them
  /// alike, even where they are not equally fast. nullptr: `cost`.
  const StageCost* cutting = nullptr;
};

/// The program of pipeline stage `stage`: for plain, ZeRO-1, ZeRO-2 and pipelined jobs. Fully
/// sharded parameters of a stage are gathered once a step and stay, and their gradients are reduced
/// and scattered with the last micro-batch.
[[nodiscard]] Program pipeline_program(const JobShape& job, int stage);

/// The program of every rank of a job whose parameters are sharded (ZeRO-3 / FSDP), without
/// pipeline: each layer is gathered before it is used, one layer ahead, and its gradient reduced
/// and scattered as soon as it is there (Zhao et al. 2023, PyTorch FSDP, section 3.3). Where the
/// parameters stay for the backward pass (reshard_after_forward off) they are gathered once a
/// micro-batch. Copies of the parameters (shard_group) sum up their parts of a layer's gradient as
/// soon as the next layer's is reduced. Routed experts are gathered and reduced likewise, but among
/// the ranks that hold the same ones. With per_parameter_sharding a layer waits for copies before
/// and behind it, too.
///
/// Compute and transfers that run at the same time slow each other down: a block with a gather or a
/// reduction under way takes `interference` of the shorter of the two longer.
[[nodiscard]] Program sharded_program(const JobShape& job);

}  // namespace headway
