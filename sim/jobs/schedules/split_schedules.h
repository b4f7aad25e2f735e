#pragma once

#include <vector>

#include "sim/jobs/schedules/schedule.h"

namespace headway {

// Schedules whose backward passes come in two parts; schedule.h says what they require.

/// Qi et al. 2023 (arXiv:2401.10241), section 2.2: no more activations than 1F1B holds at its first
/// stage. All stages equal, gradients of inputs no shorter than those of weights: the bubble is
/// (p-1) (forward + input gradient - weight gradient).
[[nodiscard]] std::vector<ScheduleStep> zb_h1_schedule(int stage, int stages, int micro_batches);

/// Qi et al. 2024 (arXiv:2405.15362), the V-shaped schedule without bubbles inside, as
/// torch.distributed.pipelining's ScheduleZBVZeroBubble runs it too. Three equal parts of a pass:
/// what is left is the (p-1) forward passes of a chunk before the last stage has work. (The authors
/// hide those behind the end of the step before, whose optimizer then does not wait for the whole
/// model's gradient norm; that is not modelled.)
[[nodiscard]] std::vector<ScheduleStep> zb_v_schedule(int stage, int stages, int micro_batches);

/// DeepSeek-V3 report, 2024 (arXiv:2412.19437), section 3.2.1 and figure 5. A forward and a
/// backward pass of opposite ends run merged. Gradients of inputs as long as forward passes, those
/// of weights no longer: the bubble is (p/2-1) (merged pair + backward - 3 weight gradient).
[[nodiscard]] std::vector<ScheduleStep> dual_pipe_schedule(int stage, int stages,
                                                           int micro_batches);

}  // namespace headway
