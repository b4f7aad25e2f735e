#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/files/json_value.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// Another value of a field, and what an iteration would take with it.
struct OpenValue {
  JsonValue value;
  Seconds time;
};

/// A field of the strategy that a scenario leaves to its software, and what it may mean.
struct OpenChoice {
  std::string field;              ///< "recompute"
  JsonValue taken;                ///< by the preset, or by default
  std::vector<OpenValue> others;  ///< those that move an iteration by 2 % or more, fastest first
};

struct OpenChoices {
  Seconds time;                     ///< as the scenario stands
  std::vector<OpenChoice> choices;  ///< what moves it most first
};

/// What a scenario does not say and is most of its answer: every word of each field that software
/// decides (and twice the micro-batch, and two virtual stages) where the scenario has none, one at
/// a time, in closed form. What does not read or fit is left out. Throws InputError for a scenario
/// with problems. No choices for a job by parameter servers, which has no closed form. Costs a
/// reading of the scenario a word.
[[nodiscard]] OpenChoices open_choices(const std::string& path, const ScenarioOptions& options);

/// Of a mixture of experts, whose speed software decides more than sizes do: which words the
/// scenario leaves to it and the range that others there span, as a sentence. Nothing for other
/// models, where nothing is left open, or where `path` is standard input, which was read already.
[[nodiscard]] std::optional<std::string> mixture_warning(const Scenario& scenario,
                                                         const std::string& path,
                                                         const ScenarioOptions& options);

/// Which of the choices make the job about `ratio` times as long, so that they may be why it was
/// measured to be: those that leave at most half of that difference, the nearest first, as a
/// sentence. Nothing where none does.
[[nodiscard]] std::optional<std::string> choices_sentence(const OpenChoices& open, double ratio);

}  // namespace headway
