#pragma once

#include <set>
#include <string>

#include "sim/launch/reading/given_settings.h"

namespace headway {

/// Warns of each setting that was said and not used, unless it is no matter.
void tell_unread(const GivenSettings& settings, const std::set<std::string>& used,
                 bool (*is_no_matter)(const GivenSetting& setting), Diagnostics& diagnostics);

}  // namespace headway
