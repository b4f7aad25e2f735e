#pragma once

#include <map>
#include <string>

#include "sim/launch/reading/given_settings.h"

namespace headway {

/// The values of a configuration of DeepSpeed as settings "zero_optimization.stage". `file` and
/// `lines_before` say where the text stands. What is no JSON is an error with its place.
[[nodiscard]] GivenSettings settings_of_deepspeed(const std::string& file, const std::string& text,
                                                  int lines_before, Diagnostics& diagnostics);

/// Takes out what is left to the Trainer of Hugging Face ("auto"), and gives it what flags of its
/// command line say. What nobody says remains: its names, and where they stand.
[[nodiscard]] std::map<std::string, SourceLocation> settle_trainer(GivenSettings& settings,
                                                                   const GivenSettings& flags);

/// What DeepSpeed does unasked beside the rest (docs/_pages/config-json.md,
/// runtime/zero/config.py), and words of it that mean the same as those of the table.
void settle_deepspeed_words(GivenSettings& settings);

/// Whether a setting is off, or no matter of speed or memory, or none that the model of it knows.
[[nodiscard]] bool is_no_matter_to_deepspeed(const GivenSetting& setting);

}  // namespace headway
