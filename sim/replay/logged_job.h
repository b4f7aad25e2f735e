#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/import/line_reader.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// A number of the job that a training log is of: a degree, a batch, a size of the model.
struct LoggedNumber {
  std::string_view name;     ///< as the log has it: "global_batch_size"
  std::string_view pointer;  ///< what of a scenario says the same
  std::int64_t value = 0;
  SourceLocation location;  ///< of the last line that tells it
  double slack = 0.0;       ///< share by which it may be another number in the scenario
};

/// Adds what the line that was read last tells of the job, in the words of Megatron-LM: the list of
/// its arguments, and the batch beside every step; or of Hugging Face's Trainer: its batches, or
/// how many samples it took for a step. What later lines tell replaces it, as batches grow, but by
/// nothing less exact.
void note_numbers(std::string_view line, const LineReader& reader,
                  std::vector<LoggedNumber>& numbers);

/// Reports each number that is another one in the scenario.
void check_same_job(const std::vector<LoggedNumber>& numbers, const Scenario& scenario,
                    Diagnostics& diagnostics);

}  // namespace headway
