#pragma once

#include "sim/jobs/strategy.h"
#include "sim/network/cluster.h"
#include "sim/result/prediction.h"
#include "sim/scenario/read_input.h"

namespace headway {

/// What a step that would take `iteration` waits for its samples, with as much prefetched as helps:
///
///   step = max(iteration, read, prepare)
///   read = batch x sample x share read / storage,  prepare = batch of an accelerator / (cores
///   rate)
///
/// In the first epoch all is read; later what is not cached. Of a cache that nodes share, and each
/// holds a part of, that is 1 - cached / set; a node's own is that of page_cache.h, where the node
/// reads another random part of the set in every epoch.
[[nodiscard]] InputUse input_use(const InputSettings& settings, const Strategy& strategy,
                                 const Cluster& cluster, Seconds iteration);

}  // namespace headway
