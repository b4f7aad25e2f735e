#pragma once

#include <cstdint>
#include <string>

#include "sim/base/units.h"
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
};

/// Reads a log of Megatron-LM, Megatron-DeepSpeed, NeMo, Megatron-Bridge, torchtitan, DeepSpeed or
/// Hugging Face, plain or gzipped, prefixes of hosts and ranks before its lines or not. Throws
/// InputError if it cannot be read, or says nothing of steps.
[[nodiscard]] LoggedSteps read_step_log(const std::string& path);

/// What a step of that scenario took, if the log is of it.
[[nodiscard]] Seconds step_time(const LoggedSteps& steps, const Scenario& scenario);

}  // namespace headway
