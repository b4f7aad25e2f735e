#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/replay/logged_job.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What a training log says of the speed of its steps.
struct LoggedSteps {
  enum class Unit { seconds_a_step, steps_a_second, samples_a_second, tokens_a_second };

  std::string format;  ///< "Megatron", the software whose lines these are
  Unit unit = Unit::seconds_a_step;
  std::int64_t lines = 0;  ///< that say it
  std::int64_t used = 0;   ///< of them: the first tenth warms up
  double median = 0.0;     ///< of those used, in `unit`; tokens are those of one accelerator
  std::vector<LoggedNumber> job = {};  ///< what else it tells
};

/// Reads a log of Megatron-LM, Megatron-DeepSpeed, NeMo, Megatron-Bridge, torchtitan, DeepSpeed or
/// Hugging Face, plain or gzipped, prefixes of hosts and ranks before its lines or not. Throws
/// InputError if it cannot be read, or says nothing of steps.
[[nodiscard]] LoggedSteps read_step_log(const std::string& path);

/// What a step of that scenario took. Throws InputError with everything that makes the log one of
/// another job.
[[nodiscard]] Seconds step_time(const LoggedSteps& steps, const Scenario& scenario);

}  // namespace headway
