#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/launch/reading/given_settings.h"

namespace headway {

/// Settings of any release of torchtitan ("training.batch_size") by their names in 0.2
/// (torchtitan/config/job_config.py), with what its defaults and converters bring along. `flags` of
/// a command line ("--training.local-batch-size") count before those of the file.
[[nodiscard]] GivenSettings torchtitan_settings(const GivenSettings& file,
                                                const GivenSettings& flags);

/// A list, which may be one text with commas.
[[nodiscard]] std::vector<std::string> members_of(const GivenSetting& setting);

/// Whether a setting is off, says what is so anyway, or is no matter of speed or memory, or
/// none that the model of it knows.
[[nodiscard]] bool is_no_matter_to_torchtitan(const GivenSetting& setting);

/// The model of the library that [model] name and flavor stand for; empty for another one.
[[nodiscard]] std::string torchtitan_model(std::string_view name, std::string_view flavor);
/// Flavors of that name in the library: "8B, 70B, 405B"; empty for a name that it does not have.
[[nodiscard]] std::string torchtitan_flavors(std::string_view name);

}  // namespace headway
