#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/launch/reading/given_settings.h"

namespace headway {

/// Megatron-LM's flags of a model as a "headway/model/1" object: `megatron_model_flags` read
/// backwards, with its defaults (megatron/training/arguments.py, core_r0.13). `vocabulary` counts
/// where it is given, else the log's padded one, else the flag, else that of GPT-2's tokenizer.
/// What is missing or cannot be said is an error; `used` gains the flags that were understood.
[[nodiscard]] std::optional<nlohmann::json> megatron_model(const StartedJob& job,
                                                           const std::string& name,
                                                           std::optional<double> vocabulary,
                                                           std::set<std::string>& used,
                                                           Diagnostics& diagnostics);

/// Which layers have experts (1), of a --moe-layer-freq: a number, "([0]*3+[1]*58)", "[0]+[1]*26",
/// or the list that a log prints. Empty for a text that is none.
[[nodiscard]] std::vector<int> expert_layers(const std::string& frequency, int layers);

}  // namespace headway
