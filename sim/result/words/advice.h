#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/result/prediction.h"

namespace headway {

/// "tp 2, pp 1, dp 32, global batch 512, sequence 8,192": how the job is split, and what it works
/// on.
[[nodiscard]] std::string work_text(const Prediction& prediction);

/// Whether the job was run: one that does not fit into memory mostly is not, and then there is
/// nothing to say of time and speed.
[[nodiscard]] bool was_simulated(const Prediction& prediction);

/// A cause and what it takes of the iteration.
struct TimeShare {
  Cause cause = Cause::compute;
  Seconds time;
  double share = 0.0;  ///< of the iteration
};

/// The causes that take more than 0.05 % of the iteration, longest first; equal ones in the order
/// of `Cause`.
[[nodiscard]] std::vector<TimeShare> largest_shares(const Prediction& prediction);

/// Whether the breakdown is that of the average worker, for none waits for all others.
[[nodiscard]] bool is_of_workers(const Prediction& prediction);

/// What a cause consists of, in a few words for beside its number; empty where the title says it.
[[nodiscard]] std::string_view cause_remark(Cause cause, const Prediction& prediction);

/// The answer in one sentence, to stand last: where the largest gain is left and what would bring
/// it, or, if the job does not fit into memory, by how much and what would make it fit.
[[nodiscard]] std::string closing_sentence(const Prediction& prediction);

/// "stage 3", or "every rank" where there is no pipeline.
[[nodiscard]] std::string fullest_place(const MemoryPrediction& memory);

/// "1.5 TiB of 1.8 TiB in a node's own memory": what the job offloads; empty where it does not.
[[nodiscard]] std::string host_memory_text(const MemoryPrediction& memory);

/// What the fullest stage holds; nothing if no stage is known.
[[nodiscard]] StageMemory fullest_memory(const MemoryPrediction& memory);

}  // namespace headway
