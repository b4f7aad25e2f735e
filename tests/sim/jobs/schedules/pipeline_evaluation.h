#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "sim/jobs/schedules/schedule.h"

namespace headway::testing {

/// What a step takes.
inline double time_of(const PassTimes& times, StepKind kind) {
  if (kind == StepKind::forward) return times.forward;
  if (kind == StepKind::backward) return times.backward;
  return kind == StepKind::weight_gradient ? times.weight : times.backward - times.weight;
}

/// When the last of `stages` equal stages is done if transfers take no time: each stage works off
/// its schedule in order, each pass waits for the one before it in the model. Negative if the
/// stages wait for one another for ever.
inline double makespan(const Schedule& schedule, const PipelineShape& shape, PassTimes times) {
  const int stages = shape.stages;
  const bool doubled = schedule.is_doubled();
  const int last = stages * shape.virtual_stages - 1;
  /// When passes were through: by copy of the model, position, micro-batch.
  using Pass = std::array<int, 3>;
  std::map<Pass, double> forward_done;
  std::map<Pass, double> backward_done;
  const auto done = [](const std::map<Pass, double>& table, const Pass& pass) {
    const auto found = table.find(pass);
    return found == table.end() ? std::optional<double>() : found->second;
  };

  std::vector<std::vector<ScheduleStep>> steps;
  for (int stage = 0; stage < stages; ++stage) {
    steps.push_back(stage_schedule(schedule, shape, stage));
  }
  std::vector<std::size_t> next(static_cast<std::size_t>(stages), 0);
  std::vector<double> free_at(static_cast<std::size_t>(stages), 0.0);
  const auto pass_of = [&](int stage, const ScheduleStep& step) {
    return Pass{doubled ? step.chunk : 0, chunk_position(schedule, stage, step.chunk, stages),
                step.micro_batch};
  };
  const auto ready = [&](int stage, const ScheduleStep& step) -> std::optional<double> {
    const Pass pass = pass_of(stage, step);
    const auto [copy, position, micro_batch] = pass;
    if (step.kind == StepKind::forward) {
      return position == 0 ? 0.0 : done(forward_done, {copy, position - 1, micro_batch});
    }
    if (step.kind == StepKind::weight_gradient) return done(backward_done, pass);
    return position == last ? done(forward_done, pass)
                            : done(backward_done, {copy, position + 1, micro_batch});
  };
  bool progress = true;
  while (progress) {
    progress = false;
    for (int stage = 0; stage < stages; ++stage) {
      const auto s = static_cast<std::size_t>(stage);
      while (next[s] < steps[s].size()) {
        const std::size_t count = steps[s][next[s]].merged ? 2 : 1;
        double start = free_at[s];
        double length = 0.0;
        bool waits = false;
        for (std::size_t i = 0; i < count; ++i) {
          const ScheduleStep& step = steps[s][next[s] + i];
          const std::optional<double> input = ready(stage, step);
          waits = waits || !input;
          start = std::max(start, input.value_or(0.0));
          length += time_of(times, step.kind);
        }
        if (waits) break;
        free_at[s] = start + length;
        for (std::size_t i = 0; i < count; ++i) {
          const ScheduleStep& step = steps[s][next[s] + i];
          auto& table = step.kind == StepKind::forward ? forward_done : backward_done;
          table.insert({pass_of(stage, step), free_at[s]});
        }
        next[s] += count;
        progress = true;
      }
    }
  }
  for (int stage = 0; stage < stages; ++stage) {
    const auto s = static_cast<std::size_t>(stage);
    if (next[s] < steps[s].size()) return -1.0;
  }
  return *std::max_element(free_at.begin(), free_at.end());
}

}  // namespace headway::testing
