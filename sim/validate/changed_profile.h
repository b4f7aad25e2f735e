#pragma once

#include <memory>
#include <string>

#include "sim/costs/profile.h"
#include "sim/files/json_value.h"

namespace headway {

/// A profile of the data folder with the numbers at some JSON pointers ({"/device/...": 0.7}) put
/// in the place of its own. Throws InputError if the profile has no such place.
[[nodiscard]] std::shared_ptr<const Profile> changed_profile(const std::string& name,
                                                             const JsonValue& changes);

}  // namespace headway
