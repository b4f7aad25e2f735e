#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "sim/base/input_files.h"
#include "sim/profile/profile.h"

namespace headway {

struct ReadProfile {
  std::shared_ptr<const Profile> profile;
  JsonCursor cursor;
  std::string fingerprint;  ///< of the file's content, for provenance
};

/// Reads a "headway/profile/1" object or the file that `part` names. Problems go into the
/// diagnostics of `files`.
[[nodiscard]] std::optional<ReadProfile> read_profile(const JsonCursor& part, InputFiles& files);

}  // namespace headway
