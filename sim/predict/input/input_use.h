#pragma once

#include "sim/network/cluster.h"
#include "sim/predict/input/store_steps.h"
#include "sim/result/prediction.h"
#include "sim/scenario/read_input.h"

namespace headway {

struct Strategy;

/// What an accelerator takes in a step.
struct InputDemand {
  Bytes batch;
  Seconds compute;  ///< of a step that waits for nothing
};

/// The bytes a second with which so much of the time is spent computing; 0 < utilisation <= 1.
[[nodiscard]] BytesPerSecond demand_at(const InputDemand& demand, double utilisation);

/// What a step that would take `iteration` waits for its samples:
///
///   step = max(iteration, read, prepare), or where nothing is read ahead
///   step = iteration + max(read, prepare)
///   read = share read x max(batch x sample / storage, batch / samples of a file / files a second)
///   prepare = batch of an accelerator / (cores rate)
///
/// In the first epoch all is read; later what is not cached. Of a cache that nodes share, and each
/// holds a part of, that is 1 - cached / set; a node's own is that of page_cache.h, where the node
/// reads another random part of the set in every epoch. Where the store meets others on its way
/// (`meets_others`), steps that read are what `simulated` says.
[[nodiscard]] InputUse input_use(const InputSettings& settings, const Strategy& strategy,
                                 const Cluster& cluster, Seconds iteration,
                                 const std::optional<StoreSteps>& simulated = {});
/// What input does to the scenario's job split as `strategy`, simulated where that is needed.
[[nodiscard]] InputUse input_use(const Scenario& scenario, const Strategy& strategy,
                                 Seconds iteration, int jobs);

/// What steps take whose iterations would take `other`, by another draw or other software, where
/// one of `iteration` waits for its samples as `use` says: samples that are read ahead are there no
/// earlier for one that is faster; those that are not are read by each.
[[nodiscard]] Seconds step_of_other(const InputSettings& settings, const InputUse& use,
                                    Seconds iteration, Seconds other);

}  // namespace headway
