#pragma once

#include <string>

#include "sim/launch/reading/given_settings.h"

namespace headway {

/// What `accelerate config` writes, as the flags of `accelerate launch` that say the same
/// ("launch --fsdp_version"): a name and a value a line, those of an object indented. `file` and
/// `lines_before` say where the text stands.
[[nodiscard]] GivenSettings settings_of_accelerate(const std::string& file, const std::string& text,
                                                   int lines_before);
/// Whether it is one.
[[nodiscard]] bool is_accelerate_config(const std::string& text);

/// Those with the flags of a script, its launcher's and its Trainer's, in the words of the table:
/// what several words say in the same one, and what one of them brings along.
[[nodiscard]] GivenSettings accelerate_settings(const GivenSettings& config, const StartedJob& job);

/// Whether a setting is off, or no matter of speed or memory, or none that the model of it knows.
[[nodiscard]] bool is_no_matter_to_accelerate(const GivenSetting& setting);

}  // namespace headway
