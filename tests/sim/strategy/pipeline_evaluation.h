#pragma once

#include <algorithm>
#include <vector>

#include "sim/strategy/schedule.h"

namespace headway::testing {

struct PassTimes {
  double forward = 1.0;  ///< of one micro-batch through one chunk
  double backward = 1.0;
};

/// When the last of `stages` equal stages is done if transfers take no time: each stage works off
/// its schedule in order, each pass waits for the one before it in the model. Negative if the
/// stages wait for one another for ever.
inline double makespan(PipelineSchedule schedule, int stages, int virtual_stages, int micro_batches,
                       PassTimes times) {
  constexpr double kNotDone = -1.0;
  const int chunks = stages * virtual_stages;
  const auto table = [&] {
    return std::vector<std::vector<double>>(
        static_cast<std::size_t>(chunks),
        std::vector<double>(static_cast<std::size_t>(micro_batches), kNotDone));
  };
  auto forward_done = table();
  auto backward_done = table();
  const auto at = [](auto& done, int chunk, int micro_batch) -> double& {
    return done[static_cast<std::size_t>(chunk)][static_cast<std::size_t>(micro_batch)];
  };

  std::vector<std::vector<ScheduleStep>> steps;
  for (int stage = 0; stage < stages; ++stage) {
    steps.push_back(stage_schedule(schedule, stage, stages, virtual_stages, micro_batches));
  }
  std::vector<std::size_t> next(static_cast<std::size_t>(stages), 0);
  std::vector<double> free_at(static_cast<std::size_t>(stages), 0.0);
  bool progress = true;
  while (progress) {
    progress = false;
    for (int stage = 0; stage < stages; ++stage) {
      const auto s = static_cast<std::size_t>(stage);
      while (next[s] < steps[s].size()) {
        const ScheduleStep& step = steps[s][next[s]];
        const int block = step.chunk * stages + stage;
        double ready = 0.0;
        if (!step.backward && block > 0) ready = at(forward_done, block - 1, step.micro_batch);
        if (step.backward) {
          ready = block + 1 < chunks ? at(backward_done, block + 1, step.micro_batch)
                                     : at(forward_done, block, step.micro_batch);
        }
        if (ready == kNotDone) break;
        free_at[s] = std::max(free_at[s], ready) + (step.backward ? times.backward : times.forward);
        at(step.backward ? backward_done : forward_done, block, step.micro_batch) = free_at[s];
        ++next[s];
        progress = true;
      }
    }
  }
  for (int stage = 0; stage < stages; ++stage) {
    const auto s = static_cast<std::size_t>(stage);
    if (next[s] < steps[s].size()) return kNotDone;
  }
  return *std::max_element(free_at.begin(), free_at.end());
}

}  // namespace headway::testing
