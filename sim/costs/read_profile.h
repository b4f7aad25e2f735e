#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sim/costs/profile.h"
#include "sim/files/input_files.h"

namespace headway {

struct ReadProfile {
  std::shared_ptr<const Profile> profile;
  JsonCursor cursor;
  std::string fingerprint;  ///< of what was read, overrides included; layout does not matter
};

/// Reads a "headway/profile/1" object or the file that `part` names. Problems go into the
/// diagnostics of `files`; a profile with an error among them is nothing.
[[nodiscard]] std::optional<ReadProfile> read_profile(const JsonCursor& part, InputFiles& files);

}  // namespace headway
